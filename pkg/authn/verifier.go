package authn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Messages for callers whose token is not accepted. They do not say why.
const (
	messageMissing     = "The operation needs an access token in the Authorization header."
	messageInvalid     = "The access token is not valid or has expired. Request a new one."
	messageRevoked     = "The access token was revoked."
	messageUnavailable = "Access tokens cannot be checked at the moment. Try again later."

	retryUnavailable = 5 * time.Second

	// maxToken bounds the text that is parsed before anything is verified.
	maxToken = 16 << 10
)

// Config decides which tokens are accepted.
type Config struct {
	// Issuer and Audience are the names that a token must carry.
	Issuer, Audience string
	// Algorithms are the accepted signature algorithms; the default is EdDSA only.
	Algorithms []jose.SignatureAlgorithm
	// Leeway is how far the clocks of issuer and verifier may differ.
	Leeway time.Duration
	// CacheSize is the number of cached tokens; 65,536 if 0.
	CacheSize int
	// Exchange returns our token for a token of another issuer. Without it, such tokens are
	// rejected.
	Exchange Exchange
}

// Revocations knows which tokens were revoked before they expired. It is called on every request,
// so it must answer from memory. An error means that its view is too old to decide.
type Revocations interface {
	// Revoked reports whether the principal's token or session was revoked.
	Revoked(ctx context.Context, p *Principal) (bool, error)
}

// NoRevocations is a Revocations without entries.
type NoRevocations struct{}

// Revoked returns false.
func (NoRevocations) Revoked(context.Context, *Principal) (bool, error) { return false, nil }

// Verifier returns the principal of an access token. It is safe for concurrent use.
type Verifier struct {
	cfg         Config
	keys        KeySource
	revocations Revocations
	clock       clock.Clock
	tokens      tokens
	exchanges   singleflight.Group
}

// NewVerifier returns a Verifier.
func NewVerifier(cfg Config, keys KeySource, revocations Revocations, clk clock.Clock) (*Verifier, error) {
	if cfg.Issuer == "" || cfg.Audience == "" {
		return nil, errors.New("a verifier of tokens needs an issuer and an audience")
	}
	if len(cfg.Algorithms) == 0 {
		cfg.Algorithms = []jose.SignatureAlgorithm{jose.EdDSA}
	}
	if cfg.CacheSize <= 0 {
		cfg.CacheSize = 1 << 16
	}
	return &Verifier{cfg: cfg, keys: keys, revocations: revocations, clock: clk, tokens: newTokens(clk, cfg.CacheSize)}, nil
}

// Verify returns the principal of an access token. Its errors are faults: 401 for a token that is
// not accepted, 503 if that cannot be decided.
func (v *Verifier) Verify(ctx context.Context, token string) (*Principal, error) {
	key, err := cacheKey(token)
	if err != nil {
		return nil, err
	}
	if p, known, err := v.lookup(ctx, key); known {
		return p, err
	}
	now := v.clock.Now()
	var p *Principal
	if v.IsForeign(token) {
		p, err = v.exchange(ctx, token, key, now)
	} else {
		p, err = v.verify(ctx, token, now)
	}
	if err != nil {
		return nil, err
	}
	v.tokens.putToken(key, p, p.Expiry.Add(v.cfg.Leeway))
	if err := v.checkRevoked(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// cacheKey returns the cache key of a token, or a fault if the text cannot be a token.
func cacheKey(token string) (key [sha256.Size]byte, err error) {
	switch {
	case token == "":
		return key, Missing()
	case len(token) > maxToken:
		return key, invalid(errors.New("the token is too long"))
	}
	return hash(token), nil
}

// hash returns the SHA-256 of a token. Tokens of the usual length are hashed on the stack.
func hash(token string) [sha256.Size]byte {
	var usual [4096]byte
	return sha256.Sum256(append(usual[:0], token...))
}

func (v *Verifier) checkRevoked(ctx context.Context, p *Principal) error {
	revoked, err := v.revocations.Revoked(ctx, p)
	if err != nil {
		return unavailable(fmt.Errorf("revocations: %w", err))
	}
	if revoked {
		return revokedFault(p)
	}
	return nil
}

func revokedFault(p *Principal) *fault.Error {
	return fault.Unauthenticated(fault.CodeRevoked, messageRevoked).WithCause(DeniedTo(p, errRevoked))
}

func (v *Verifier) verify(ctx context.Context, token string, now time.Time) (*Principal, error) {
	signed, err := jose.ParseSignedCompact(token, v.cfg.Algorithms)
	if err != nil {
		return nil, invalid(fmt.Errorf("parsing the token: %w", err))
	}
	key, err := v.keys.Key(ctx, signed.Signatures[0].Header.KeyID)
	if errors.Is(err, ErrUnknownKey) {
		return nil, invalid(err)
	}
	if err != nil {
		return nil, unavailable(fmt.Errorf("keys: %w", err))
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, invalid(fmt.Errorf("signature: %w", err))
	}
	claims, err := parseClaims(payload)
	if err != nil {
		return nil, invalid(err)
	}
	if err := claims.validate(v.cfg.Issuer, v.cfg.Audience, now, v.cfg.Leeway); err != nil {
		if errors.Is(err, jwt.ErrExpired) {
			err = v.expiredCause(claims, err)
		}
		return nil, invalid(err)
	}
	return claims.principal(), nil
}

// Missing returns the fault of a call without a token.
func Missing() *fault.Error {
	return fault.Unauthenticated(fault.CodeUnauthenticated, messageMissing)
}

// NeedsPermission returns the fault of a caller whose token does not grant a permission. The access
// point is the reference product's name of the permission, or "". The code is the error code; ""
// means the common one.
func NeedsPermission(permission, accessPoint, code string) *fault.Error {
	if accessPoint != "" {
		permission += " (access point " + accessPoint + ")"
	}
	return fault.Forbidden(cmp.Or(code, fault.CodeNoAccess), "The operation needs the permission "+permission+
		", which your token does not have: your access profile does not give it, or the token was narrowed by its scope.")
}

func invalid(cause error) *fault.Error {
	return fault.Unauthenticated(fault.CodeUnauthenticated, messageInvalid).WithCause(cause)
}

func unavailable(cause error) *fault.Error {
	return fault.New(fault.CodeIdentityUnavailable, http.StatusServiceUnavailable, messageUnavailable).
		WithRetryAfter(retryUnavailable).
		WithCause(cause)
}

// BearerToken returns the token in an Authorization header: after the scheme Bearer in any case, or
// alone. It returns "" for another scheme.
func BearerToken(authorization string) string {
	scheme, rest, found := strings.Cut(strings.TrimSpace(authorization), " ")
	if !found {
		return scheme
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(rest)
}
