package federation

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	maxToken         = 16 << 10
	retryUnavailable = 5 * time.Second
)

// Identified is the user that a token of an identity provider names.
type Identified struct {
	Tenant int64
	// Provider is the id of the identity provider.
	Provider int64
	// Name is the token's name for the user. If ByPersonNumber is set, it is the person's number.
	Name           string
	ByPersonNumber bool
	// Profile is the access profile that the token selects; "" means the user's own.
	Profile string
	// ID is the id for revoking the token.
	ID string
	// End is when the token expires, including the permitted clock skew.
	End time.Time
}

// Identify returns the user that a token of an identity provider names. Its errors are faults: 401 for a token
// that is not accepted, 503 if the provider's keys cannot be fetched.
func (h *Handler) Identify(ctx context.Context, token string) (*Identified, error) {
	signed, p, err := h.find(ctx, token)
	if err != nil {
		return nil, err
	}
	header := signed.Signatures[0].Header
	key, err := h.keys.issuerKeys(p.issuer).Key(ctx, header.KeyID)
	if errors.Is(err, authn.ErrUnknownKey) {
		return nil, rejectToken(err)
	}
	if err != nil {
		h.Log.WarnContext(ctx, "the keys of an identity provider cannot be fetched", "tenant", p.tenantID, "provider", p.id, "error", err)
		return nil, unavailable(err)
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, rejectToken(fmt.Errorf("signature: %w", err))
	}
	c, err := parseClaims(payload)
	if err != nil {
		return nil, rejectToken(err)
	}
	end, err := p.validate(c, h.Clock.Now())
	if err != nil {
		return nil, rejectToken(err)
	}
	name, err := p.user(c)
	if err != nil {
		return nil, rejectToken(err)
	}
	chosen, err := p.profile(c)
	if err != nil {
		return nil, rejectToken(err)
	}
	return &Identified{
		Tenant: p.tenantID, Provider: p.id, Name: name, ByPersonNumber: p.userMatch == matchPersonNumber,
		Profile: chosen, ID: tokenID(payload), End: end,
	}, nil
}

// find returns the token, without verifying it, and its provider.
func (h *Handler) find(ctx context.Context, token string) (*jose.JSONWebSignature, *provider, error) {
	if len(token) > maxToken {
		return nil, nil, rejectToken(errors.New("the token is too long"))
	}
	signed, err := jose.ParseSignedCompact(token, asymmetric)
	if err != nil {
		return nil, nil, rejectToken(fmt.Errorf("parsing the token: %w", err))
	}
	c, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	if err != nil {
		return nil, nil, rejectToken(err)
	}
	s, err := c.standard()
	if err != nil || strings.ContainsRune(s.Issuer+strings.Join(s.Audience, ""), 0) {
		return nil, nil, rejectToken(err)
	}
	p, err := findByIssuer(ctx, h.Pool, s.Issuer, s.Audience)
	if err != nil {
		return nil, nil, err
	}
	header := signed.Signatures[0].Header
	switch {
	case p == nil:
		err = errors.New("no identity provider has the issuer and the audience")
	case !slices.Contains(p.algorithms, header.Algorithm):
		err = fmt.Errorf("the algorithm %q is not one of the provider's", header.Algorithm)
	case !isAccessType(header.ExtraHeaders[jose.HeaderType]):
		err = errors.New("the token is not an access token or id token")
	default:
		return signed, p, nil
	}
	return nil, nil, rejectToken(err)
}

// isAccessType reports whether a header "typ" belongs to access tokens or id tokens. Providers sign other
// tokens, such as logout tokens, with the same keys.
func isAccessType(typ any) bool {
	if typ == nil {
		return true
	}
	text, _ := typ.(string)
	text = strings.TrimPrefix(strings.ToLower(text), "application/")
	return text == "jwt" || text == "at+jwt"
}

// tokenID returns an id derived from the signed payload, because the same token can be encoded in more than one
// way.
func tokenID(payload []byte) string {
	sum := sha256.Sum256(payload)
	return "f-" + base64.RawURLEncoding.EncodeToString(sum[:])
}

func rejectToken(cause error) *fault.Error {
	return fault.Unauthenticated(fault.CodeUnauthenticated, "The token is not accepted.").WithCause(cause)
}

func unavailable(cause error) *fault.Error {
	return fault.New(fault.CodeIdentityUnavailable, http.StatusServiceUnavailable,
		"The identity provider of the token is unreachable at the moment. Try again later.").
		WithRetryAfter(retryUnavailable).WithCause(cause)
}
