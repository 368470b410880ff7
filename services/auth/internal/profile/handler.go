package profile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

// Handler serves AccessProfileService. It relies on interceptors that put the tenant into the context.
type Handler struct {
	authv1.UnsafeAccessProfileServiceServer
	pool    *pg.Pool
	clock   clock.Clock
	revoked *revoked.Store
	// permissions and actions are all permissions and actions of the contracts.
	permissions, actions []string
}

// NewHandler returns a Handler.
func NewHandler(pool *pg.Pool, clk clock.Clock, store *revoked.Store, permissions, actions []string) *Handler {
	return &Handler{pool: pool, clock: clk, revoked: store, permissions: permissions, actions: actions}
}

// ListAccessProfiles returns the tenant's profiles by name.
func (h *Handler) ListAccessProfiles(ctx context.Context, _ *authv1.ListAccessProfilesRequest) (*authv1.AccessProfileList, error) {
	tenantID := tenant.Of(ctx)
	found, err := query(ctx, h.pool, `WHERE tenant_id = $1 ORDER BY name`, tenantID)
	if err != nil {
		return nil, err
	}
	out := &authv1.AccessProfileList{}
	for _, p := range found {
		out.AccessProfiles = append(out.AccessProfiles, p.response())
	}
	return out, nil
}

// GetAccessProfile returns one profile.
func (h *Handler) GetAccessProfile(ctx context.Context, req *authv1.GetAccessProfileRequest) (*authv1.AccessProfile, error) {
	p, err := findOne(ctx, h.pool, req.GetName(), "")
	if err != nil {
		return nil, err
	}
	return p.response(), rpc.SetVersion(ctx, p.Version)
}

// findOne returns the profile with a name, or 404.
func findOne(ctx context.Context, db pg.Querier, name, lock string) (Profile, error) {
	found, err := query(ctx, db, `WHERE tenant_id = $1 AND name = $2 `+lock, tenant.Of(ctx), name)
	if err != nil {
		return Profile{}, err
	}
	if len(found) == 0 {
		return Profile{}, fault.NotFound(fault.CodeNotFound, "There is no access profile with this name.")
	}
	return found[0], nil
}

// CreateAccessProfile adds a profile. It cannot permit more than the caller may do.
func (h *Handler) CreateAccessProfile(ctx context.Context, req *authv1.AccessProfile) (*authv1.AccessProfile, error) {
	p, err := read(req.GetName(), req, h.permissions, h.actions)
	if err != nil {
		return nil, err
	}
	bounds, err := CallerBounds(ctx, h.pool, h.permissions)
	if err != nil {
		return nil, err
	}
	if refused := bounds.Refuse(p); refused != nil {
		return nil, refused
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := refuseLookalike(ctx, tx, p.Name); err != nil {
			return err
		}
		return insert(ctx, tx, &p)
	})
	if err != nil {
		return nil, err
	}
	return p.response(), rpc.SetVersion(ctx, p.Version)
}

// creation serializes the creation of profiles, because each new name is compared with the existing ones.
const creation advisory.Lock = "creation of access profiles"

// refuseLookalike refuses a profile whose name differs from an existing one only in case, white space, or
// letters that look alike.
func refuseLookalike(ctx context.Context, tx pgx.Tx, name string) error {
	if err := creation.Wait(ctx, tx); err != nil {
		return err
	}
	all, err := query(ctx, tx, `WHERE tenant_id = $1`, tenant.Of(ctx))
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.Name != name && names.Skeleton(other.Name) == names.Skeleton(name) {
			return fault.Conflict(fault.CodeConflict, fmt.Sprintf("The name looks like that of the access profile %q. Choose another one.", other.Name))
		}
	}
	return nil
}

// insert stores a new profile and sets its version.
func insert(ctx context.Context, db pg.Querier, p *Profile) error {
	err := db.QueryRow(ctx, `INSERT INTO access_profile (tenant_id, name, permissions, row_scope, own_record_actions)
		SELECT $1, $2, $3, $4, $6 WHERE (SELECT count(*) FROM access_profile WHERE tenant_id = $1) < $5
		ON CONFLICT DO NOTHING RETURNING version`, tenant.Of(ctx), p.Name, p.Grants, p.Rows, maxProfiles, p.OwnActions).Scan(&p.Version)
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.Conflict(fault.CodeConflict, fmt.Sprintf("An access profile with this name exists, or the tenant has %d access profiles already. Choose another name or delete a profile.", maxProfiles))
	}
	if err != nil {
		return fmt.Errorf("store access profile: %w", err)
	}
	return nil
}

// UpdateAccessProfile replaces the permissions of a profile. The caller must have the permissions of the old
// and of the new profile.
func (h *Handler) UpdateAccessProfile(ctx context.Context, req *authv1.UpdateAccessProfileRequest) (*authv1.AccessProfile, error) {
	sent := req.GetAccessProfile()
	if sent.GetName() != "" && sent.GetName() != req.GetName() {
		return nil, fault.Invalid(fault.CodeBadRequest, "name differs from the name in the path. Access profiles cannot be renamed.")
	}
	p, err := read(req.GetName(), sent, h.permissions, h.actions)
	if err != nil {
		return nil, err
	}
	err = h.change(ctx, p.Name, func(ctx context.Context, tx pgx.Tx, before Profile, bounds Bounds) error {
		if slices.Contains(immutableProfiles, p.Name) {
			return fault.Conflict(fault.CodeConflict, "This access profile always permits everything. Create another one.")
		}
		if refused := bounds.Refuse(p); refused != nil {
			return refused
		}
		if refused := bounds.RefuseOwnActions(before, p); refused != nil {
			return refused
		}
		if revokesAccess(before, p) {
			if err := revoked.Profile(ctx, tx, p.Name, h.clock.Now()); err != nil {
				return err
			}
		}
		p.Version = before.Version + 1
		_, err := tx.Exec(ctx, `UPDATE access_profile SET permissions = $3, row_scope = $4, own_record_actions = $5, version = version + 1
			WHERE tenant_id = $1 AND name = $2`, tenant.Of(ctx), p.Name, p.Grants, p.Rows, p.OwnActions)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.response(), rpc.SetVersion(ctx, p.Version)
}

// DeleteAccessProfile removes an unused profile.
func (h *Handler) DeleteAccessProfile(ctx context.Context, req *authv1.DeleteAccessProfileRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	err := h.change(ctx, req.GetName(), func(ctx context.Context, tx pgx.Tx, p Profile, _ Bounds) error {
		if slices.Contains(builtInProfiles, p.Name) {
			return fault.Conflict(fault.CodeConflict, "Every tenant has this access profile. It cannot be deleted.")
		}
		var used bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM app_user WHERE tenant_id = $1 AND access_profile = $2)
			OR EXISTS (SELECT FROM client WHERE tenant_id = $1 AND access_profile = $2)
			OR EXISTS (SELECT FROM identity_provider WHERE tenant_id = $1 AND $2 = ANY(profile_names))`, tenantID, p.Name).Scan(&used)
		if err != nil {
			return fmt.Errorf("look for users of an access profile: %w", err)
		}
		if used {
			return fault.Conflict(fault.CodeConflict, "Users, clients or identity providers have this access profile. Give them another one first.")
		}
		_, err = tx.Exec(ctx, `DELETE FROM access_profile WHERE tenant_id = $1 AND name = $2`, tenantID, p.Name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// change locks a profile that the caller may change, and runs do on it.
func (h *Handler) change(ctx context.Context, name string, do func(context.Context, pgx.Tx, Profile, Bounds) error) error {
	bounds, err := CallerBounds(ctx, h.pool, h.permissions)
	if err != nil {
		return err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		before, err := findOne(ctx, tx, name, "FOR UPDATE")
		if err != nil {
			return err
		}
		if refused := bounds.Refuse(before); refused != nil {
			return refused
		}
		if err := precondition.Check(ctx, fmt.Sprintf("access profile %q", name), before.Version); err != nil {
			return err
		}
		return do(ctx, tx, before, bounds)
	})
	if err == nil {
		h.revoked.WakePublisher()
	}
	return err
}
