package revocation

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// checkEvery is the time between two checks that the watched bucket was not replaced, and
	// checkTimeout bounds one check.
	checkEvery   = 2 * time.Second
	checkTimeout = time.Second
	rewatchAfter = 250 * time.Millisecond
)

var errEnded = errors.New("revocations: the watch ended")

// watch follows the bucket until ctx ends. It only speeds up the view: the rounds find revocations
// that it misses.
func (v *View) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := v.watchOnce(ctx); err != nil && ctx.Err() == nil {
			v.log.DebugContext(ctx, "the watch of revocations failed; trying again", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(rewatchAfter):
		}
	}
}

// watchOnce follows the bucket until it is replaced or the watch ends.
func (v *View) watchOnce(ctx context.Context) error {
	js, err := jetstream.New(v.conn)
	if err != nil {
		return fmt.Errorf("revocations: %w", err)
	}
	b, err := openBucket(ctx, js)
	if err != nil {
		return err
	}
	watcher, err := b.kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("revocations: watch: %w", err)
	}
	defer func() { _ = watcher.Stop() }() // The connection may be closed.
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case entry, ok := <-watcher.Updates():
			if !ok {
				return errEnded
			}
			v.apply(entry)
		case <-check.C:
			if err := b.check(ctx); err != nil {
				return err
			}
		}
	}
}

func openBucket(ctx context.Context, js jetstream.JetStream) (*Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	kv, err := js.KeyValue(ctx, BucketName)
	if err != nil {
		return nil, fmt.Errorf("revocations: find the bucket: %w", err)
	}
	created, err := createdAt(ctx, kv)
	if err != nil {
		return nil, err
	}
	return &Bucket{kv: kv, Created: created}, nil
}

func (b *Bucket) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return b.CheckUnchanged(ctx)
}

// apply adds an entry of the bucket. nil marks the end of the initial entries.
func (v *View) apply(entry jetstream.KeyValueEntry) {
	if entry == nil {
		return
	}
	seconds, err := strconv.ParseInt(string(entry.Value()), 10, 64)
	if err != nil {
		v.log.Warn("an entry of the bucket of revocations cannot be read", "key", entry.Key())
		return
	}
	v.add(entry.Key(), time.Unix(seconds, 0))
}
