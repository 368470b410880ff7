// Package recent remembers answers for a short while, so that a question that
// many ask at a time, and again and again, is answered once.
package recent

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Key names a question. Different keys have different texts.
type Key interface {
	comparable
	fmt.Stringer
}

// Config says how long answers count, and how many are kept.
type Config[V any] struct {
	// For is for how long an answer counts, from when it was asked for.
	For func(V) time.Duration
	// Timeout bounds the time that finding an answer may take.
	Timeout time.Duration
	// Entries is the most answers that are kept, Weight the most that they weigh
	// all together. An answer that is heavier by itself is not kept.
	Entries, Weight int
	// WeightOf returns what an answer weighs.
	WeightOf func(V) int
}

// Answers remembers answers. When it is full it forgets everything: asking again
// is cheap, and answers do not live long anyway.
type Answers[K Key, V any] struct {
	cfg    Config[V]
	clock  clock.Clock
	flight singleflight.Group

	mu      sync.RWMutex
	entries map[K]entry[V]
	weight  int
}

type entry[V any] struct {
	value V
	until time.Time
}

// New makes Answers that remember nothing yet.
func New[K Key, V any](clk clock.Clock, cfg Config[V]) *Answers[K, V] {
	return &Answers[K, V]{cfg: cfg, clock: clk, entries: map[K]entry[V]{}}
}

// Get returns what is remembered of a question, or else what find answers to
// it, which is remembered when it is no error. Those who ask meanwhile wait for
// the same answer, and still get it when the first of them has given up.
func (a *Answers[K, V]) Get(ctx context.Context, key K, find func(context.Context) (V, error)) (V, error) {
	if value, ok := a.known(key); ok {
		return value, nil
	}
	asked := a.flight.DoChan(key.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Timeout)
		defer cancel()
		asked := a.clock.Now()
		value, err := found(ctx, find)
		if err == nil {
			a.keep(key, value, asked)
		}
		return value, err
	})
	var none V
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case result := <-asked:
		if result.Err != nil {
			return none, result.Err
		}
		return result.Val.(V), nil
	}
}

// found is what find answers. A panic is an error: it happens beside the requests
// that wait, and would end the program.
func found[V any](ctx context.Context, find func(context.Context) (V, error)) (value V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return find(ctx)
}

func (a *Answers[K, V]) known(key K) (V, bool) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	e, ok := a.entries[key]
	return e.value, ok && a.clock.Now().Before(e.until)
}

// keep remembers an answer. It counts from when it was asked for: what changed
// while it was looked for may not be in it.
func (a *Answers[K, V]) keep(key K, value V, asked time.Time) {
	weight := a.cfg.WeightOf(value)
	a.mu.Lock()
	defer a.mu.Unlock()
	if old, ok := a.entries[key]; ok {
		a.weight -= a.cfg.WeightOf(old.value)
		delete(a.entries, key)
	}
	if weight > a.cfg.Weight {
		return
	}
	if len(a.entries) >= a.cfg.Entries || a.weight+weight > a.cfg.Weight {
		clear(a.entries)
		a.weight = 0
	}
	a.entries[key] = entry[V]{value, asked.Add(a.cfg.For(value))}
	a.weight += weight
}
