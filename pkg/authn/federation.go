package authn

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	// exchangeTimeout is longer than auth's timeout for an identity provider.
	exchangeTimeout = 15 * time.Second
	// rejectedFor bounds how often a client with a bad token makes this process ask auth.
	rejectedFor = 2 * time.Second
)

// Exchange returns our own access token in exchange for a token of a federated identity provider.
// It expires no later than the original. The errors are faults: 401 for a token that is not
// accepted.
type Exchange func(ctx context.Context, token string) (string, error)

// IsForeign reports whether a token names another issuer, so that auth must be asked. It verifies
// nothing.
func (v *Verifier) IsForeign(token string) bool {
	if v.cfg.Exchange == nil {
		return false
	}
	issuer := UnverifiedIssuer(token)
	return issuer != "" && issuer != v.cfg.Issuer
}

// UnverifiedIssuer returns the issuer that a token names, without verifying it, or "" if the text
// is not a token.
func UnverifiedIssuer(token string) string {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, found := strings.Cut(rest, ".")
	if !found || len(token) > maxToken {
		return ""
	}
	decoded, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return ""
	}
	// A map, because the names of claims are case-sensitive.
	var claims map[string]json.RawMessage
	var issuer string
	if json.Unmarshal(decoded, &claims) != nil || json.Unmarshal(claims["iss"], &issuer) != nil {
		return ""
	}
	return issuer
}

// exchange verifies a token of another issuer: it exchanges the token at auth, and verifies the
// result. Concurrent requests with the same token ask once.
func (v *Verifier) exchange(ctx context.Context, token string, key [sha256.Size]byte, now time.Time) (*Principal, error) {
	exchanged := v.exchanges.DoChan(string(key[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchangeTimeout)
		defer cancel()
		return v.exchangeOnce(ctx, token, key, now)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-exchanged:
		p, _ := result.Val.(*Principal)
		return p, result.Err
	}
}

func (v *Verifier) exchangeOnce(ctx context.Context, token string, key [sha256.Size]byte, now time.Time) (*Principal, error) {
	ours, err := v.cfg.Exchange(ctx, token)
	switch f := fault.FromError(err); {
	case err == nil:
		return v.verify(ctx, ours, now)
	case f != nil && f.Status == http.StatusUnauthorized:
		v.tokens.putToken(key, nil, now.Add(rejectedFor))
		return nil, invalid(err)
	default:
		return nil, unavailable(err)
	}
}

// errRejectedBefore means that auth rejected the token within rejectedFor.
var errRejectedBefore = errors.New("the identity provider's token was rejected recently")
