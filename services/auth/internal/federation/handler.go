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
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// lockIssuer is a lock on an issuer, across tenants.
const lockIssuer advisory.Lock = "issuer"

// Deps are the dependencies of the handler.
type Deps struct {
	Pool  *pg.Pool
	Clock clock.Clock
	Log   *slog.Logger
	// Issuer is the issuer of this server's own tokens. Providers cannot use it.
	Issuer string
	// Permissions are all permissions of the contracts.
	Permissions []string
}

// Handler serves IdentityProviderService, and identifies users by tokens of identity providers.
type Handler struct {
	authv1.UnsafeIdentityProviderServiceServer
	Deps
	cfg  Config
	keys *keySets
}

// New returns a Handler. It makes no requests.
func New(cfg Config, deps Deps) (*Handler, error) {
	client, err := cfg.client()
	if err != nil {
		return nil, err
	}
	return &Handler{cfg: cfg, Deps: deps, keys: newKeySets(cfg, client, deps.Clock)}, nil
}

// ListIdentityProviders returns the providers of the caller's tenant.
func (h *Handler) ListIdentityProviders(ctx context.Context, _ *authv1.ListIdentityProvidersRequest) (*authv1.IdentityProviderList, error) {
	found, err := tenantProviders(ctx, h.Pool, 0)
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
	if req.GetId() < 1 {
		return nil, notFound()
	}
	found, err := tenantProviders(ctx, h.Pool, req.GetId())
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
		stored, err := insert(ctx, tx, p, h.Clock.Now())
		if err == nil && !stored {
			err = fault.Conflict(fault.CodeConflict, "The tenant has the largest permitted number of identity providers. Delete one first.")
		}
		audit.Object(ctx, p.id)
		return err
	})
}

// UpdateIdentityProvider replaces a provider.
func (h *Handler) UpdateIdentityProvider(ctx context.Context, req *authv1.UpdateIdentityProviderRequest) (*authv1.IdentityProvider, error) {
	return h.write(ctx, req.GetProvider(), func(ctx context.Context, tx pgx.Tx, p *provider) error {
		p.id = req.GetId()
		found, err := update(ctx, tx, p, h.Clock.Now())
		if err == nil && !found {
			err = notFound()
		}
		return err
	})
}

// DeleteIdentityProvider removes a provider.
func (h *Handler) DeleteIdentityProvider(ctx context.Context, req *authv1.DeleteIdentityProviderRequest) (*emptypb.Empty, error) {
	if err := h.requireAllPermissions(ctx); err != nil {
		return nil, err
	}
	err := pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := remove(ctx, tx, req.GetId())
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

// write validates a provider from a request and stores it by calling store.
func (h *Handler) write(ctx context.Context, req *authv1.IdentityProvider, store func(context.Context, pgx.Tx, *provider) error) (*authv1.IdentityProvider, error) {
	if err := h.requireAllPermissions(ctx); err != nil {
		return nil, err
	}
	p, err := h.read(req)
	if err != nil {
		return nil, err
	}
	if p.issuer == h.Issuer {
		return nil, invalid("issuer is the issuer of this server's own tokens. Use the provider's issuer.")
	}
	if err := profile.RefuseUnknown(ctx, h.Pool, p.profileNames...); err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := h.refuseForeignIssuer(ctx, tx, p.issuer); err != nil {
			return err
		}
		return store(ctx, tx, p)
	})
	if pgerr.IsUnique(err, "identity_provider_issuer") {
		return nil, fault.Conflict(fault.CodeConflict, "An identity provider with this issuer and audience exists already. Update it instead.").WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	return p.response(), rpc.SetVersion(ctx, p.version)
}

// refuseForeignIssuer refuses an issuer that another tenant uses. Otherwise a tenant could register that issuer
// with a second audience, and tokens with both audiences would become ambiguous. Operators configure the
// issuers that several tenants share.
func (h *Handler) refuseForeignIssuer(ctx context.Context, tx pgx.Tx, issuer string) error {
	if slices.Contains(h.cfg.SharedIssuers, issuer) {
		return nil
	}
	// If two tenants register the issuer at the same time, the second one sees the first.
	if err := lockIssuer.WaitText(ctx, tx, issuer); err != nil {
		return fmt.Errorf("lock issuer: %w", err)
	}
	taken, err := foreignIssuer(ctx, tx, issuer)
	if err != nil {
		return err
	}
	if taken {
		return fault.Conflict(fault.CodeConflict, "Another tenant has an identity provider with this issuer. An operator can share the issuer between tenants (--federation-shared-issuers).")
	}
	return nil
}

// requireAllPermissions refuses callers who may not do everything, because with a provider of their own they
// could impersonate any user.
func (h *Handler) requireAllPermissions(ctx context.Context) error {
	if _, ok := authn.From(ctx); !ok {
		return authn.Missing()
	}
	bounds, err := profile.CallerBounds(ctx, h.Pool, h.Permissions)
	if err != nil {
		return err
	}
	if refused := bounds.RefuseEverything("Identity providers control all log-ins. Only users whose access profile and token permit everything may change them."); refused != nil {
		return refused
	}
	return nil
}

func notFound() *fault.Error {
	return fault.NotFound(fault.CodeNotFound, "There is no identity provider with this id.")
}
