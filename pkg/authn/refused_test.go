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
)

func TestWhoseTokenIsOver(t *testing.T) {
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
		p, err := v.Verify(t.Context(), test.token)
		require.Error(t, err, name)
		assert.Nil(t, p, name)
		if whose := authn.Refused(err); assert.Equal(t, test.whose != "", whose != nil, name) && whose != nil {
			assert.Equal(t, test.whose, whose.Subject)
			assert.EqualValues(t, 7, whose.Tenant)
		}
	}
	good := keys.token(t, nil)
	_, err := v.Verify(t.Context(), good)
	require.NoError(t, err)
	seen.revoked = map[string]bool{"token-1": true}
	_, err = v.Verify(t.Context(), good)
	require.Error(t, err)
	assert.Equal(t, "ada", authn.Refused(err).Subject, "a token that was revoked")
	seen.revoked, seen.err = nil, errors.New("away")
	_, err = v.Verify(t.Context(), good)
	require.Error(t, err)
	assert.Nil(t, authn.Refused(err), "nothing is known about it")
}

func TestCallersAreRemembered(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(start)
	v := newVerifier(t, newIssuer(t), authn.NoRevocations{}, clk, 0)
	p := &authn.Principal{Tenant: 7, Subject: "\u00e5da & co=", PersonID: 11, Client: "idp-3", Expiry: start.Add(time.Minute), Permissions: []string{"x"}}
	read, ok := authn.ParseCaller(p.Caller())
	require.True(t, ok)
	assert.Equal(t, &authn.Principal{Tenant: 7, Subject: p.Subject, PersonID: 11, Client: "idp-3", Expiry: p.Expiry.Local()}, read)
	v.Remember("a token", read)
	found, err := v.Verify(t.Context(), "a token")
	require.NoError(t, err)
	assert.Same(t, read, found)
	clk.Advance(time.Minute)
	_, err = v.Verify(t.Context(), "a token")
	require.Error(t, err, "no longer than it says")
	for _, bad := range []string{"", "%", "tenant=0&person=1&until=1", "tenant=1&until=1", "tenant=1&person=1", "tenant=x&person=1&until=1"} {
		_, ok := authn.ParseCaller(bad)
		assert.False(t, ok, bad)
	}
}
