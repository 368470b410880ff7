package authn

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Claims are the contents of an access token. The issuer writes the same type that the verifier
// reads.
type Claims struct {
	jwt.Claims
	Tenant   int64  `json:"tenant"`
	PersonID int64  `json:"person_id,omitempty"`
	Client   string `json:"client_id"`
	Scope    string `json:"scope,omitempty"`
	// Permissions has the meaning of Principal.Permissions.
	Permissions []string `json:"permissions,omitempty"`
	// Rows is the row scope of the token; see pkg/domain/rowvisibility.
	Rows string `json:"rows,omitempty"`
	// OwnActions has the meaning of Principal.OwnActions.
	OwnActions []string `json:"own_actions,omitempty"`
	// SID identifies the session: all tokens that follow from one log-in.
	SID string `json:"sid,omitempty"`
}

// Sign returns the claims as a signed token.
func (c *Claims) Sign(signer jose.Signer) (string, error) { return Sign(signer, c) }

// Sign returns any claims as a signed token. The library's builder takes several times as long,
// because it decodes its own output to merge further claims.
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

// validate checks everything about the claims except their signature.
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
