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
	maxToken    = 16 << 10
	retryCannot = 5 * time.Second
)

// Identified is what a token of an identity provider says about its user.
type Identified struct {
	Tenant int64
	// Provider is the id of the identity provider.
	Provider int64
	// Name is what the token calls the user, and ByPersonNumber says that this
	// is the number of the person.
	Name           string
	ByPersonNumber bool
	// Profile is the access profile that the token chooses; "" for the user's own.
	Profile string
	// ID is the id by which the token can be revoked.
	ID string
	// End is when the token ends, for us.
	End time.Time
}

// Identify returns whom a token of an identity provider stands for. Its errors
// are faults: 401 for a token that is not accepted, 503 when the provider's keys
// cannot be had.
func (h *Handler) Identify(ctx context.Context, token string) (*Identified, error) {
	signed, p, err := h.find(ctx, token)
	if err != nil {
		return nil, err
	}
	header := signed.Signatures[0].Header
	key, err := h.keys.of(p.issuer).Key(ctx, header.KeyID)
	if errors.Is(err, authn.ErrUnknownKey) {
		return nil, refused(err)
	}
	if err != nil {
		h.Log.WarnContext(ctx, "the keys of an identity provider cannot be had", "tenant", p.tenantID, "provider", p.id, "error", err)
		return nil, cannot(err)
	}
	payload, err := signed.Verify(key)
	if err != nil {
		return nil, refused(fmt.Errorf("signature: %w", err))
	}
	c, err := parseClaims(payload)
	if err != nil {
		return nil, refused(err)
	}
	end, err := p.validate(c, h.Clock.Now())
	if err != nil {
		return nil, refused(err)
	}
	name, err := p.user(c)
	if err != nil {
		return nil, refused(err)
	}
	chosen, err := p.profile(c)
	if err != nil {
		return nil, refused(err)
	}
	return &Identified{
		Tenant: p.tenantID, Provider: p.id, Name: name, ByPersonNumber: p.userMatch == matchPersonNumber,
		Profile: chosen, ID: tokenID(payload), End: end,
	}, nil
}

// find returns the token, not verified yet, and the provider that it must be of.
func (h *Handler) find(ctx context.Context, token string) (*jose.JSONWebSignature, *provider, error) {
	if len(token) > maxToken {
		return nil, nil, refused(errors.New("the token is too long"))
	}
	signed, err := jose.ParseSignedCompact(token, asymmetric)
	if err != nil {
		return nil, nil, refused(fmt.Errorf("parsing the token: %w", err))
	}
	c, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	if err != nil {
		return nil, nil, refused(err)
	}
	s, err := c.standard()
	if err != nil || strings.ContainsRune(s.Issuer+strings.Join(s.Audience, ""), 0) {
		return nil, nil, refused(err)
	}
	p, err := byIssuer(ctx, h.Pool, s.Issuer, s.Audience)
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
		err = errors.New("the token is of another type")
	default:
		return signed, p, nil
	}
	return nil, nil, refused(err)
}

// isAccessType reports whether the header "typ" is one that access tokens and id
// tokens have. Logout tokens and the like are signed by the same keys.
func isAccessType(typ any) bool {
	if typ == nil {
		return true
	}
	text, _ := typ.(string)
	text = strings.TrimPrefix(strings.ToLower(text), "application/")
	return text == "jwt" || text == "at+jwt"
}

// tokenID is made of what was signed, since the same token can be written in
// more than one way.
func tokenID(payload []byte) string {
	sum := sha256.Sum256(payload)
	return "f-" + base64.RawURLEncoding.EncodeToString(sum[:])
}

func refused(cause error) *fault.Error {
	return fault.Unauthenticated(fault.CodeUnauthenticated, "The token is not accepted.").WithCause(cause)
}

func cannot(cause error) *fault.Error {
	return fault.New(fault.CodeIdentityUnavailable, http.StatusServiceUnavailable,
		"The identity provider of the token cannot be reached at the moment. Try again later.").
		WithRetryAfter(retryCannot).WithCause(cause)
}
