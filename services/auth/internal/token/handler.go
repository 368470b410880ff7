package token

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/directory"
	"github.com/rotaloom/rotaloom/services/auth/internal/federation"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/scopes"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
)

const (
	// refreshLife is how long a refresh token is valid.
	refreshLife = 7 * 24 * time.Hour
	sweepEvery  = 10 * time.Minute
	sweepBatch  = 10000
	// maxRepeats is how often a log-in is repeated because its data changed while it ran.
	maxRepeats = 2
	// hostHeader contains the host name by which the caller addressed the edge.
	hostHeader = "x-forwarded-host"
)

// Config of tokens.
type Config struct {
	// Issuer and Audience of access tokens.
	Issuer, Audience string
	// Life of an access token.
	Life time.Duration
	// PublicURL is the address of the edge for clients. If it is empty, the host name of each request is used,
	// if it belongs to a tenant.
	PublicURL string
	// ClientCredentials enables this grant for the clients that may use it.
	ClientCredentials bool
	// DefaultAuthChain is the chain of requests without one. If it is empty, such requests are refused.
	DefaultAuthChain string
}

// grants returns the names of the enabled grants.
func (c Config) grants() []string {
	if c.ClientCredentials {
		return []string{grantPassword, grantRefresh, grantClient}
	}
	return []string{grantPassword, grantRefresh}
}

// Deps are the dependencies of the handler.
type Deps struct {
	Pool   *pg.Pool
	Keys   *signing.Keys
	Hasher *password.Hasher
	Log    *slog.Logger
	Clock  clock.Clock
	// Scopes interprets scopes.
	Scopes *scopes.Catalog
	// Verifier recognizes tokens of this server, revoked or not.
	Verifier   *authn.Verifier
	Revoked    *revoked.Store
	LoginLimit *loginlimit.Limiter
	// Directory is nil if none is configured.
	Directory *directory.Directory
	// Federation identifies the users of identity-provider tokens.
	Federation *federation.Handler
}

// Handler serves TokenService and FederationService.
type Handler struct {
	authv1.UnsafeTokenServiceServer
	authv1.UnsafeFederationServiceServer
	cfg Config
	Deps
	// hosts caches the tenants of host names.
	hosts     *cache.Cache[string, hostTenant]
	refreshes refreshes
	// seen caches the identity-provider tokens that are in the audit log already.
	seen *cache.Cache[string, struct{}]
	rows budget
}

// New returns a Handler.
func New(cfg Config, deps Deps) *Handler {
	return &Handler{
		cfg: cfg, Deps: deps,
		hosts: cache.New[string](deps.Clock, cache.Config[hostTenant]{Entries: maxHosts}),
		seen:  cache.New[string](deps.Clock, cache.Config[struct{}]{Entries: maxSeen}),
	}
}

// IssueToken returns tokens for a password, a refresh token or client credentials. Its errors follow RFC 6749.
func (h *Handler) IssueToken(ctx context.Context, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	if err := h.cfg.check(req); err != nil {
		return nil, err
	}
	if err := h.refuseOtherTenant(ctx, req.GetTenant()); err != nil {
		return nil, h.recordDenial(ctx, req, err)
	}
	response, err := h.issueByGrant(ctx, req)
	for range maxRepeats {
		if !errors.Is(err, errOutdated) {
			break
		}
		response, err = h.issueByGrant(ctx, req)
	}
	if errors.Is(err, errOutdated) {
		err = fault.Unavailable("The user's or client's settings changed during the log-in. Try again.", time.Second).WithCause(err).WithOAuth("temporarily_unavailable")
	}
	if err != nil {
		err = h.recordDenial(ctx, req, err)
	}
	return response, err
}

func (h *Handler) issueByGrant(ctx context.Context, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	if req.GetGrantType() == grantRefresh {
		if response, err := h.refresh(ctx, req); response != nil || err != nil {
			return response, err
		}
	}
	ctx, c, err := h.client(ctx, req.GetClientId(), req.GetClientSecret())
	switch {
	case err != nil:
		return nil, err
	case !c.may(req.GetGrantType()):
		return nil, unauthorizedClient()
	case req.GetGrantType() == grantPassword:
		return h.issueByPassword(ctx, c, req)
	case req.GetGrantType() == grantClient:
		return h.issueToClient(ctx, c, req)
	}
	return nil, invalidGrant()
}

func (h *Handler) issueByPassword(ctx context.Context, c *client, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	granted, ok := h.Scopes.Of(c.scopes).Restrict(req.GetScope())
	if !ok {
		return nil, invalidScope()
	}
	u, err := h.authenticateUser(ctx, req.GetUsername(), req.GetPassword())
	if err != nil {
		return nil, err
	}
	now := h.Clock.Now()
	refresh := rand.Text() + rand.Text()
	f := family{sid: rand.Text(), expiresAt: now.Add(refreshLife), accessUntil: now.Add(h.cfg.Life), scope: req.GetScope()}
	response, err := h.issue(ctx, c, u, f, granted, now, req.GetNonce())
	if err != nil {
		return nil, err
	}
	if err := insertFamily(ctx, h.Pool, h.loginEvent(c, u, f.sid), c, u, refresh, f, now); err != nil {
		return nil, err
	}
	response.RefreshToken = refresh
	return response, nil
}

// issueToClient returns an access token for the client's own work. There is no refresh token, because the
// client can ask again, and no id token, because there is no user.
func (h *Handler) issueToClient(ctx context.Context, c *client, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	granted, ok := h.Scopes.Of(c.scopes).Restrict(req.GetScope())
	if !ok {
		return nil, invalidScope()
	}
	own, err := profile.Find(ctx, h.Pool, c.profile)
	if err != nil {
		return nil, err
	}
	signer, err := h.Keys.Signer(ctx)
	if err != nil {
		return nil, err
	}
	// The log-in belongs to the client, not to a user.
	if err := h.loginEvent(c, &user{}, "").Write(ctx, h.Pool); err != nil {
		return nil, err
	}
	claims := h.claims(c, c.id, h.Clock.Now())
	claims.SID = c.ownSID
	return h.response(ctx, signer, claims, own, granted)
}

// issue signs the tokens for a user.
func (h *Handler) issue(ctx context.Context, c *client, u *user, f family, granted scopes.Granted, now time.Time, nonce string) (*authv1.IssueTokenResponse, error) {
	signer, err := h.Keys.Signer(ctx)
	if err != nil {
		return nil, err
	}
	claims := h.claims(c, u.name, now)
	claims.PersonID, claims.SID = u.personID, f.sid
	response, err := h.response(ctx, signer, claims, u.profile, granted)
	if err != nil {
		return nil, err
	}
	response.IdToken, err = signIDToken(signer, claims.Claims, c.id, nonce)
	return response, err
}

// claims returns the claims that the tokens of all grants contain.
func (h *Handler) claims(c *client, subject string, now time.Time) authn.Claims {
	return authn.Claims{
		Claims: jwt.Claims{
			Issuer: h.cfg.Issuer, Subject: subject,
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(h.cfg.Life)),
		},
		Tenant: c.tenantID, Client: c.id,
	}
}

// permit sets the claims to what a profile permits within a scope.
func permit(claims *authn.Claims, p profile.Profile, granted scopes.Granted) {
	claims.Permissions, claims.Rows, claims.Scope = granted.Permissions(p.Grants), string(p.Rows), granted.Text()
	claims.OwnActions = p.OwnActions
}

// response signs an access token with the permissions of a profile within a scope, and reports its owner.
func (h *Handler) response(ctx context.Context, signer jose.Signer, claims authn.Claims, p profile.Profile, granted scopes.Granted) (*authv1.IssueTokenResponse, error) {
	claims.Audience, claims.ID = jwt.Audience{h.cfg.Audience}, rand.Text()
	permit(&claims, p, granted)
	token, err := claims.Sign(signer)
	if err != nil {
		return nil, err
	}
	if err := rpc.SetTokenOwner(ctx, rpc.TokenOwner{Tenant: claims.Tenant, User: claims.Subject, Client: claims.Client}); err != nil {
		return nil, err
	}
	return &authv1.IssueTokenResponse{
		AccessToken: token, Scope: claims.Scope, TokenType: "Bearer", ExpiresIn: int32(h.cfg.Life / time.Second),
	}, nil
}

// signIDToken returns an OpenID Connect id token. It contains neither a tenant nor a token id, so it is not
// accepted as an access token.
func signIDToken(signer jose.Signer, claims jwt.Claims, clientID, nonce string) (string, error) {
	claims.Audience = jwt.Audience{clientID}
	openID := struct {
		jwt.Claims
		Nonce string `json:"nonce,omitempty"`
	}{claims, nonce}
	token, err := authn.Sign(signer, openID)
	if err != nil {
		return "", fmt.Errorf("sign id token: %w", err)
	}
	return token, nil
}

// GetKeySet returns the public keys that verify tokens.
func (h *Handler) GetKeySet(ctx context.Context, _ *authv1.GetKeySetRequest) (*authv1.GetKeySetResponse, error) {
	set, err := h.Keys.Public(ctx)
	if err != nil {
		return nil, err
	}
	out := &authv1.GetKeySetResponse{}
	for _, key := range set.Keys {
		public, ok := key.Key.(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("key %s is a %T", key.KeyID, key.Key)
		}
		out.Keys = append(out.Keys, &authv1.JSONWebKey{
			Kty: "OKP", Crv: "Ed25519", X: base64.RawURLEncoding.EncodeToString(public),
			Kid: key.KeyID, Alg: key.Algorithm, Use: key.Use,
		})
	}
	return out, nil
}

// Run periodically removes expired families until ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		if _, err := sweepFamilies(ctx, h.Pool, h.Clock.Now(), sweepBatch); err != nil && ctx.Err() == nil {
			h.Log.WarnContext(ctx, "expired token families could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// callerHost returns the host name that the caller used, without port and trailing dot, or "". It only selects
// the tenant whose users are asked for the password.
func callerHost(ctx context.Context) string {
	value := forwardedHost(ctx)
	if len(value) > maxHost {
		return ""
	}
	if host, _, err := net.SplitHostPort(value); err == nil {
		value = host
	}
	return strings.TrimRight(value, ".")
}

// forwardedHost returns the unmodified host that the caller used, or "".
func forwardedHost(ctx context.Context) string {
	if values := metadata.ValueFromIncomingContext(ctx, hostHeader); len(values) > 0 {
		return values[0]
	}
	return ""
}
