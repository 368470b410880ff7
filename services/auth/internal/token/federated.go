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

// exchangedLife is how long services cache the result for a token of an identity provider. It is also the
// longest delay until a change of the user, the profile or the provider takes effect.
const exchangedLife = time.Minute

// errUnknownUser reports that a provider's token is valid, but its user is unknown or locked.
var errUnknownUser = errors.New("the token's user is unknown or may not log in")

// ResolveFederatedToken returns an access token of this server for a token of an identity provider.
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
	return h.signExchanged(ctx, who, u)
}

// signExchanged signs the token of this server that replaces a provider's token.
func (h *Handler) signExchanged(ctx context.Context, who *federation.Identified, u *user) (string, error) {
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

// providerClient returns a placeholder for the unknown client that a provider's token was issued to.
func providerClient(who *federation.Identified) *client {
	return &client{tenantID: who.Tenant, id: "idp-" + strconv.FormatInt(who.Provider, 10)}
}

// federatedUser returns the user of a provider's token, with the profile from the token or else the user's own.
// It returns nil if there is no such user, or the user is locked.
func (h *Handler) federatedUser(ctx context.Context, who *federation.Identified) (*user, error) {
	u, err := findIdentifiedUser(ctx, h.Pool, who)
	if err != nil || u == nil || u.lockedOut {
		return nil, err
	}
	locked, err := h.LoginLimit.Locked(ctx, u.name)
	if err != nil || locked {
		return nil, err
	}
	if disabled, err := tenantDisabled(ctx, h.Pool, who.Tenant); err != nil || disabled {
		return nil, err
	}
	if who.Profile != "" {
		u.profile, err = profile.Find(ctx, h.Pool, who.Profile)
	}
	return u, err
}

// findIdentifiedUser returns the user that a provider's token names, or nil. A person number that two users
// share identifies no user.
func findIdentifiedUser(ctx context.Context, db pg.Querier, who *federation.Identified) (*user, error) {
	if !who.ByPersonNumber {
		return findUser(ctx, db, names.Clean(who.Name))
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

// revokeFederated revokes a token of an identity provider. It returns false if the token is not acceptable.
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
	return true, h.Revoked.Token(ctx, h.revocationEvent(c, "", who.ID), who.ID, who.End)
}
