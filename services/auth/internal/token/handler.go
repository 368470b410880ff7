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
	// refreshLife is how long a refresh token can be used.
	refreshLife = 7 * 24 * time.Hour
	sweepEvery  = 10 * time.Minute
	sweepBatch  = 10000
	// maxRepeats is how often a log-in is made again because somebody changed what
	// it goes by.
	maxRepeats = 2
	// hostHeader carries the host name that the edge was called by.
	hostHeader = "x-forwarded-host"
)

// Config of tokens.
type Config struct {
	// Issuer and Audience that access tokens name.
	Issuer, Audience string
	// Life of an access token.
	Life time.Duration
	// PublicURL is where clients reach the edge; the host name of each request, if it is a tenant's,
	// when it is empty.
	PublicURL string
	// ClientCredentials serves that grant to the clients that may use it.
	ClientCredentials bool
	// DefaultAuthChain is the chain of requests that name none; they are refused when it is empty.
	DefaultAuthChain string
}

// grants are the names of the grants that are served.
func (c Config) grants() []string {
	if c.ClientCredentials {
		return []string{grantPassword, grantRefresh, grantClient}
	}
	return []string{grantPassword, grantRefresh}
}

// Deps are what tokens need of others.
type Deps struct {
	Pool   *pg.Pool
	Keys   *signing.Keys
	Hasher *password.Hasher
	Log    *slog.Logger
	Clock  clock.Clock
	// Scopes knows what scopes mean.
	Scopes *scopes.Catalog
	// Verifier decides which tokens are ours, revoked or not.
	Verifier   *authn.Verifier
	Revoked    *revoked.Store
	LoginLimit *loginlimit.Limiter
	// Directory is nil when there is none.
	Directory *directory.Directory
	// Federation knows whom the tokens of identity providers mean.
	Federation *federation.Handler
}

// Handler serves TokenService and FederationService.
type Handler struct {
	authv1.UnsafeTokenServiceServer
	authv1.UnsafeFederationServiceServer
	cfg Config
	Deps
	// hosts remembers whose users call under which host names.
	hosts     *cache.Cache[string, named]
	refreshes refreshes
	// seen remembers which tokens of identity providers are in the trail already.
	seen *cache.Cache[string, struct{}]
	rows budget
}

// New makes a Handler.
func New(cfg Config, deps Deps) *Handler {
	return &Handler{
		cfg: cfg, Deps: deps,
		hosts: cache.New[string](deps.Clock, cache.Config[named]{Entries: maxHosts}),
		seen:  cache.New[string](deps.Clock, cache.Config[struct{}]{Entries: maxSeen}),
	}
}

// IssueToken returns tokens for a password, or an access token for a refresh
// token. Errors are those of RFC 6749.
func (h *Handler) IssueToken(ctx context.Context, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	if err := h.cfg.check(req); err != nil {
		return nil, err
	}
	if err := h.refuseOtherTenant(ctx, req.GetTenant()); err != nil {
		return nil, h.refused(ctx, req, err)
	}
	response, err := h.byGrant(ctx, req)
	for range maxRepeats {
		if !errors.Is(err, errOutdated) {
			break
		}
		response, err = h.byGrant(ctx, req)
	}
	if errors.Is(err, errOutdated) {
		err = fault.Unavailable("What the log-in goes by is being changed. Try again.", time.Second).WithCause(err).WithOAuth("temporarily_unavailable")
	}
	if err != nil {
		err = h.refused(ctx, req, err)
	}
	return response, err
}

func (h *Handler) byGrant(ctx context.Context, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
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
		return h.byPassword(ctx, c, req)
	case req.GetGrantType() == grantClient:
		return h.byClient(ctx, c, req)
	}
	return nil, invalidGrant()
}

func (h *Handler) byPassword(ctx context.Context, c *client, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	granted, ok := h.Scopes.Of(c.scopes).Restrict(req.GetScope())
	if !ok {
		return nil, invalidScope()
	}
	u, err := h.userWith(ctx, c, req.GetUsername(), req.GetPassword())
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
	if err := insertFamily(ctx, h.Pool, h.loggedIn(c, u, f.sid), c, u, refresh, f, now); err != nil {
		return nil, err
	}
	response.RefreshToken = refresh
	return response, nil
}

// byClient returns an access token for a client's own work: no refresh token,
// since the client can ask again, and no id token, since there is no user.
func (h *Handler) byClient(ctx context.Context, c *client, req *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	granted, ok := h.Scopes.Of(c.scopes).Restrict(req.GetScope())
	if !ok {
		return nil, invalidScope()
	}
	own, err := profile.Named(ctx, h.Pool, c.tenantID, c.profile)
	if err != nil {
		return nil, err
	}
	signer, err := h.Keys.Signer(ctx)
	if err != nil {
		return nil, err
	}
	// It is nobody's log-in, but the client's own.
	if err := h.loggedIn(c, &user{}, "").Write(ctx, h.Pool); err != nil {
		return nil, err
	}
	claims := h.claims(c, c.id, h.Clock.Now())
	claims.SID = c.ownSID
	return h.response(signer, claims, own, granted)
}

// issue signs the tokens for a user.
func (h *Handler) issue(ctx context.Context, c *client, u *user, f family, granted scopes.Granted, now time.Time, nonce string) (*authv1.IssueTokenResponse, error) {
	signer, err := h.Keys.Signer(ctx)
	if err != nil {
		return nil, err
	}
	claims := h.claims(c, u.name, now)
	claims.PersonID, claims.SID = u.personID, f.sid
	response, err := h.response(signer, claims, u.profile, granted)
	if err != nil {
		return nil, err
	}
	response.IdToken, err = signIDToken(signer, claims.Claims, c.id, nonce)
	return response, err
}

// claims are those that the tokens of all grants have.
func (h *Handler) claims(c *client, subject string, now time.Time) authn.Claims {
	return authn.Claims{
		Claims: jwt.Claims{
			Issuer: h.cfg.Issuer, Subject: subject,
			IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(h.cfg.Life)),
		},
		Tenant: c.tenantID, Client: c.id,
	}
}

// permit writes into claims what a profile permits within a scope.
func permit(claims *authn.Claims, p profile.Profile, granted scopes.Granted) {
	claims.Permissions, claims.Rows, claims.Scope = granted.Permissions(p.Grants), string(p.Rows), granted.Text()
	claims.OwnActions = p.OwnActions
}

// response signs an access token with what a profile permits within a scope.
func (h *Handler) response(signer jose.Signer, claims authn.Claims, p profile.Profile, granted scopes.Granted) (*authv1.IssueTokenResponse, error) {
	claims.Audience, claims.ID = jwt.Audience{h.cfg.Audience}, rand.Text()
	permit(&claims, p, granted)
	token, err := claims.Sign(signer)
	if err != nil {
		return nil, err
	}
	return &authv1.IssueTokenResponse{
		AccessToken: token, Scope: claims.Scope, TokenType: "Bearer", ExpiresIn: int32(h.cfg.Life / time.Second),
	}, nil
}

// signIDToken makes an OpenID Connect id token. It names neither tenant nor
// token id, so it is no access token anywhere.
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

// Run removes expired families now and then until ctx ends.
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

// hostOf returns the host name that the caller used, without port, or "". It
// only chooses whose users are asked for the password. A dot at the end, which says
// that a name is whole, is no part of it.
func hostOf(ctx context.Context) string {
	value := forwardedHost(ctx)
	if len(value) > maxHost {
		return ""
	}
	if host, _, err := net.SplitHostPort(value); err == nil {
		value = host
	}
	return strings.TrimRight(value, ".")
}

// forwardedHost returns the host that the caller used as it came, or "".
func forwardedHost(ctx context.Context) string {
	if values := metadata.ValueFromIncomingContext(ctx, hostHeader); len(values) > 0 {
		return values[0]
	}
	return ""
}
