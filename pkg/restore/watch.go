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
	// checkEvery is how often a guard looks whether its bucket is still the one that
	// everybody uses.
	checkEvery   = 2 * time.Second
	rewatchAfter = 250 * time.Millisecond
)

var errEnded = errors.New("restore: the watch ended")

// conflicted reports whether another program wrote an entry meanwhile.
func conflicted(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence
}

// watch follows the bucket until ctx ends.
func (g *Guard) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := g.watchOnce(ctx); err != nil && ctx.Err() == nil {
			g.opts.Log.DebugContext(ctx, "the marks of other services are not watched at the moment", "error", err)
		}
		_ = backoff.Sleep(ctx, rewatchAfter) // The loop looks whether it has ended.
	}
}

// watchOnce follows the bucket as long as it is the same one.
func (g *Guard) watchOnce(ctx context.Context) error {
	b, err := openBucket(ctx, g.opts.NATS)
	if err != nil {
		return err
	}
	watcher, err := b.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("restore: watch: %w", err)
	}
	defer func() { _ = watcher.Stop() }() // The connection may be gone.
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
					g.opts.Log.WarnContext(ctx, "an entry of the bucket of marks cannot be read", "key", update.Key(), "error", err)
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

// enter begins to use a bucket that was read. What this database has witnessed of other
// services is added to it.
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
	for service, marks := range witnesses {
		for range mergeTries {
			if len(marks.Above(g.lookup(service).Marks)) == 0 {
				break
			}
			if err := g.merge(ctx, b, service, marks, false); err != nil {
				return err
			}
		}
	}
	g.hasten()
	return nil
}

// leave ends the use of the bucket.
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

// learn keeps what the bucket has of a service.
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
		g.hasten()
	}
}
