package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// checkEvery is the time between two checks that the bucket was not replaced.
	checkEvery   = 2 * time.Second
	rewatchAfter = 250 * time.Millisecond
)

var errEnded = errors.New("restore: the watch ended")

// isConflict reports whether another program wrote an entry in the meantime.
func isConflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// watch follows the bucket until ctx ends.
func (g *Guard) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := g.watchOnce(ctx); err != nil && ctx.Err() == nil {
			g.opts.Log.DebugContext(ctx, "the watch of the watermarks of other services failed; trying again", "error", err)
		}
		_ = backoff.Sleep(ctx, rewatchAfter) // The loop checks the context.
	}
}

// watchOnce follows the bucket until it is replaced or the watch ends.
func (g *Guard) watchOnce(ctx context.Context) error {
	b, err := openBucket(ctx, g.opts.NATS)
	if err != nil {
		return err
	}
	watcher, err := b.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("restore: watch: %w", err)
	}
	defer func() { _ = watcher.Stop() }() // The connection may be closed.
	defer g.leave()
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	found, complete := map[string]entry{}, false
	for {
		select {
		case <-ctx.Done():
			return nil
		case update, ok := <-watcher.Updates():
			switch {
			case !ok:
				return errEnded
			case update == nil && !complete:
				complete = true
				if err := g.enter(ctx, b, found); err != nil {
					return err
				}
			case update != nil:
				e, err := decodeEntry(update.Value(), update.Revision())
				if err != nil {
					g.opts.Log.WarnContext(ctx, "an entry of the bucket of watermarks cannot be read", "key", update.Key(), "error", err)
					continue
				}
				if complete {
					g.learn(update.Key(), e)
				} else {
					found[update.Key()] = e
				}
			}
		case <-check.C:
			if err := b.checkUnchanged(ctx); err != nil {
				return err
			}
		}
	}
}

// enter starts to use a bucket that was read. It adds the watermarks of other services that this
// database has witnessed.
func (g *Guard) enter(ctx context.Context, b *bucket, found map[string]entry) error {
	witnesses, err := ReadWitnesses(tenant.All(ctx), g.opts.Pool)
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.bucket, g.seen, g.missing = b, found, nil
	if !found[g.opts.Service].FirstHand {
		since := clock.Start()
		g.missing = &since
	}
	g.mu.Unlock()
	for service, watermarks := range witnesses {
		for range mergeTries {
			if len(watermarks.Above(g.lookup(service).Watermarks)) == 0 {
				break
			}
			if err := g.merge(ctx, b, service, watermarks, false); err != nil {
				return err
			}
		}
	}
	g.hastenStep()
	return nil
}

// leave stops using the bucket.
func (g *Guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bucket, g.missing = nil, nil
}

func (g *Guard) lookup(service string) entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.seen[service]
}

// learn stores the bucket's entry of a service.
func (g *Guard) learn(service string, e entry) {
	g.mu.Lock()
	if e.revision > g.seen[service].revision {
		g.seen[service] = e
	}
	own := service == g.opts.Service
	if own && e.FirstHand {
		g.missing = nil
	}
	undecided := g.state.phase == starting
	g.mu.Unlock()
	if own && undecided {
		g.hastenStep()
	}
}
