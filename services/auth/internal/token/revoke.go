package token

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// RevokeToken revokes an access token, or a refresh token and the access tokens of its family (RFC 7009).
// Revoking an unknown or expired token succeeds.
func (h *Handler) RevokeToken(ctx context.Context, req *authv1.RevokeTokenRequest) (*authv1.RevokeTokenResponse, error) {
	err := checkFields([]field{
		{"token", req.GetToken()}, {"client_id", req.GetClientId()}, {"client_secret", req.GetClientSecret()},
	})
	if err != nil {
		return nil, err
	}
	ctx, c, err := h.client(ctx, req.GetClientId(), req.GetClientSecret())
	if err == nil {
		err = h.revoke(ctx, c, req)
	}
	if err != nil {
		return nil, h.countDenial(ctx, c, err)
	}
	return &authv1.RevokeTokenResponse{}, nil
}

// revoke revokes a token that was issued to a client.
func (h *Handler) revoke(ctx context.Context, c *client, req *authv1.RevokeTokenRequest) error {
	p, err := h.Verifier.Verify(ctx, req.GetToken())
	switch {
	case err == nil && (p.Tenant != c.tenantID || p.Client != c.id):
		return notOwned()
	case err == nil:
		return h.Revoked.Token(ctx, h.revocationEvent(c, p.Subject, p.JTI), p.JTI, p.Expiry)
	case fault.HasStatus(err, http.StatusUnauthorized):
		return h.revokeOther(ctx, c, req.GetToken())
	}
	return err
}

// revokeOther revokes a token that is not an access token of this server: a token of an identity provider,
// which any client of the tenant may revoke, or a refresh token.
func (h *Handler) revokeOther(ctx context.Context, c *client, token string) error {
	if authn.UnverifiedIssuer(token) != "" {
		if done, err := h.revokeFederated(ctx, c, token); done || err != nil {
			return err
		}
	}
	return h.revokeRefreshToken(ctx, c, token)
}

func (h *Handler) revokeRefreshToken(ctx context.Context, c *client, token string) error {
	hash := sha256.Sum256([]byte(token))
	var owner, sid, userName string
	err := h.Pool.QueryRow(ctx, `SELECT f.client_id, f.sid, u.username FROM token_family f
		JOIN app_user u ON u.tenant_id = f.tenant_id AND u.id = f.user_id
		WHERE f.tenant_id = $1 AND f.refresh_hash = $2`, c.tenantID, hash[:]).Scan(&owner, &sid, &userName)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("find token family: %w", err)
	case owner != c.id:
		return notOwned()
	}
	return h.Revoked.Family(ctx, h.revocationEvent(c, userName, sid), hash[:])
}

// client authenticates the client of a request. It returns the client and a context with the tenant of the host
// name.
func (h *Handler) client(ctx context.Context, id, secret string) (context.Context, *client, error) {
	tenantID, err := h.requestTenant(ctx)
	if err != nil {
		return ctx, nil, err
	}
	ctx = tenant.With(ctx, tenantID)
	c, err := authenticateClient(ctx, h.Pool, id, secret)
	if err != nil || c != nil {
		return ctx, c, err
	}
	if err := h.LoginLimit.RecordClientFailure(ctx, callerAddress(ctx)); err != nil {
		return ctx, nil, err
	}
	return ctx, nil, invalidClient()
}
