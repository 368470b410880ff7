package cache

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/panics"
)

// Key identifies a value of a Loader. Different keys have different texts.
type Key interface {
	comparable
	fmt.Stringer
}

// LoaderConfig bounds the loading and the cache of a Loader.
type LoaderConfig[V any] struct {
	Config[V]
	// TTL returns how long a value is valid after its loading began.
	TTL func(V) time.Duration
	// Timeout bounds one load.
	Timeout time.Duration
}

// Loader is a cache that loads missing values, once for all concurrent callers. It is safe for
// concurrent use.
type Loader[K Key, V any] struct {
	cfg    LoaderConfig[V]
	clock  clock.Clock
	flight singleflight.Group
	cache  *Cache[K, V]
}

// NewLoader returns an empty Loader.
func NewLoader[K Key, V any](clk clock.Clock, cfg LoaderConfig[V]) *Loader[K, V] {
	return &Loader[K, V]{cfg: cfg, clock: clk, cache: New[K](clk, cfg.Config)}
}

// Get returns the cached value of a key, or else the result of load, which it caches unless it is
// an error. Concurrent callers wait for the same load, and still get its result if the first caller
// gives up. A panic of load becomes an error.
func (l *Loader[K, V]) Get(ctx context.Context, key K, load func(context.Context) (V, error)) (V, error) {
	if value, ok := l.cache.Get(key); ok {
		return value, nil
	}
	loading := l.flight.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.cfg.Timeout)
		defer cancel()
		// The value may lack changes since its loading began.
		began := l.clock.Now()
		value, err := attemptLoad(ctx, load)
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

// attemptLoad calls load and turns a panic into an error: in the goroutine of the flight, no other code
// would recover from it.
func attemptLoad[V any](ctx context.Context, load func(context.Context) (V, error)) (value V, err error) {
	defer panics.ToError(&err)
	return load(ctx)
}
