package revoked

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/revocation"
)

const (
	// pollInterval is how often a publisher looks for what other replicas revoked
	// and could not publish, and whether its bucket is still there.
	pollInterval = time.Second
	pollTimeout  = 5 * time.Second
	publishBatch = 1000
)

// Publisher puts revocations into the bucket that every process watches. The
// rows are the truth: what could not be put is put later, and everything is put
// again into a bucket that lost it.
type Publisher struct {
	store    *Store
	conn     *nats.Conn
	life     time.Duration
	replicas int
	log      *slog.Logger

	bucket *revocation.Bucket
	since  int64
}

// NewPublisher makes a publisher for access tokens that live as long as given.
func NewPublisher(store *Store, conn *nats.Conn, life time.Duration, replicas int, log *slog.Logger) *Publisher {
	return &Publisher{store: store, conn: conn, life: life, replicas: max(replicas, 1), log: log}
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) error {
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	working := true
	for {
		err := p.publish(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && working {
			p.log.WarnContext(ctx, "revocations cannot be published; services find them by asking", "error", err)
		}
		working = err == nil
		select {
		case <-ctx.Done():
			return nil
		case <-look.C:
		case <-p.store.wake:
		}
	}
}

// publish puts what came since the last time that it succeeded.
func (p *Publisher) publish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	if err := p.open(ctx); err != nil {
		return err
	}
	version, key := p.since, ""
	var next int64
	for {
		rows, horizon, err := p.store.page(ctx, version, key, publishBatch)
		if err != nil {
			return err
		}
		if key == "" {
			next = horizon
		}
		for _, r := range rows {
			if err := p.bucket.Put(ctx, r.key, r.expires); err != nil {
				return err
			}
		}
		if len(rows) < publishBatch {
			break
		}
		version, key = rows[len(rows)-1].version, rows[len(rows)-1].key
	}
	p.since = next
	return nil
}

// open makes sure of the bucket. A new one gets everything.
func (p *Publisher) open(ctx context.Context) error {
	if p.bucket != nil && p.bucket.CheckUnchanged(ctx) == nil {
		return nil
	}
	p.bucket = nil
	bucket, err := revocation.EnsureBucket(ctx, p.conn, p.life+time.Minute, p.replicas)
	if err != nil {
		return err
	}
	p.bucket, p.since = bucket, 0
	return nil
}
