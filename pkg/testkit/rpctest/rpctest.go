// Package rpctest gives tests the real interceptor chain inside the process.
package rpctest

import (
	"context"
	"crypto"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// Local returns a chain that registers handlers and connects to them. It accepts no tokens: callers
// are trusted services, from Local.Conn with a name.
func Local(t testing.TB) *rpc.Local {
	t.Helper()
	return LocalWith(t, authn.Config{Issuer: "test", Audience: "test"}, noKeys{}, clock.System{})
}

// LocalWith is Local for tests with tokens.
func LocalWith(t testing.TB, tokens authn.Config, keys authn.KeySource, clk clock.Clock) *rpc.Local {
	t.Helper()
	verifier, err := authn.NewVerifier(tokens, keys, authn.NoRevocations{}, clk)
	require.NoError(t, err)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{
		Log: pgtest.Log(t), Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clk,
		Trusts: func(string, *policy.Method) bool { return true },
	})
	require.NoError(t, err)
	return rpc.NewLocal(chain)
}

// noKeys is a key source without keys.
type noKeys struct{}

// Key returns ErrUnknownKey.
func (noKeys) Key(context.Context, string) (crypto.PublicKey, error) { return nil, authn.ErrUnknownKey }
