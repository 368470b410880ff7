package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

// exchangedLife is how long others take our word for a token of an identity
// provider: the longest time for which a change of the user, of their profile
// or of the provider goes unnoticed.
const exchangedLife = time.Minute

// errUnknownUser says that a provider's token is good, and that we do not know whom
// it means, or do not let them in.
var errUnknownUser = errors.New("the token names no user who may log in")

// ResolveFederatedToken returns an access token of our own for a token of an
// identity provider.
func (h *Handler) ResolveFederatedToken(ctx context.Context, req *authv1.ResolveFederatedTokenRequest) (*authv1.ResolveFederatedTokenResponse, error) {
	token, err := h.Exchange(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	return &authv1.ResolveFederatedTokenResponse{AccessToken: token}, nil
}

// Exchange is the authn.Exchange of the auth service.
func (h *Handler) Exchange(ctx context.Context, token string) (string, error) {
	who, err := h.Federation.Identify(ctx, token)
	if err != nil {
		return "", err
	}
	ctx = tenant.With(ctx, who.Tenant)
	u, err := h.federatedUser(ctx, who)
	if err != nil {
		return "", err
	}
	if err := h.auditExchange(ctx, who, u); err != nil {
		return "", err
	}
	if u == nil {
		return "", fault.Unauthenticated(fault.CodeUnauthenticated, "The token is not accepted.").WithCause(errUnknownUser)
	}
	return h.exchanged(ctx, who, u)
}

// exchanged signs the token that stands for a provider's token.
func (h *Handler) exchanged(ctx context.Context, who *federation.Identified, u *user) (string, error) {
	signer, err := h.Keys.Signer(ctx)
	if err != nil {
		return "", err
	}
	now := h.Clock.Now()
	claims := h.claims(providerClient(who), u.name, now)
	if until := now.Add(exchangedLife); until.Before(who.End) {
		who.End = until
	}
	claims.Expiry = jwt.NewNumericDate(who.End)
	claims.Audience, claims.ID = jwt.Audience{h.cfg.Audience}, who.ID
	claims.PersonID, claims.SID = u.personID, revoked.FederatedSID(u.id)
	permit(&claims, u.profile, h.Scopes.Of(nil))
	return claims.Sign(signer)
}

// providerClient stands for the client that a provider's token was issued to, of
// which we know nothing.
func providerClient(who *federation.Identified) *client {
	return &client{tenantID: who.Tenant, id: "idp-" + strconv.FormatInt(who.Provider, 10)}
}

// federatedUser returns the user whom a provider's token means, with what the
// token or else their profile grants; nil when there is none, or they are
// locked.
func (h *Handler) federatedUser(ctx context.Context, who *federation.Identified) (*user, error) {
	u, err := findIdentifiedUser(ctx, h.Pool, who)
	if err != nil || u == nil || u.lockedOut {
		return nil, err
	}
	locked, err := h.LoginLimit.Locked(ctx, who.Tenant, u.name)
	if err != nil || locked {
		return nil, err
	}
	if disabled, err := tenantDisabled(ctx, h.Pool, who.Tenant); err != nil || disabled {
		return nil, err
	}
	if who.Profile != "" {
		u.profile, err = profile.Named(ctx, h.Pool, who.Tenant, who.Profile)
	}
	return u, err
}

// findIdentifiedUser returns the user whom a provider's token names, or nil. A number
// that two users have names nobody.
func findIdentifiedUser(ctx context.Context, db pg.Querier, who *federation.Identified) (*user, error) {
	if !who.ByPersonNumber {
		return userNamed(ctx, db, who.Tenant, names.Clean(who.Name))
	}
	rows, err := db.Query(ctx, selectUser+` WHERE u.tenant_id = $1 AND u.person_number = $2 AND u.person_number <> '' LIMIT 2`, who.Tenant, names.Clean(who.Name))
	if err != nil {
		return nil, fmt.Errorf("find user: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*user, error) { return scanUser(row) })
	if err != nil || len(found) != 1 {
		return nil, err
	}
	return found[0], nil
}

// revokeFederated ends a token of an identity provider. It returns false when
// the token is none that would be accepted.
func (h *Handler) revokeFederated(ctx context.Context, c *client, token string) (bool, error) {
	who, err := h.Federation.Identify(ctx, token)
	switch {
	case fault.HasStatus(err, http.StatusUnauthorized):
		return false, nil
	case err != nil:
		return false, err
	case who.Tenant != c.tenantID:
		return false, notOwned()
	}
	return true, h.Revoked.Token(ctx, h.revocationOf(c, "", who.ID), who.ID, who.End)
}
