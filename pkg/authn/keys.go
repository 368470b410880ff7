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

// ErrUnknownKey says that a token names a key that its issuer does not have.
var ErrUnknownKey = errors.New("the key of the token is not known")

// KeySource returns the public key with a given id. It returns ErrUnknownKey
// when there is none; any other error means that it could not find out.
type KeySource interface {
	Key(ctx context.Context, kid string) (crypto.PublicKey, error)
}

// Fetch gets the present key set of an issuer.
type Fetch func(ctx context.Context) (*jose.JSONWebKeySet, error)

const (
	// keysMinInterval keeps tokens with invented key ids from making us flood
	// the issuer.
	keysMinInterval = 5 * time.Second
	fetchTimeout    = 10 * time.Second
)

// KeySet is a KeySource that keeps the key set of an issuer. It fetches the
// set when it is first needed, when it has grown old and when a key is
// missing, but never twice at a time nor more often than every five seconds, or its
// life when that is shorter. An old set stays in use while the issuer cannot be reached.
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

// NewKeySet makes a KeySet; nothing is fetched yet. A key that its issuer withdrew is
// still taken for the life of the set, that of an installation that sets none when 0.
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
		// Nobody waits for the issuer because a good key has grown old.
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

// refresh fetches the set unless that was tried a moment ago, in which case
// it returns how that ended. The fetch goes on when the caller gives up, for
// those who wait with it.
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
