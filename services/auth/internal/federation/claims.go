package federation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
)

const (
	// maxLife is the longest remaining life of an accepted token. Revocations are stored for that long.
	maxLife = 24 * time.Hour
	// maxName is the longest user name, in bytes.
	maxName = 1000
)

// claims are the claims of a token, by case-sensitive name.
type claims map[string]json.RawMessage

func parseClaims(payload []byte) (claims, error) {
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return c, nil
}

// standard returns the registered claims.
func (c claims) standard() (s jwt.Claims, err error) {
	for name, into := range map[string]any{
		"iss": &s.Issuer, "aud": &s.Audience, "exp": &s.Expiry, "nbf": &s.NotBefore, "iat": &s.IssuedAt,
	} {
		if raw, ok := c[name]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return s, fmt.Errorf("claim %s: %w", name, err)
			}
		}
	}
	return s, nil
}

// validate checks all claims except the user's, and returns the end of the token.
func (p *provider) validate(c claims, now time.Time) (time.Time, error) {
	s, err := c.standard()
	if err != nil {
		return time.Time{}, err
	}
	expected := jwt.Expected{Issuer: p.issuer, AnyAudience: jwt.Audience{p.audience}, Time: now}
	if err := s.ValidateWithLeeway(expected, p.skew); err != nil {
		return time.Time{}, err
	}
	if s.Expiry == nil {
		return time.Time{}, errors.New("the token has no exp claim")
	}
	end := s.Expiry.Time().Add(p.skew)
	if end.After(now.Add(maxLife + p.skew)) {
		return time.Time{}, fmt.Errorf("the token ends more than %s from now", maxLife)
	}
	return end, nil
}

// user returns the token's name for the user.
func (p *provider) user(c claims) (string, error) {
	name, err := c.text(p.userClaim)
	switch {
	case err != nil:
		return "", err
	case !isText(name, maxName):
		return "", fmt.Errorf("the claim %s contains no user name", p.userClaim)
	case p.userClaim == "email" && !c.isTrue("email_verified"):
		// Otherwise anyone could register another person's address there.
		return "", errors.New("the address in the claim email is not verified")
	}
	return name, nil
}

// profile returns the access profile that the token selects, or "" for the user's own profile.
func (p *provider) profile(c claims) (string, error) {
	if p.profileClaim == "" {
		return "", nil
	}
	values, err := c.texts(p.profileClaim)
	if err != nil {
		return "", err
	}
	for i, value := range p.profileValues {
		if slices.Contains(values, value) {
			return p.profileNames[i], nil
		}
	}
	return "", fmt.Errorf("no value of the claim %s is mapped to an access profile", p.profileClaim)
}

// text returns a claim that is a text or a number.
func (c claims) text(name string) (string, error) {
	var text string
	if json.Unmarshal(c[name], &text) == nil {
		return text, nil
	}
	var number json.Number
	if err := json.Unmarshal(c[name], &number); err != nil {
		return "", fmt.Errorf("claim %s: %w", name, err)
	}
	return number.String(), nil
}

// texts returns a claim that is a text or a list of texts.
func (c claims) texts(name string) ([]string, error) {
	var list []string
	if json.Unmarshal(c[name], &list) == nil {
		return list, nil
	}
	text, err := c.text(name)
	return []string{text}, err
}

func (c claims) isTrue(name string) bool {
	return string(c[name]) == "true" || string(c[name]) == `"true"`
}
