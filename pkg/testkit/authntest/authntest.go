// Package authntest has issuers of tokens for tests.
package authntest

import (
	"context"
	"crypto"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

// OneKey is the keys of an issuer that has one: every id names it.
func OneKey(public crypto.PublicKey) authn.KeySource { return oneKey{public} }

type oneKey struct{ public crypto.PublicKey }

// Key returns the key.
func (k oneKey) Key(context.Context, string) (crypto.PublicKey, error) { return k.public, nil }
