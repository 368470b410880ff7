package signing_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
	"github.com/rotaloom/rotaloom/services/auth/migrations"
)

func TestReplicasShareOneKey(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pg.Migrations{Table: "auth_version", FS: migrations.FS})
	present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	var wg sync.WaitGroup
	for range 6 {
		keys, err := signing.New(pool, present, time.Hour)
		require.NoError(t, err)
		wg.Go(func() {
			_, err := keys.Signer(t.Context())
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	keys, err := signing.New(pool, present, time.Hour)
	require.NoError(t, err)
	set, err := keys.Public(t.Context())
	require.NoError(t, err)
	assert.Len(t, set.Keys, 1)

	// After the end of the first key only the second one is published.
	present.Advance(91 * 24 * time.Hour)
	again, err := keys.Public(t.Context())
	require.NoError(t, err)
	require.Len(t, again.Keys, 1)
	assert.NotEqual(t, set.Keys[0].KeyID, again.Keys[0].KeyID)
}

// Within a second nobody is asked for the published keys again, unless the next key
// is about to be made: maybe by another replica, whose tokens must be verified at once.
func TestPublishedKeysAreRemembered(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, pg.Migrations{Table: "auth_version", FS: migrations.FS})
	present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	keys, err := signing.New(pool, present, time.Hour)
	require.NoError(t, err)
	published := func() int {
		set, err := keys.Public(t.Context())
		require.NoError(t, err)
		return len(set.Keys)
	}
	another := func() {
		_, err := pool.Exec(t.Context(), `INSERT INTO signing_key (id, public_key, private_key, created_at, not_after)
			SELECT id || 'x', public_key, private_key, created_at, not_after FROM signing_key ORDER BY id DESC LIMIT 1`)
		require.NoError(t, err)
	}
	assert.Equal(t, 1, published())
	another()
	assert.Equal(t, 1, published())
	present.Advance(time.Second)
	assert.Equal(t, 2, published())

	// The keys end in 90 days; tokens live for an hour.
	present.Advance(90*24*time.Hour - 90*time.Minute)
	assert.Equal(t, 2, published())
	another()
	assert.Equal(t, 3, published())
}

func TestTokensMustNotOutliveKeys(t *testing.T) {
	t.Parallel()
	for _, life := range []time.Duration{0, -time.Hour, 60 * 24 * time.Hour} {
		_, err := signing.New(nil, clock.System{}, life)
		assert.Error(t, err, life)
	}
}
