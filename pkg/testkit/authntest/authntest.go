// Package authntest has token issuers for tests.
package authntest

import (
	"context"
	"crypto"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

// OneKey returns the key source of an issuer with a single key: every id names it.
func OneKey(public crypto.PublicKey) authn.KeySource { return oneKey{public} }

type oneKey struct{ public crypto.PublicKey }

// Key returns the key.
func (k oneKey) Key(context.Context, string) (crypto.PublicKey, error) { return k.public, nil }
