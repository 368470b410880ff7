package federation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// lockIssuer has issuers as members, which tenants share.
const lockIssuer advisory.Lock = "issuer"

// Deps are what federation needs of others.
type Deps struct {
	Pool  *pg.Pool
	Clock clock.Clock
	Log   *slog.Logger
	// Issuer of our own tokens, which no provider may have.
	Issuer string
	// Permissions are all that the contracts name.
	Permissions []string
}

// Handler serves IdentityProviderService, and identifies users by the tokens of
// providers.
type Handler struct {
	authv1.UnsafeIdentityProviderServiceServer
	Deps
	cfg  Config
	keys *keySets
}

// New makes a Handler. It fetches nothing.
func New(cfg Config, deps Deps) (*Handler, error) {
	client, err := cfg.client()
	if err != nil {
		return nil, err
	}
	return &Handler{cfg: cfg, Deps: deps, keys: newKeySets(cfg, client, deps.Clock)}, nil
}

// ListIdentityProviders returns the providers of the caller's tenant.
func (h *Handler) ListIdentityProviders(ctx context.Context, _ *authv1.ListIdentityProvidersRequest) (*authv1.IdentityProviderList, error) {
	tenantID := tenant.Of(ctx)
	found, err := ofTenant(ctx, h.Pool, tenantID, 0)
	if err != nil {
		return nil, err
	}
	out := &authv1.IdentityProviderList{}
	for _, p := range found {
		out.Providers = append(out.Providers, p.response())
	}
	return out, nil
}

// GetIdentityProvider returns one provider.
func (h *Handler) GetIdentityProvider(ctx context.Context, req *authv1.GetIdentityProviderRequest) (*authv1.IdentityProvider, error) {
	tenantID := tenant.Of(ctx)
	if req.GetId() < 1 {
		return nil, notFound()
	}
	found, err := ofTenant(ctx, h.Pool, tenantID, req.GetId())
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, notFound()
	}
	return found[0].response(), rpc.SetVersion(ctx, found[0].version)
}

// CreateIdentityProvider adds a provider to the caller's tenant.
func (h *Handler) CreateIdentityProvider(ctx context.Context, req *authv1.IdentityProvider) (*authv1.IdentityProvider, error) {
	return h.write(ctx, req, func(ctx context.Context, tx pgx.Tx, p *provider) error {
		tenantID := tenant.Of(ctx)
		stored, err := insert(ctx, tx, tenantID, p, h.Clock.Now())
		if err == nil && !stored {
			err = fault.Conflict(fault.CodeConflict, "The tenant has as many identity providers as it may have. Delete one first.")
		}
		audit.Object(ctx, p.id)
		return err
	})
}

// UpdateIdentityProvider replaces a provider.
func (h *Handler) UpdateIdentityProvider(ctx context.Context, req *authv1.UpdateIdentityProviderRequest) (*authv1.IdentityProvider, error) {
	return h.write(ctx, req.GetProvider(), func(ctx context.Context, tx pgx.Tx, p *provider) error {
		tenantID := tenant.Of(ctx)
		p.id = req.GetId()
		found, err := update(ctx, tx, tenantID, p, h.Clock.Now())
		if err == nil && !found {
			err = notFound()
		}
		return err
	})
}

// DeleteIdentityProvider removes a provider.
func (h *Handler) DeleteIdentityProvider(ctx context.Context, req *authv1.DeleteIdentityProviderRequest) (*emptypb.Empty, error) {
	if err := h.refuseLesser(ctx); err != nil {
		return nil, err
	}
	err := pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		tenantID := tenant.Of(ctx)
		found, err := remove(ctx, tx, tenantID, req.GetId())
		if err == nil && !found {
			err = notFound()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// write stores what a request describes, by store.
func (h *Handler) write(ctx context.Context, req *authv1.IdentityProvider, store func(context.Context, pgx.Tx, *provider) error) (*authv1.IdentityProvider, error) {
	tenantID := tenant.Of(ctx)
	if err := h.refuseLesser(ctx); err != nil {
		return nil, err
	}
	p, err := h.read(req)
	if err != nil {
		return nil, err
	}
	if p.issuer == h.Issuer {
		return nil, invalid("issuer is that of this server's own tokens.")
	}
	if err := profile.RefuseUnknown(ctx, h.Pool, tenantID, p.profileNames...); err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := h.refuseForeignIssuer(ctx, tx, p.issuer); err != nil {
			return err
		}
		return store(ctx, tx, p)
	})
	if pgerr.IsUnique(err, "identity_provider_issuer") {
		return nil, fault.Conflict(fault.CodeConflict, "There is an identity provider with this issuer and audience already.").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	return p.response(), rpc.SetVersion(ctx, p.version)
}

// refuseForeignIssuer refuses an issuer that another tenant has: whoever names it with
// a second audience could make tokens mean nobody, those with both. Operators name the
// issuers that serve several tenants.
func (h *Handler) refuseForeignIssuer(ctx context.Context, tx pgx.Tx, issuer string) error {
	tenantID := tenant.Of(ctx)
	if slices.Contains(h.cfg.SharedIssuers, issuer) {
		return nil
	}
	// Of two tenants that name it at the same time the second one sees the first.
	if err := lockIssuer.WaitText(ctx, tx, issuer); err != nil {
		return fmt.Errorf("lock issuer: %w", err)
	}
	taken, err := foreignIssuer(ctx, tx, tenantID, issuer)
	if err != nil {
		return err
	}
	if taken {
		return fault.Conflict(fault.CodeConflict, "Another tenant has an identity provider with this issuer. An operator can allow it to several (--federation-shared-issuers).")
	}
	return nil
}

// refuseLesser refuses callers who may not do everything: by a provider of their
// own they could be anybody.
func (h *Handler) refuseLesser(ctx context.Context) error {
	if _, ok := authn.From(ctx); !ok {
		return authn.Missing()
	}
	bounds, err := profile.BoundsOf(ctx, h.Pool, h.Permissions)
	if err != nil {
		return err
	}
	if refused := bounds.RefuseEverything("Identity providers decide who anybody is, so only somebody whose access profile and token permit everything may change them."); refused != nil {
		return refused
	}
	return nil
}

func notFound() *fault.Error {
	return fault.NotFound(fault.CodeNotFound, "There is no identity provider with this id.")
}
