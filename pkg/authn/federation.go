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
	// exchangeTimeout is longer than auth waits for an identity provider.
	exchangeTimeout = 15 * time.Second
	// refusedFor keeps a client that repeats a bad token from making every
	// request a question to auth.
	refusedFor = 2 * time.Second
)

// Exchange returns, for a token of a federated identity provider, the access
// token of our own issuer that stands for it, which ends no later. Its errors
// are faults: 401 for a token that is not accepted.
type Exchange func(ctx context.Context, token string) (string, error)

// Foreign reports whether a token names an issuer that is not ours, which takes a
// question to auth. Nothing about it is verified.
func (v *Verifier) Foreign(token string) bool {
	if v.cfg.Exchange == nil {
		return false
	}
	issuer := IssuerOf(token)
	return issuer != "" && issuer != v.cfg.Issuer
}

// IssuerOf returns the issuer that a token names, unverified, or "" for a text
// that is no token.
func IssuerOf(token string) string {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, found := strings.Cut(rest, ".")
	if !found || len(token) > maxToken {
		return ""
	}
	decoded, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return ""
	}
	// A map, since the names of claims are compared with case.
	var claims map[string]json.RawMessage
	var issuer string
	if json.Unmarshal(decoded, &claims) != nil || json.Unmarshal(claims["iss"], &issuer) != nil {
		return ""
	}
	return issuer
}

// exchange verifies a token of another issuer by the token that auth returns
// for it. Requests with the same token ask once.
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
		v.tokens.put(key, nil, now.Add(refusedFor))
		return nil, invalid(err)
	default:
		return nil, cannot(err)
	}
}

// errRefused says that a token was refused a moment ago.
var errRefused = errors.New("the identity provider's token was refused a moment ago")
