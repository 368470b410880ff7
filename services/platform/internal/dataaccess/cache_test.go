package dataaccess

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/encoding"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
)

// For some seconds, the service that finds rows may return employees that the caller no longer sees.
func TestResultsAreKeptForWhomTheCallerSees(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.handler.rules = rowvisibility.New(b.clock, colleagues{2, 3})
	manager := &authn.Principal{Tenant: 1, Subject: "m", PersonID: 1, Rows: "group", Permissions: []string{"test.A.read"}}
	ctx := authn.With(tenant.With(t.Context(), 1), manager, "")
	for name, c := range map[string]struct {
		ids  []int64
		kept bool
	}{
		"whom they see":    {[]int64{1, 2, 3}, true},
		"somebody else as": {[]int64{2, 4}, false},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(c.ids, "A_TEXT")
			req.Options = &platformv1.DataOptions{RequestTag: &name}
			response, err := b.handler.MultiReadData(ctx, req)
			require.NoError(t, err, name)
			assert.Equal(t, !c.kept, response.GetMetadata().GetNotCached(), name)
		})
	}
	over := &encoding.Result{View: query.Views()[1], Rows: []*datav1.DataRow{{Id: 2}}}
	assert.False(t, fits(over, rowvisibility.Persons(2)), "nobody can know whom a sum over a location counts")
	assert.True(t, fits(over, rowvisibility.AllPersons()))
}

func TestCache(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	req := request([]int64{1, 2}, "A_NUMBER")
	req.Options = &platformv1.DataOptions{RequestTag: proto.String("tag")}
	reads := func(want int, why string) string {
		t.Helper()
		response := b.mustAsk(t, req)
		assert.Equal(t, want, b.read, why)
		assert.Equal(t, "tag", response.GetMetadata().GetCacheKey())
		return response.GetMetadata().GetLastRefreshed()
	}
	first := reads(1, "nothing is kept yet")
	b.clock.Advance(30 * time.Second)
	req.Count = proto.Int64(1)
	assert.Equal(t, first, reads(1, "another page"))
	req.Options.Refresh = proto.Bool(true)
	assert.NotEqual(t, first, reads(2, "refresh"))
	req.Options.Refresh = nil
	reads(2, "what was refreshed is kept")
	req.Select = append(req.Select, &platformv1.DataSelect{Key: "A_TEXT"})
	reads(3, "another request")
	b.clock.Advance(time.Minute)
	reads(4, "it expired")

	made := b.mustAsk(t, request([]int64{1}, "A_NUMBER")).GetMetadata().GetCacheKey()
	again := request([]int64{1}, "A_NUMBER")
	again.Options = &platformv1.DataOptions{RequestTag: &made}
	b.mustAsk(t, again)
	assert.Equal(t, 5, b.read, "the name that was made for a result reads it again")

	ask := func(subject string, permissions ...string) {
		t.Helper()
		ctx := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: subject, Rows: "all", Permissions: append(permissions, "test.A.read")}, "")
		_, err := b.handler.MultiReadData(ctx, req)
		require.NoError(t, err)
	}
	ask("ada")
	ask("ada")
	assert.Equal(t, 6, b.read)
	ask("ben")
	ask("ada", "more")
	assert.Equal(t, 8, b.read, "nobody reads what others may")
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Now())
	c := newResults(clk, 100)
	kept := func(tag string) bool { return c.get(cacheKey{tag: tag}, [32]byte{}) != nil }
	put := func(tag string, bytes int) bool {
		return c.putResult(cacheKey{tag: tag}, &encoding.Result{Bytes: bytes, Expires: clk.Now().Add(time.Minute)})
	}
	for _, tag := range []string{"a", "b", "c", "d"} {
		t.Run(tag, func(t *testing.T) {
			assert.True(t, put(tag, 25))
		})
	}
	assert.True(t, kept("a"))
	assert.True(t, put("e", 25))
	assert.True(t, kept("a") && kept("e"))
	assert.False(t, kept("b"), "the one that was not used longest goes")
	assert.False(t, put("f", 26), "none takes more than a quarter")
	assert.Equal(t, 4, c.Len())
	clk.Advance(time.Minute)
	assert.False(t, kept("a"))
	assert.Equal(t, 3, c.Len())
}
