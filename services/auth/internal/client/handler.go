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

// Deps are the dependencies of the handler.
type Deps struct {
	Pool    *pg.Pool
	Clock   clock.Clock
	Revoked *revoked.Store
	Scopes  *scopes.Catalog
	// Permissions are all permissions of the contracts.
	Permissions []string
}

// Handler serves ClientService. It relies on interceptors that put the tenant into the context.
type Handler struct {
	authv1.UnsafeClientServiceServer
	Deps
}

// New returns a Handler.
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
	s, err := findOne(ctx, h.Pool, req.GetClientId(), "")
	if err != nil {
		return nil, err
	}
	return s.response(""), rpc.SetVersion(ctx, s.Version)
}

// CreateClient adds a client. Neither the client's own access nor its tokens may permit more than the caller's
// token.
func (h *Handler) CreateClient(ctx context.Context, req *authv1.Client) (*authv1.Client, error) {
	id := req.GetClientId()
	if id == "" {
		id = rand.Text()
	}
	s, err := read(id, req, h.Scopes)
	if err != nil {
		return nil, err
	}
	if err := profile.RefuseUnknown(ctx, h.Pool, s.Profile); err != nil {
		return nil, err
	}
	if err := h.refuseExceeding(ctx, s); err != nil {
		return nil, err
	}
	secret, hash := newSecret()
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		stored, err := insert(ctx, tx, &s, hash)
		if err == nil && !stored {
			err = fault.Conflict(fault.CodeConflict, fmt.Sprintf("A client with this id exists, or the tenant has %d clients already. Choose another id or delete a client.", maxClients))
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
		return nil, fault.Invalid(fault.CodeBadRequest, "clientId differs from the id in the path. Clients cannot be renamed.")
	}
	s, err := read(req.GetClientId(), sent, h.Scopes)
	if err != nil {
		return nil, err
	}
	if err := h.change(ctx, s.ID, &s, func(ctx context.Context, tx pgx.Tx, before settings) error {
		if revokesAccess(before, s, h.Scopes) {
			if err := revoked.Client(ctx, tx, s.ID, h.Clock.Now()); err != nil {
				return err
			}
		} else if before.ClientGrant && (!s.ClientGrant || s.Profile != before.Profile) {
			if err := revoked.ClientWork(ctx, tx, s.ID, h.Clock.Now()); err != nil {
				return err
			}
		}
		s.Version = before.Version + 1
		return update(ctx, tx, s)
	}); err != nil {
		return nil, err
	}
	return s.response(""), rpc.SetVersion(ctx, s.Version)
}

// DeleteClient removes a client and revokes the tokens that users got through it. Callers cannot delete the
// client that they use.
func (h *Handler) DeleteClient(ctx context.Context, req *authv1.DeleteClientRequest) (*emptypb.Empty, error) {
	if caller, ok := authn.From(ctx); ok && caller.Client == req.GetClientId() {
		return nil, fault.Conflict(fault.CodeConflict, "You are logged in with this client. Use another client to delete it.")
	}
	err := h.change(ctx, req.GetClientId(), nil, func(ctx context.Context, tx pgx.Tx, before settings) error {
		if err := revoked.Client(ctx, tx, before.ID, h.Clock.Now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM client WHERE tenant_id = $1 AND client_id = $2`, tenant.Of(ctx), before.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// RotateClientSecret gives a client a new secret, and revokes the client's own tokens from the old secret.
func (h *Handler) RotateClientSecret(ctx context.Context, req *authv1.RotateClientSecretRequest) (*authv1.Client, error) {
	secret, hash := newSecret()
	var s settings
	err := h.change(ctx, req.GetClientId(), nil, func(ctx context.Context, tx pgx.Tx, before settings) error {
		s = before
		s.Version++
		if err := revoked.ClientWork(ctx, tx, s.ID, h.Clock.Now()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE client SET secret_hash = $3, version = version + 1 WHERE tenant_id = $1 AND client_id = $2`, tenant.Of(ctx), s.ID, hash)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.response(secret), rpc.SetVersion(ctx, s.Version)
}

// change locks a client and runs do on its current settings. It requires that neither the current settings nor
// the new ones (becomes) permit more than the caller's token.
func (h *Handler) change(ctx context.Context, id string, becomes *settings, do func(context.Context, pgx.Tx, settings) error) error {
	before, err := findOne(ctx, h.Pool, id, "")
	if err != nil {
		return err
	}
	checked := []settings{before}
	if becomes != nil {
		checked = append(checked, *becomes)
		if becomes.Profile != before.Profile {
			if err := profile.RefuseUnknown(ctx, h.Pool, becomes.Profile); err != nil {
				return err
			}
		}
	}
	if err := h.refuseExceeding(ctx, checked...); err != nil {
		return err
	}
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		now, err := findOne(ctx, tx, id, "FOR UPDATE")
		if err != nil {
			return err
		}
		if now.Profile != before.Profile || !slices.Equal(now.Scopes, before.Scopes) {
			return fault.Conflict(fault.CodeConflict, "The client was changed at the same time. Try again.")
		}
		if err := precondition.Check(ctx, "client "+id, now.Version); err != nil {
			return err
		}
		return do(ctx, tx, now)
	})
	if err == nil {
		h.Revoked.WakePublisher()
	}
	return err
}

// refuseExceeding refuses clients whose profile or scopes permit more than the caller may do.
func (h *Handler) refuseExceeding(ctx context.Context, clients ...settings) error {
	bounds, err := profile.CallerBounds(ctx, h.Pool, h.Permissions)
	if err != nil {
		return err
	}
	for _, s := range clients {
		p, err := profile.Find(ctx, h.Pool, s.Profile)
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

// newSecret returns a new secret and its hash for storage. The secret is long and random, so SHA-256 suffices.
func newSecret() (string, []byte) {
	secret := rand.Text() + rand.Text()
	hash := sha256.Sum256([]byte(secret))
	return secret, hash[:]
}
