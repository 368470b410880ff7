package authn

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
)

// ErrUnknownKey means that a token names a key that its issuer does not have.
var ErrUnknownKey = errors.New("the key of the token is not known")

// KeySource returns the public key with a given id. It returns ErrUnknownKey if the issuer has no
// such key; any other error means that it could not find out.
type KeySource interface {
	Key(ctx context.Context, kid string) (crypto.PublicKey, error)
}

// Fetch fetches the current key set of an issuer.
type Fetch func(ctx context.Context) (*jose.JSONWebKeySet, error)

const (
	// keysMinInterval keeps tokens with invented key ids from making this process flood the issuer.
	keysMinInterval = 5 * time.Second
	fetchTimeout    = 10 * time.Second
)

// KeySet is a KeySource that caches the key set of an issuer. It fetches the set on first use, when
// the set is too old, and when a key is missing. It runs one fetch at a time, and starts at most
// one every five seconds, or once in its life if that is shorter. It continues to use an old set
// while the issuer cannot be reached.
type KeySet struct {
	fetch  Fetch
	clock  clock.Clock
	life   time.Duration
	flight singleflight.Group

	mu      sync.RWMutex
	keys    map[string]crypto.PublicKey
	fetched time.Time // when the keys were fetched
	tried   time.Time // when fetching them was last tried
	lastErr error
}

// NewKeySet returns a KeySet, without fetching. It still accepts a key that the issuer withdrew for
// up to life; 0 means the default setting.
func NewKeySet(fetch Fetch, clk clock.Clock, life time.Duration) *KeySet {
	return &KeySet{fetch: fetch, clock: clk, life: cmp.Or(life, defaults.Fill(TokenSettings{}).KeySetLife)}
}

// Key returns the key with the given id.
func (s *KeySet) Key(ctx context.Context, kid string) (crypto.PublicKey, error) {
	key, fresh := s.lookup(kid)
	if key != nil && fresh {
		return key, nil
	}
	refreshed := s.refresh(ctx)
	if key != nil {
		// Do not make the caller wait for the issuer if a valid key is cached.
		return key, nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-refreshed:
		if key, _ = s.lookup(kid); key != nil {
			return key, nil
		}
		if result.Err != nil {
			return nil, result.Err
		}
		return nil, ErrUnknownKey
	}
}

func (s *KeySet) lookup(kid string) (key crypto.PublicKey, fresh bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.keys[kid], s.clock.Now().Sub(s.fetched) < s.life
}

// refresh fetches the set. If the last attempt was within keysMinInterval, refresh returns its
// error instead. The fetch continues if the caller gives up, for the other callers that wait for
// it.
func (s *KeySet) refresh(ctx context.Context) <-chan singleflight.Result {
	return s.flight.DoChan("", func() (any, error) {
		s.mu.RLock()
		tried, lastErr := s.tried, s.lastErr
		s.mu.RUnlock()
		if !tried.IsZero() && s.clock.Now().Sub(tried) < min(keysMinInterval, s.life) {
			return nil, lastErr
		}
		fetchCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTimeout)
		defer cancel()
		set, err := s.fetch(fetchCtx)
		s.update(set, err)
		return nil, err
	})
}

func (s *KeySet) update(set *jose.JSONWebKeySet, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried, s.lastErr = s.clock.Now(), err
	if err != nil {
		return
	}
	s.keys = make(map[string]crypto.PublicKey, len(set.Keys))
	for _, key := range set.Keys {
		if key.Use == "" || key.Use == "sig" {
			s.keys[key.KeyID] = key.Key
		}
	}
	s.fetched = s.tried
}
