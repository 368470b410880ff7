package authn

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Claims are the contents of an access token. Whoever issues tokens fills in
// the same type that verification reads.
type Claims struct {
	jwt.Claims
	Tenant   int64  `json:"tenant"`
	PersonID int64  `json:"person_id,omitempty"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope,omitempty"`
	// Permissions are as those of a Principal.
	Permissions []string `json:"permissions,omitempty"`
	// Rows says whose data the token shows, as pkg/domain/rowvisibility knows it.
	Rows string `json:"rows,omitempty"`
	// OwnActions are as those of a Principal.
	OwnActions []string `json:"own_actions,omitempty"`
	// SID is the family of tokens that one log-in led to.
	SID string `json:"sid,omitempty"`
}

// Sign writes the claims as a token.
func (c *Claims) Sign(signer jose.Signer) (string, error) { return Sign(signer, c) }

// Sign writes any claims as a token. The builder of the library takes several
// times as long: it decodes what it encoded, to merge what may come.
func Sign(signer jose.Signer, claims any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("writing claims: %w", err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return token, nil
}

func parseClaims(payload []byte) (*Claims, error) {
	c := &Claims{}
	if err := json.Unmarshal(payload, c); err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return c, nil
}

// validate checks everything about the claims but their signature.
func (c *Claims) validate(issuer, audience string, now time.Time, leeway time.Duration) error {
	expected := jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{audience}, Time: now}
	if err := c.ValidateWithLeeway(expected, leeway); err != nil {
		return err
	}
	switch {
	case c.Expiry == nil:
		return errors.New("the token has no expiry")
	case c.Tenant < 1:
		return errors.New("the token has no tenant")
	case c.Subject == "":
		return errors.New("the token has no subject")
	case c.ID == "":
		return errors.New("the token has no id")
	}
	return nil
}

func (c *Claims) principal() *Principal {
	return &Principal{
		Tenant:      c.Tenant,
		Subject:     c.Subject,
		PersonID:    c.PersonID,
		Client:      c.Client,
		Scope:       c.Scope,
		Permissions: c.Permissions,
		Rows:        c.Rows,
		OwnActions:  c.OwnActions,
		JTI:         c.ID,
		SID:         c.SID,
		IssuedAt:    c.IssuedAt.Time(),
		Expiry:      c.Expiry.Time(),
	}
}
