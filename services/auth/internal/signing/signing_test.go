package signing_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/auth/internal/signing"
)

// keyLife is how long keys are in use unless a test is about it.
const keyLife = 90 * 24 * time.Hour

// lifetimes says how long tokens and keys live, and key sets as long as they always do.
func lifetimes(tokens, keys time.Duration) signing.Config {
	return signing.Config{TokenLife: tokens, Life: keys, KeySetLife: 5 * time.Minute}
}

func TestReplicasShareOneKey(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	var wg sync.WaitGroup
	for range 6 {
		keys, err := signing.New(pool, present, lifetimes(time.Hour, keyLife), nil)
		require.NoError(t, err)
		wg.Go(func() {
			_, err := keys.Signer(t.Context())
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	keys, err := signing.New(pool, present, lifetimes(time.Hour, keyLife), nil)
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

// Within a second, the published keys are not read again. They are read if the next key is about to
// be created: another replica may have created it, and its tokens must be verifiable at once.
func TestPublishedKeysAreRemembered(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	keys, err := signing.New(pool, present, lifetimes(time.Hour, keyLife), nil)
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
	for i, life := range []time.Duration{0, -time.Hour, 60 * 24 * time.Hour} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := signing.New(nil, clock.System{}, lifetimes(life, keyLife), nil)
			assert.Error(t, err, life)
		})
	}
}

const wrapKey, otherWrapKey = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "HxwdHhsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA="

func parseWrapper(t *testing.T, text string) signing.Wrapper {
	t.Helper()
	w, err := signing.NewLocalWrapper(text)
	require.NoError(t, err)
	return w
}

// All services know the next key before its first token, even a service whose refreshes are blocked by tokens
// with unknown keys. The previous key is known until its last token has expired. Two replicas sign, and one
// that has just started.
func TestRotationRefusesNoToken(t *testing.T) {
	t.Parallel()
	const tokenLife = 30 * time.Minute
	pool := pooltest.New(t)
	present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	replicas := make([]*signing.Keys, 2)
	for i := range replicas {
		var err error
		replicas[i], err = signing.New(pool, present, lifetimes(tokenLife, 3*time.Hour), parseWrapper(t, wrapKey))
		require.NoError(t, err)
	}
	known := authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) { return replicas[0].Public(ctx) }, present, 0)
	used := map[string]bool{}
	type issued struct {
		token *jose.JSONWebSignature
		until time.Time
	}
	var live []issued
	// The first key ends between a look at the set and the tokens after it.
	require.NoError(t, replicas[0].Maintain(t.Context()))
	present.Advance(59 * time.Second)
	for minute := range 12 * 60 {
		_, err := known.Key(t.Context(), "a key that nobody has")
		require.ErrorIs(t, err, authn.ErrUnknownKey)
		present.Advance(2 * time.Second) // It does not ask again so soon.
		require.NoError(t, replicas[minute/7%2].Maintain(t.Context()))
		started, err := signing.New(pool, present, lifetimes(tokenLife, 3*time.Hour), parseWrapper(t, wrapKey))
		require.NoError(t, err)
		for _, replica := range append(replicas[:2:2], started) {
			signer, err := replica.Signer(t.Context())
			require.NoError(t, err)
			token, err := authn.Sign(signer, map[string]string{})
			require.NoError(t, err)
			signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
			require.NoError(t, err)
			used[signed.Signatures[0].Header.KeyID] = true
			live = append(live, issued{signed, present.Now().Add(tokenLife)})
		}
		for !present.Now().Before(live[0].until) {
			live = live[1:]
		}
		newest, lastMinute := present.Now().Add(tokenLife), present.Now().Add(time.Minute)
		for _, each := range live {
			public, err := known.Key(t.Context(), each.token.Signatures[0].Header.KeyID)
			require.NoError(t, err, "minute %d", minute)
			// Verify each token in the first and the last minute of its life: more often costs the race
			// detector minutes.
			if each.until.Equal(newest) || !each.until.After(lastMinute) {
				_, err = each.token.Verify(public)
				require.NoError(t, err, "minute %d", minute)
			}
		}
		present.Advance(58 * time.Second)
	}
	assert.Greater(t, len(used), 3, "keys were rotated")
	assert.Less(t, len(used), 8, "one after another")
}

// If no process maintained the keys in time, the next key signs as soon as the current one must not. A third
// key, which no service knows, is not created.
func TestThePublishedKeySignsEarlyRatherThanAnUnknownOne(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	keys, err := signing.New(pool, present, lifetimes(30*time.Minute, 3*time.Hour), nil)
	require.NoError(t, err)
	_, err = keys.Signer(t.Context())
	require.NoError(t, err)
	present.Advance(2*time.Hour + 25*time.Minute)
	require.NoError(t, keys.Maintain(t.Context()))
	present.Advance(6 * time.Minute)
	_, err = keys.Signer(t.Context())
	require.NoError(t, err)
	set, err := keys.Public(t.Context())
	require.NoError(t, err)
	assert.Len(t, set.Keys, 2)
}

// An operator has the keys replaced at any time, and so does a key that was stored in the
// clear: copies of the database may hold it. The tokens of before stay valid until they
// end, and the key of before goes with the last one.
func TestKeysRetire(t *testing.T) {
	t.Parallel()
	const tokenLife, step = 30 * time.Minute, time.Minute
	for name, c := range map[string]struct {
		before signing.Wrapper
		retire func(t *testing.T, pool *pg.Pool, now time.Time)
	}{
		"by an operator": {parseWrapper(t, wrapKey), func(t *testing.T, pool *pg.Pool, now time.Time) {
			n, err := signing.Retire(t.Context(), pool, now)
			require.NoError(t, err)
			assert.EqualValues(t, 1, n)
		}},
		"after it was stored in the clear": {nil, func(*testing.T, *pg.Pool, time.Time) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pooltest.New(t)
			present := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
			replica := func(w signing.Wrapper) *signing.Keys {
				keys, err := signing.New(pool, present, lifetimes(tokenLife, keyLife), w)
				require.NoError(t, err)
				return keys
			}
			key := func(k *signing.Keys) string {
				signer, err := k.Signer(t.Context())
				require.NoError(t, err)
				token, err := authn.Sign(signer, map[string]string{})
				require.NoError(t, err)
				signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
				require.NoError(t, err)
				return signed.Signatures[0].Header.KeyID
			}
			first := key(replica(c.before))
			replicas := []*signing.Keys{replica(parseWrapper(t, wrapKey)), replica(parseWrapper(t, wrapKey))}
			require.Equal(t, first, key(replicas[1]))
			c.retire(t, pool, present.Now())
			published, lastOfFirst := map[string]time.Time{}, time.Time{}
			for minute := range 90 {
				require.NoError(t, replicas[minute%2].Maintain(t.Context()))
				require.NoError(t, replicas[1-minute%2].Maintain(t.Context()))
				set, err := replicas[0].Public(t.Context())
				require.NoError(t, err)
				for _, k := range set.Keys {
					if _, seen := published[k.KeyID]; !seen {
						published[k.KeyID] = present.Now()
					}
				}
				for _, k := range replicas {
					switch used := key(k); used {
					case first:
						lastOfFirst = present.Now()
						assert.NotEmpty(t, set.Key(first))
					default:
						assert.GreaterOrEqual(t, present.Now().Sub(published[used]), 10*time.Minute, "it was published ahead")
					}
				}
				if present.Now().Before(lastOfFirst.Add(tokenLife)) {
					assert.NotEmpty(t, set.Key(first), "minute %d", minute)
				}
				if minute >= 50 {
					assert.Empty(t, set.Key(first), "minute %d", minute)
				}
				present.Advance(step)
			}
			assert.Len(t, published, 2, "one key for another")
			assert.Less(t, lastOfFirst.Sub(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), 12*time.Minute)
		})
	}
}

// A key that an operator removes stops signing after the next check.
func TestARemovedKeySignsNoMore(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	keys, err := signing.New(pool, clock.System{}, lifetimes(time.Hour, keyLife), nil)
	require.NoError(t, err)
	before, err := keys.Public(t.Context())
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `DELETE FROM signing_key`)
	require.NoError(t, err)
	require.NoError(t, keys.Maintain(t.Context()))
	signer, err := keys.Signer(t.Context())
	require.NoError(t, err)
	token, err := authn.Sign(signer, map[string]string{})
	require.NoError(t, err)
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	require.NoError(t, err)
	assert.Empty(t, before.Key(signed.Signatures[0].Header.KeyID))
}

func TestPrivateKeysAreWrapped(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	with := func(w signing.Wrapper) *signing.Keys {
		keys, err := signing.New(pool, clock.System{}, lifetimes(time.Hour, keyLife), w)
		require.NoError(t, err)
		return keys
	}
	stored := func() (length int, wrapped bool) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT length(private_key), wrapped FROM signing_key`).Scan(&length, &wrapped))
		return length, wrapped
	}
	_, err := with(nil).Signer(t.Context())
	require.NoError(t, err)
	_, wrapped := stored()
	assert.False(t, wrapped)
	require.NoError(t, with(parseWrapper(t, wrapKey)).Maintain(t.Context()), "what is there is wrapped")
	length, wrapped := stored()
	assert.True(t, wrapped)
	assert.Greater(t, length, 32)
	_, err = with(nil).Signer(t.Context())
	assert.Error(t, err, "without the key")
	_, err = with(parseWrapper(t, otherWrapKey)).Signer(t.Context())
	assert.Error(t, err, "with another key")
	_, err = with(parseWrapper(t, otherWrapKey+"\n"+wrapKey+"\n")).Signer(t.Context())
	assert.NoError(t, err, "a key of before unwraps")
	require.NoError(t, with(parseWrapper(t, otherWrapKey+"\n"+wrapKey)).Maintain(t.Context()), "it is wrapped anew")
	_, err = with(parseWrapper(t, wrapKey)).Signer(t.Context())
	assert.Error(t, err, "with the key of before alone")
	_, err = with(parseWrapper(t, otherWrapKey)).Signer(t.Context())
	assert.NoError(t, err, "the key of before is not needed any more")
	_, err = pool.Exec(t.Context(), `UPDATE signing_key SET id = 'other ' || id`)
	require.NoError(t, err)
	_, err = with(parseWrapper(t, otherWrapKey)).Signer(t.Context())
	assert.ErrorContains(t, err, "was tampered with", "it belongs to its id")
	for _, wrong := range []string{"", "short", "AAAA"} {
		t.Run(wrong, func(t *testing.T) {
			_, err := signing.NewLocalWrapper(wrong)
			assert.Error(t, err, wrong)
		})
	}
}

func TestOthersMustNotReadTheKeyEncryptionFile(t *testing.T) {
	t.Parallel()
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o440: true, 0o640: true, 0o604: false, 0o644: false, 0o660: false} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "key")
			require.NoError(t, os.WriteFile(file, []byte(wrapKey), 0o600))
			require.NoError(t, os.Chmod(file, mode))
			_, err := signing.ReadLocalWrapper(file)
			if good {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, "chmod")
			}
		})
	}
}
