package gateway

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

// Nobody gets more than a part of the memory: strangers, an address, a user.
func TestMemoryOfBodiesIsShared(t *testing.T) {
	t.Parallel()
	const all = 64 << 10
	ada, eve := &authn.Principal{Tenant: 1, Subject: "ada"}, &authn.Principal{Tenant: 1, Subject: "eve"}
	b := newBodies(Config{BodyMemory: all})
	of := func(p *authn.Principal, address string) []portion {
		return b.portions(p, address)
	}
	for name, test := range map[string]struct {
		first []portion
		limit int64
		other []portion
	}{
		"a user, by any address":       {of(ada, "a"), all / userPart, of(eve, "a")},
		"strangers of one address":     {of(nil, "a"), all / strangersPart / addressPart, of(nil, "b")},
		"the client behind no user":    {of(&authn.Principal{Tenant: 1, Client: "c"}, "a"), all / userPart, of(&authn.Principal{Tenant: 1, Client: "d"}, "a")},
		"users of different tenants":   {of(ada, "a"), all / userPart, of(&authn.Principal{Tenant: 2, Subject: "ada"}, "a")},
		"strangers, and those we know": {of(nil, "a"), all / strangersPart / addressPart, of(ada, "a")},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, b.take(test.first, test.limit))
			assert.False(t, b.take(test.first, 1))
			assert.True(t, b.take(test.other, all/16), "there is room for others")
			b.give(test.other, all/16)
			b.give(test.first, test.limit)
			assert.Empty(t, b.held)
		})
	}
	for i := range userPart / addressPart {
		require.True(t, b.take(of(&authn.Principal{Subject: strings.Repeat("x", i)}, "a"), all/userPart))
	}
	assert.False(t, b.take(of(ada, "a"), 1), "an address with many users")
	assert.True(t, b.take(of(ada, "b"), 1))
}

// A body is read into no more than it needs.
func TestBuffersGrowToTheBody(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	reader := &bodyReader{limit: 1 << 20, stall: time.Minute, timeout: time.Minute, bodies: edge.bodies, metrics: edge.metrics}
	for _, size := range []int{10, firstBuffer, 100_000, 1 << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			r := newRequest(newHTTPRequest("POST", shiftsPath, `"`+strings.Repeat("x", size-2)+`"`))
			w := &response{ResponseWriter: httptest.NewRecorder()}
			require.Nil(t, edge.routes.lookup(t.Context(), w, r))
			require.Nil(t, reader.check(t.Context(), w, r))
			held := &held{of: edge.bodies.portions(nil, "a")}
			require.Nil(t, reader.readAll(w, r, held))
			assert.Len(t, r.body.text, size)
			assert.LessOrEqual(t, held.bytes, int64(max(size+1024, firstBuffer*2)))
			edge.bodies.release(held)
			assert.Empty(t, edge.bodies.held)
		})
	}
}

// Who needs no token sends little.
func TestPublicBodiesAreSmall(t *testing.T) {
	t.Parallel()
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(t, err)
	w := httptest.NewRecorder()
	edge.ServeHTTP(w, newHTTPRequest("POST", "/api/authentication/access_token", formBody+strings.Repeat("x", maxPublicBody)))
	assert.Equal(t, 413, w.Code)
	assert.Contains(t, w.Body.String(), `"error":"invalid_request"`)
}
