package cache

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/panics"
)

// Key names what a Loader loads. Different keys have different texts.
type Key interface {
	comparable
	fmt.Stringer
}

// LoaderConfig says how a Loader loads, and how much it keeps.
type LoaderConfig[V any] struct {
	Config[V]
	// TTL is for how long a value counts, from when its loading began.
	TTL func(V) time.Duration
	// Timeout bounds the time that loading may take.
	Timeout time.Duration
}

// Loader is a cache that loads what it does not have, once for all who ask at the
// same time. It is safe for concurrent use.
type Loader[K Key, V any] struct {
	cfg    LoaderConfig[V]
	clock  clock.Clock
	flight singleflight.Group
	cache  *Cache[K, V]
}

// NewLoader returns a Loader that has loaded nothing yet.
func NewLoader[K Key, V any](clk clock.Clock, cfg LoaderConfig[V]) *Loader[K, V] {
	return &Loader[K, V]{cfg: cfg, clock: clk, cache: New[K](clk, cfg.Config)}
}

// Get returns the value of a key that is kept, or else what load returns, which is
// kept when it is no error. Those who ask meanwhile wait for the same value, and
// still get it when the first of them has given up. A panic of load is an error.
func (l *Loader[K, V]) Get(ctx context.Context, key K, load func(context.Context) (V, error)) (V, error) {
	if value, ok := l.cache.Get(key); ok {
		return value, nil
	}
	loading := l.flight.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.Timeout)
		defer cancel()
		// What changed while it was loaded may not be in the value.
		began := l.clock.Now()
		value, err := attempt(ctx, load)
		if err == nil {
			l.cache.Put(key, value, began.Add(l.cfg.TTL(value)))
		}
		return value, err
	})
	var none V
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case result := <-loading:
		if result.Err != nil {
			return none, result.Err
		}
		return result.Val.(V), nil
	}
}

// attempt calls load in the goroutine of the flight, where nobody else would
// recover from a panic.
func attempt[V any](ctx context.Context, load func(context.Context) (V, error)) (value V, err error) {
	defer panics.ToError(&err)
	return load(ctx)
}
