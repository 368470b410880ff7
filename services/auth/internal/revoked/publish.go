package revoked

import (
	"context"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/revocation"
)

const (
	// pollInterval is how often a publisher looks for revocations that other replicas could not publish, and
	// checks that its bucket exists.
	pollInterval = time.Second
	pollTimeout  = 5 * time.Second
	publishBatch = 1000
)

// Publisher copies revocations into the bucket that all processes watch. The rows in the database are
// authoritative: after a failure the publisher tries again, and it refills a bucket that was lost.
type Publisher struct {
	store    *Store
	conn     *nats.Conn
	life     time.Duration
	replicas int
	log      *slog.Logger

	bucket *revocation.Bucket
	since  int64
}

// NewPublisher returns a publisher. life is the lifetime of access tokens.
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
			p.log.WarnContext(ctx, "revocations cannot be published; services find them by polling", "error", err)
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

// publish copies the revocations since the last success.
func (p *Publisher) publish(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	if err := p.openBucket(ctx); err != nil {
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

// openBucket checks the bucket, and creates it if necessary. A new bucket gets all revocations.
func (p *Publisher) openBucket(ctx context.Context) error {
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
