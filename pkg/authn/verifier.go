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

// What a caller learns about a token that is not accepted: not why.
const (
	messageMissing = "The operation needs an access token in the Authorization header."
	messageInvalid = "The access token is not valid, or no longer."
	messageRevoked = "The access token was revoked."
	messageCannot  = "Access tokens cannot be checked at the moment. Try again later."

	retryCannot = 5 * time.Second

	// maxToken bounds what is parsed before anything is known about it.
	maxToken = 16 << 10
)

// Config says which tokens are accepted.
type Config struct {
	// Issuer and Audience that a token must name.
	Issuer, Audience string
	// Algorithms that may sign; EdDSA alone when empty.
	Algorithms []jose.SignatureAlgorithm
	// Leeway is how far the clocks of issuer and verifier may differ.
	Leeway time.Duration
	// CacheSize is how many verified tokens are remembered; 65,536 when 0.
	CacheSize int
	// Exchange returns our token for one of another issuer. Without it such
	// tokens are refused.
	Exchange Exchange
}

// Revocations knows which tokens were revoked before they expired. It is
// asked on every request, so it responds from memory. An error means that its
// view is too old to know.
type Revocations interface {
	// Revoked reports whether the principal's token, or the family that it is
	// of, was revoked.
	Revoked(ctx context.Context, p *Principal) (bool, error)
}

// NoRevocations revokes nothing.
type NoRevocations struct{}

// Revoked returns false.
func (NoRevocations) Revoked(context.Context, *Principal) (bool, error) { return false, nil }

// Verifier finds the principal of an access token. It is safe for concurrent
// use.
type Verifier struct {
	cfg         Config
	keys        KeySource
	revocations Revocations
	clock       clock.Clock
	tokens      tokens
	exchanges   singleflight.Group
}

// NewVerifier makes a Verifier.
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

// Verify returns the principal of an access token. Its errors are faults: 401
// for a token that is not accepted, 503 when that cannot be decided.
func (v *Verifier) Verify(ctx context.Context, token string) (*Principal, error) {
	key, err := keyOf(token)
	if err != nil {
		return nil, err
	}
	if p, known, err := v.cached(ctx, key); known {
		return p, err
	}
	now := v.clock.Now()
	var p *Principal
	if v.Foreign(token) {
		p, err = v.exchange(ctx, token, key, now)
	} else {
		p, err = v.verify(ctx, token, now)
	}
	if err != nil {
		return nil, err
	}
	v.tokens.put(key, p, p.Expiry.Add(v.cfg.Leeway))
	if err := v.checkRevoked(ctx, p); err != nil {
		return nil, err
	}
	return p, nil
}

// keyOf is what a token is remembered by, or a fault for a text that is none.
func keyOf(token string) (key [sha256.Size]byte, err error) {
	switch {
	case token == "":
		return key, Missing()
	case len(token) > maxToken:
		return key, invalid(errors.New("the token is too long"))
	}
	return hash(token), nil
}

// hash is the SHA-256 of a token. Tokens of the usual length are hashed on
// the stack.
func hash(token string) [sha256.Size]byte {
	var usual [4096]byte
	return sha256.Sum256(append(usual[:0], token...))
}

func (v *Verifier) checkRevoked(ctx context.Context, p *Principal) error {
	revoked, err := v.revocations.Revoked(ctx, p)
	if err != nil {
		return cannot(fmt.Errorf("revocations: %w", err))
	}
	if revoked {
		return revokedFrom(p)
	}
	return nil
}

func revokedFrom(p *Principal) *fault.Error {
	return fault.Unauthenticated(fault.CodeRevoked, messageRevoked).WithCause(RefusedTo(p, errRevoked))
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
		return nil, cannot(fmt.Errorf("keys: %w", err))
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
			err = v.expired(claims, err)
		}
		return nil, invalid(err)
	}
	return claims.principal(), nil
}

// Missing is the error for a call that brings no token.
func Missing() *fault.Error {
	return fault.Unauthenticated(fault.CodeUnauthenticated, messageMissing)
}

// NeedsPermission is the fault of a caller whose token does not grant a
// permission. The access point is what the reference product calls it, or "". The code
// is that of the error; "" is the one that all operations have.
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

func cannot(cause error) *fault.Error {
	return fault.New(fault.CodeIdentityUnavailable, http.StatusServiceUnavailable, messageCannot).
		WithRetryAfter(retryCannot).
		WithCause(cause)
}

// TokenOf returns the token in the value of an Authorization header: after
// the scheme Bearer in any case, or alone. It returns "" for another scheme.
func TokenOf(authorization string) string {
	scheme, rest, found := strings.Cut(strings.TrimSpace(authorization), " ")
	if !found {
		return scheme
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(rest)
}
