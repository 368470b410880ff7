package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"
)

// The broker flushes to disk every two minutes, so a crash of its machine loses acknowledged
// messages. It then comes back with a stream that ends earlier, or with none. The relay detects
// that, and publishes its stored events again. The broker drops those that it still has, by their
// ids.

// streamState is the stored state of a stream.
type streamState struct {
	created  time.Time
	sequence uint64
}

// compare finds the streams that lost messages. Only its domain's relay writes to a stream, so
// nothing else can have filled a gap at its end.
func (s *leaderSession) compare(ctx context.Context) error {
	remembered, err := s.loadStreamStates(ctx)
	if err != nil {
		return err
	}
	for _, name := range s.opts.Bus.StreamNames() {
		stream, err := s.js.Stream(ctx, name)
		if err != nil {
			return brokerError{fmt.Errorf("outbox: read the state of stream %s: %w", name, err)}
		}
		if err := s.compareStream(ctx, name, stream.CachedInfo(), remembered); err != nil {
			return err
		}
	}
	return nil
}

func (s *leaderSession) compareStream(ctx context.Context, name string, info *jetstream.StreamInfo, remembered map[string]streamState) error {
	// The database stores microseconds.
	now := streamState{created: info.Created.UTC().Truncate(time.Microsecond), sequence: info.State.LastSeq}
	before, met := remembered[name]
	var err error
	switch {
	case met && !before.created.Equal(now.created):
		err = s.requeue(ctx, name, "it was created again")
	case met && now.sequence < before.sequence:
		err = s.requeue(ctx, name, "its end is missing")
	}
	if err != nil {
		return err
	}
	s.highest[name] = now.sequence
	if met && before.created.Equal(now.created) && before.sequence == now.sequence {
		return nil
	}
	_, err = s.conn.Exec(ctx, `
		INSERT INTO outbox_stream (stream, created_at, last_sequence) VALUES ($1, $2, $3)
		ON CONFLICT (stream) DO UPDATE SET created_at = excluded.created_at, last_sequence = excluded.last_sequence`,
		name, now.created, now.sequence)
	if err != nil {
		return fmt.Errorf("outbox: remember stream %s: %w", name, err)
	}
	return nil
}

func (s *leaderSession) loadStreamStates(ctx context.Context) (map[string]streamState, error) {
	rows, err := s.conn.Query(ctx, "SELECT stream, created_at, last_sequence FROM outbox_stream")
	if err != nil {
		return nil, fmt.Errorf("outbox: read streams: %w", err)
	}
	remembered := map[string]streamState{}
	var name string
	var k streamState
	_, err = pgx.ForEachRow(rows, []any{&name, &k.created, &k.sequence}, func() error {
		remembered[name] = k
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: read streams: %w", err)
	}
	return remembered, nil
}

// requeue marks all stored events of a stream for publishing again.
func (s *leaderSession) requeue(ctx context.Context, stream, why string) error {
	tag, err := s.conn.Exec(ctx, "UPDATE outbox SET sent_at = NULL WHERE stream = $1 AND sent_at IS NOT NULL", stream)
	if err != nil {
		return fmt.Errorf("outbox: publish again: %w", err)
	}
	s.metrics.repeated.Add(float64(tag.RowsAffected()))
	s.opts.Log.ErrorContext(ctx, "the broker lost events; publishing the stored events again",
		"stream", stream, "reason", why, "events", tag.RowsAffected())
	return nil
}

// Limits of one round of deleting, so that publishing continues.
const (
	purgeBatch      = 5000
	maxPurgeBatches = 40
)

// purge deletes sent events after their retention. It runs after a comparison with the broker, so
// it never deletes events that the broker has just lost.
func (s *leaderSession) purge(ctx context.Context) error {
	for range maxPurgeBatches {
		tag, err := s.conn.Exec(ctx, `
			DELETE FROM outbox WHERE (tenant_id, id) IN (
			  SELECT tenant_id, id FROM outbox
			  WHERE sent_at < clock_timestamp() - $1::bigint * interval '1 millisecond'
			  ORDER BY sent_at LIMIT $2)`, s.opts.Retention.Milliseconds(), purgeBatch)
		if err != nil {
			return fmt.Errorf("outbox: purge: %w", err)
		}
		if tag.RowsAffected() < purgeBatch {
			return nil
		}
	}
	return nil
}

// purgeAttempts removes the attempts of messages that were never settled, once the broker no longer
// has them.
func (s *leaderSession) purgeAttempts(ctx context.Context) error {
	if _, err := s.conn.Exec(ctx, `DELETE FROM delivery_attempt WHERE updated_at < clock_timestamp() - interval '30 days'`); err != nil {
		return fmt.Errorf("outbox: purge attempts: %w", err)
	}
	return nil
}

// maxCounted bounds the work of counting during a long outage of the broker.
const maxCounted = 100_000

func (s *leaderSession) measure(ctx context.Context) error {
	var waiting int64
	var oldest float64
	err := s.conn.QueryRow(ctx, `
		SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8
		FROM (SELECT created_at FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT $1) AS waiting`,
		maxCounted).Scan(&waiting, &oldest)
	if err != nil {
		return fmt.Errorf("outbox: measure: %w", err)
	}
	s.metrics.unsent.Set(float64(waiting))
	s.metrics.oldest.Set(max(oldest, 0))
	return nil
}
