package authn_test

import (
	"errors"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestExpiredTokens(t *testing.T) {
	t.Parallel()
	keys, stranger, clk := newIssuer(t), newIssuer(t), clock.NewFake(start)
	seen := &revocations{}
	v := newVerifier(t, keys, seen, clk, 0)
	over := func(c *authn.Claims) { c.NotBefore, c.Expiry = nil, jwt.NewNumericDate(start.Add(-time.Hour)) }
	for name, test := range map[string]struct {
		token string
		whose string
	}{
		"expired":               {keys.token(t, over), "ada"},
		"expired, not ours":     {stranger.token(t, over), ""},
		"for somebody else":     {keys.token(t, func(c *authn.Claims) { over(c); c.Audience = jwt.Audience{"other"} }), ""},
		"expired, of no tenant": {keys.token(t, func(c *authn.Claims) { over(c); c.Tenant = 0 }), ""},
		"not yet good":          {keys.token(t, func(c *authn.Claims) { c.NotBefore = jwt.NewNumericDate(start.Add(time.Minute)) }), ""},
		"garbage":               {"garbage", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := v.Verify(t.Context(), test.token)
			require.Error(t, err, name)
			assert.Nil(t, p, name)
			if whose := authn.DeniedPrincipal(err); assert.Equal(t, test.whose != "", whose != nil, name) && whose != nil {
				assert.Equal(t, test.whose, whose.Subject)
				assert.EqualValues(t, 7, whose.Tenant)
			}
		})
	}
	good := keys.token(t, nil)
	_, err := v.Verify(t.Context(), good)
	require.NoError(t, err)
	seen.revoked = map[string]bool{"token-1": true}
	_, err = v.Verify(t.Context(), good)
	require.Error(t, err)
	assert.Equal(t, "ada", authn.DeniedPrincipal(err).Subject, "a token that was revoked")
	seen.revoked, seen.err = nil, errors.New("away")
	_, err = v.Verify(t.Context(), good)
	require.Error(t, err)
	assert.Nil(t, authn.DeniedPrincipal(err), "nothing is known about it")
}

// A service that rejects a token invalidates it at once, and until the token's end.
func TestInvalidatedTokensAreRejectedUntilTheyExpire(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(start)
	keys := newIssuer(t)
	v := newVerifier(t, keys, authn.NoRevocations{}, clk, 0)
	good := keys.token(t, nil)
	_, known, err := v.VerifyCached(t.Context(), good)
	require.NoError(t, err)
	assert.False(t, known)
	v.Invalidate(good, fault.Unauthenticated(fault.CodeRevoked, ""))
	_, err = v.Verify(t.Context(), good)
	require.NoError(t, err, "nothing is kept of tokens that nobody verified")
	p, known, err := v.VerifyCached(t.Context(), good)
	require.NoError(t, err)
	assert.True(t, known)
	assert.Equal(t, "ada", p.Subject)
	v.Invalidate(good, fault.NotFound("WFP-1", ""))
	v.Invalidate(good, nil)
	_, err = v.Verify(t.Context(), good)
	require.NoError(t, err)
	v.Invalidate(good, fault.Unauthenticated(fault.CodeRevoked, ""))
	_, err = v.Verify(t.Context(), good)
	assert.True(t, fault.HasCode(err, fault.CodeRevoked), "%v", err)
	_, known, err = v.VerifyCached(t.Context(), good)
	assert.True(t, known)
	assert.True(t, fault.HasCode(err, fault.CodeRevoked), "%v", err)
	assert.Equal(t, "ada", authn.DeniedPrincipal(err).Subject)
	_, known, err = v.VerifyCached(t.Context(), "")
	require.NoError(t, err, "Verify says what is wrong with no token")
	assert.False(t, known)
	clk.Advance(2 * time.Hour)
	_, err = v.Verify(t.Context(), good)
	assert.True(t, fault.HasCode(err, fault.CodeUnauthenticated), "it expired: %v", err)

	asked := keys.requests
	other := keys.token(t, func(c *authn.Claims) { c.ID, c.Expiry = "token-2", jwt.NewNumericDate(start.Add(3*time.Hour)) })
	for range 2 {
		_, err = v.Verify(t.Context(), other)
		require.NoError(t, err)
	}
	v.Invalidate(other, fault.Unauthenticated(fault.CodeUnauthenticated, ""))
	_, err = v.Verify(t.Context(), other)
	require.NoError(t, err)
	assert.Equal(t, asked+2, keys.requests, "it is verified again")
}
