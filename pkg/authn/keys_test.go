package authn_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// keyServer is an issuer whose keys and failures a test sets.
type keyServer struct {
	mu      sync.Mutex
	kids    []string
	err     error
	fetched atomic.Int32
}

func (s *keyServer) set(err error, kids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kids, s.err = kids, err
}

func (s *keyServer) fetch(context.Context) (*jose.JSONWebKeySet, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fetched.Add(1)
	if s.err != nil {
		return nil, s.err
	}
	set := &jose.JSONWebKeySet{}
	for _, kid := range s.kids {
		set.Keys = append(set.Keys, jose.JSONWebKey{KeyID: kid, Key: make(ed25519.PublicKey, ed25519.PublicKeySize)})
	}
	set.Keys = append(set.Keys, jose.JSONWebKey{KeyID: "encryption", Use: "enc", Key: make(ed25519.PublicKey, ed25519.PublicKeySize)})
	return set, nil
}

func TestKeySetFetchesOnlyWhatItMust(t *testing.T) {
	t.Parallel()
	server, clk := &keyServer{kids: []string{"a"}}, clock.NewFake(start)
	keys := authn.NewKeySet(server.fetch, clk, 0)
	known := func(kid string) bool {
		t.Helper()
		key, err := keys.Key(t.Context(), kid)
		if err != nil {
			require.ErrorIs(t, err, authn.ErrUnknownKey)
		}
		return key != nil
	}
	assert.True(t, known("a"))
	assert.True(t, known("a"))
	assert.EqualValues(t, 1, server.fetched.Load())

	// A new key is found, but invented ones do not flood the issuer.
	server.set(nil, "a", "b")
	assert.False(t, known("b"), "fetched a moment ago")
	clk.Advance(6 * time.Second)
	assert.True(t, known("b"))
	for range 10 {
		assert.False(t, known("invented"))
	}
	assert.False(t, known("encryption"), "not a key to sign with")
	assert.EqualValues(t, 2, server.fetched.Load())

	// A withdrawn key goes away once the set has grown old.
	server.set(nil, "b")
	assert.True(t, known("a"))
	clk.Advance(6 * time.Minute)
	require.Eventually(t, func() bool { return !known("a") }, 10*time.Second, time.Millisecond)
	assert.True(t, known("b"))
}

func TestKeySetOutlivesItsIssuer(t *testing.T) {
	t.Parallel()
	down := errors.New("issuer is down")
	server, clk := &keyServer{err: down}, clock.NewFake(start)
	keys := authn.NewKeySet(server.fetch, clk, 0)
	for range 3 {
		_, err := keys.Key(t.Context(), "a")
		require.ErrorIs(t, err, down, "not the same as an unknown key")
	}
	assert.EqualValues(t, 1, server.fetched.Load())

	clk.Advance(6 * time.Second)
	server.set(nil, "a")
	_, err := keys.Key(t.Context(), "a")
	require.NoError(t, err)

	server.set(down)
	clk.Advance(time.Hour)
	_, err = keys.Key(t.Context(), "a")
	require.NoError(t, err, "an old key is better than none")
	require.Eventually(t, func() bool { return server.fetched.Load() == 3 }, 10*time.Second, time.Millisecond)
}

func TestKeySetFetchesOnceForMany(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int32
	release := make(chan struct{})
	server := &keyServer{kids: []string{"a"}}
	keys := authn.NewKeySet(func(ctx context.Context) (*jose.JSONWebKeySet, error) {
		fetched.Add(1)
		<-release
		return server.fetch(ctx)
	}, clock.NewFake(start), 0)

	gaveUp, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := keys.Key(t.Context(), "a")
			assert.NoError(t, err)
		})
	}
	require.Eventually(t, func() bool { return fetched.Load() == 1 }, 10*time.Second, time.Millisecond)
	cancel()
	_, err := keys.Key(gaveUp, "a")
	require.ErrorIs(t, err, context.Canceled)
	close(release)
	wg.Wait()
	assert.EqualValues(t, 1, fetched.Load())
}
