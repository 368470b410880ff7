package client

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/scopes"
)

// Deps are what clients need of others.
type Deps struct {
	Pool    *pg.Pool
	Clock   clock.Clock
	Revoked *revoked.Store
	Scopes  *scopes.Catalog
	// Permissions are all that the contracts name.
	Permissions []string
}

// Handler serves ClientService. The interceptors in front of it see to it that
// the context has a tenant.
type Handler struct {
	authv1.UnsafeClientServiceServer
	Deps
}

// New makes a Handler.
func New(deps Deps) *Handler { return &Handler{Deps: deps} }

// ListClients returns the tenant's clients by id, without their secrets.
func (h *Handler) ListClients(ctx context.Context, _ *authv1.ListClientsRequest) (*authv1.ClientList, error) {
	tenantID := tenant.Of(ctx)
	found, err := find(ctx, h.Pool, `WHERE tenant_id = $1 ORDER BY client_id`, tenantID)
	if err != nil {
		return nil, err
	}
	out := &authv1.ClientList{}
	for _, s := range found {
		out.Clients = append(out.Clients, s.response(""))
	}
	return out, nil
}

// GetClient returns one client, without its secret.
func (h *Handler) GetClient(ctx context.Context, req *authv1.GetClientRequest) (*authv1.Client, error) {
	tenantID := tenant.Of(ctx)
	s, err := one(ctx, h.Pool, tenantID, req.GetClientId(), "")
	if err != nil {
		return nil, err
	}
	return s.response(""), rpc.SetVersion(ctx, s.Version)
}

// CreateClient adds a client, whose own work, and whose tokens, may do no more than the
// caller's token.
func (h *Handler) CreateClient(ctx context.Context, req *authv1.Client) (*authv1.Client, error) {
	tenantID := tenant.Of(ctx)
	id := req.GetClientId()
	if id == "" {
		id = rand.Text()
	}
	s, err := read(id, req, h.Scopes)
	if err != nil {
		return nil, err
	}
	if err := profile.RefuseUnknown(ctx, h.Pool, tenantID, s.Profile); err != nil {
		return nil, err
	}
	if err := h.refuseExceeding(ctx, tenantID, s); err != nil {
		return nil, err
	}
	secret, hash := newSecret()
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		stored, err := insert(ctx, tx, tenantID, &s, hash)
		if err == nil && !stored {
			err = fault.Conflict(fault.CodeConflict, fmt.Sprintf("There is a client with this id, or there are already %d.", maxClients))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.response(secret), rpc.SetVersion(ctx, s.Version)
}

// UpdateClient replaces the settings of a client.
func (h *Handler) UpdateClient(ctx context.Context, req *authv1.UpdateClientRequest) (*authv1.Client, error) {
	sent := req.GetClient()
	if sent.GetClientId() != "" && sent.GetClientId() != req.GetClientId() {
		return nil, fault.Invalid(fault.CodeBadRequest, "clientId is not the one in the path. Clients are not renamed.")
	}
	s, err := read(req.GetClientId(), sent, h.Scopes)
	if err != nil {
		return nil, err
	}
	if err := h.change(ctx, s.ID, &s, func(ctx context.Context, tx pgx.Tx, tenantID int64, before settings) error {
		if revokesAccess(before, s, h.Scopes) {
			if err := revoked.Client(ctx, tx, tenantID, s.ID, h.Clock.Now()); err != nil {
				return err
			}
		} else if before.ClientGrant && (!s.ClientGrant || s.Profile != before.Profile) {
			if err := revoked.ClientWork(ctx, tx, tenantID, s.ID, h.Clock.Now()); err != nil {
				return err
			}
		}
		s.Version = before.Version + 1
		return update(ctx, tx, tenantID, s)
	}); err != nil {
		return nil, err
	}
	return s.response(""), rpc.SetVersion(ctx, s.Version)
}

// DeleteClient removes a client and ends the tokens that users got by it. Nobody
// deletes the one that they use.
func (h *Handler) DeleteClient(ctx context.Context, req *authv1.DeleteClientRequest) (*emptypb.Empty, error) {
	if caller, ok := authn.From(ctx); ok && caller.Client == req.GetClientId() {
		return nil, fault.Conflict(fault.CodeConflict, "You are logged in by this client. Use another one to delete it.")
	}
	err := h.change(ctx, req.GetClientId(), nil, func(ctx context.Context, tx pgx.Tx, tenantID int64, before settings) error {
		if err := revoked.Client(ctx, tx, tenantID, before.ID, h.Clock.Now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM client WHERE tenant_id = $1 AND client_id = $2`, tenantID, before.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// RotateClientSecret gives a client a new secret, and ends the tokens that it got
// for its own work by the old one.
func (h *Handler) RotateClientSecret(ctx context.Context, req *authv1.RotateClientSecretRequest) (*authv1.Client, error) {
	secret, hash := newSecret()
	var s settings
	err := h.change(ctx, req.GetClientId(), nil, func(ctx context.Context, tx pgx.Tx, tenantID int64, before settings) error {
		s = before
		s.Version++
		if err := revoked.ClientWork(ctx, tx, tenantID, s.ID, h.Clock.Now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE client SET secret_hash = $3, version = version + 1 WHERE tenant_id = $1 AND client_id = $2`, tenantID, s.ID, hash)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.response(secret), rpc.SetVersion(ctx, s.Version)
}

// change runs do on a client as it is now, provided that its own work and its tokens may
// do no more than the caller's token, neither as it is nor as it becomes.
func (h *Handler) change(ctx context.Context, id string, becomes *settings, do func(context.Context, pgx.Tx, int64, settings) error) error {
	tenantID := tenant.Of(ctx)
	before, err := one(ctx, h.Pool, tenantID, id, "")
	if err != nil {
		return err
	}
	concerned := []settings{before}
	if becomes != nil {
		concerned = append(concerned, *becomes)
		if becomes.Profile != before.Profile {
			if err := profile.RefuseUnknown(ctx, h.Pool, tenantID, becomes.Profile); err != nil {
				return err
			}
		}
	}
	if err := h.refuseExceeding(ctx, tenantID, concerned...); err != nil {
		return err
	}
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		now, err := one(ctx, tx, tenantID, id, "FOR UPDATE")
		if err != nil {
			return err
		}
		if now.Profile != before.Profile || !slices.Equal(now.Scopes, before.Scopes) {
			return fault.Conflict(fault.CodeConflict, "The client was changed at the same time. Try again.")
		}
		if err := precondition.Check(ctx, "client "+id, now.Version); err != nil {
			return err
		}
		return do(ctx, tx, tenantID, now)
	})
	if err == nil {
		h.Revoked.Published()
	}
	return err
}

// refuseExceeding refuses clients that permit more than the caller may do, by their
// profile or their scopes.
func (h *Handler) refuseExceeding(ctx context.Context, tenantID int64, clients ...settings) error {
	bounds, err := profile.BoundsOf(ctx, h.Pool, h.Permissions)
	if err != nil {
		return err
	}
	for _, s := range clients {
		p, err := profile.Named(ctx, h.Pool, tenantID, s.Profile)
		if err != nil {
			return err
		}
		if refused := bounds.Refuse(p); refused != nil {
			return refused
		}
		if refused := bounds.RefuseScopes(h.Scopes.Patterns(s.Scopes)); refused != nil {
			return refused
		}
	}
	return nil
}

// newSecret makes a secret, and what is stored of it. It is long and random, so
// SHA-256 is enough.
func newSecret() (string, []byte) {
	secret := rand.Text() + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	return secret, hash[:]
}
