package outbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// leaderSession is the state of a relay while it holds the lock.
type leaderSession struct {
	*Relay
	conn        *pgx.Conn
	wakeups     *nats.Subscription
	reconnected chan nats.Status

	// highest is the last known sequence of each stream. It is empty until the first comparison
	// after the broker connects.
	highest map[string]uint64
	// compared reports whether the table was compared with the broker since then.
	compared          bool
	sinceHousekeeping clock.Stopwatch
}

func (s *leaderSession) end() {
	_ = s.wakeups.Unsubscribe() // It fails only if the connection is closed.
	s.opts.Bus.Conn().RemoveStatusListener(s.reconnected)
}

// brokerError is a failure of the broker, after which the relay tries again. Other errors end the
// session.
type brokerError struct{ error }

func (e brokerError) Unwrap() error { return e.error }

func (s *leaderSession) run(ctx context.Context) error {
	idle, away := s.opts.Poll, backoff.Backoff{First: firstRetry, Max: maxRetry}
	for ctx.Err() == nil {
		sent, err := s.step(ctx)
		var broker brokerError
		switch {
		case ctx.Err() != nil: // The error is a consequence of the shutdown.
			return ctx.Err()
		case errors.As(err, &broker):
			s.metrics.failures.Inc()
			if away.Attempts() == 0 { // Log once for each outage.
				s.opts.Log.WarnContext(ctx, "events wait in the outbox for the broker", "error", err)
			}
			s.compared = false
			s.await(ctx, away.Next())
			continue
		case err != nil:
			return err
		case sent == s.opts.Batch:
			idle = s.opts.Poll // More events wait.
		case sent > 0:
			idle = s.opts.Poll
			s.pause(ctx, idle)
		case s.pause(ctx, idle):
			idle = s.opts.Poll
		default:
			idle = min(2*idle, s.opts.IdlePoll)
		}
		away.Reset()
	}
	return ctx.Err()
}

// await waits until the broker reconnects or d has passed.
func (s *leaderSession) await(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-s.reconnected:
	}
}

// step runs the due housekeeping and publishes one batch. It returns the size of the batch.
func (s *leaderSession) step(ctx context.Context) (int, error) {
	select {
	case <-s.reconnected:
		s.compared = false
	default:
	}
	due := s.sinceHousekeeping.Elapsed() >= s.opts.Housekeeping
	if due {
		if err := s.measure(ctx); err != nil {
			return 0, err
		}
		s.sinceHousekeeping = clock.Start()
	}
	if !s.compared {
		if err := s.opts.Bus.EnsureStreams(ctx); err != nil {
			return 0, brokerError{err}
		}
	}
	if due || !s.compared {
		// Compare before publishing, which might hide a loss.
		if err := s.compare(ctx); err != nil {
			return 0, err
		}
		s.compared = true
	}
	if due {
		if err := s.purge(ctx); err != nil {
			return 0, err
		}
		if err := s.purgeAttempts(ctx); err != nil {
			return 0, err
		}
	}
	return s.publish(ctx)
}

// row is an event to publish.
type row struct {
	id      int64
	stream  string
	message *nats.Msg
}

func (s *leaderSession) readUnsent(ctx context.Context) ([]row, error) {
	rows, err := s.conn.Query(ctx, `
		SELECT id, tenant_id, event_id::text, stream, subject, event, payload, request_id, traceparent
		FROM outbox WHERE sent_at IS NULL ORDER BY id LIMIT $1`, s.opts.Batch)
	if err != nil {
		return nil, fmt.Errorf("outbox: read: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(in pgx.CollectableRow) (r row, err error) {
		var tenantID int64
		var eventID, subject, event, request, trace string
		var payload []byte
		if err := in.Scan(&r.id, &tenantID, &eventID, &r.stream, &subject, &event, &payload, &request, &trace); err != nil {
			return r, err
		}
		r.message = &nats.Msg{Subject: subject, Data: payload, Header: nats.Header{
			bus.HeaderID:     {eventID},
			bus.HeaderTenant: {strconv.FormatInt(tenantID, 10)},
			bus.HeaderEvent:  {event},
		}}
		if request != "" {
			r.message.Header.Set(bus.HeaderRequest, request)
		}
		if trace != "" {
			r.message.Header.Set(bus.HeaderTraceparent, trace)
		}
		return r, nil
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: read: %w", err)
	}
	return found, nil
}

// publish sends the next batch and marks the events that the broker accepted. Rows are in the order
// of their ids, which may differ from the order of their commits; a row that appears late is
// unsent, and is found too.
func (s *leaderSession) publish(ctx context.Context) (int, error) {
	rows, err := s.readUnsent(ctx)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	responses := make([]jetstream.PubAckFuture, 0, len(rows))
	var failure error
	for _, r := range rows {
		response, err := s.js.PublishMsgAsync(r.message, jetstream.WithStallWait(s.opts.AckTimeout))
		if err != nil {
			failure = err
			break
		}
		responses = append(responses, response)
	}
	accepted := batch{highest: map[string]uint64{}, lost: map[string]bool{}}
	for i, response := range responses {
		select {
		case ack := <-response.Ok():
			accepted.add(rows[i], ack, s.highest)
		case err := <-response.Err():
			failure = err
		case <-ctx.Done(): // Unmarked events are sent again, and dropped by the broker.
			return 0, ctx.Err()
		}
	}
	if err := s.mark(ctx, accepted); err != nil {
		return 0, err
	}
	if failure != nil {
		return 0, brokerError{fmt.Errorf("outbox: publish: %w", failure)}
	}
	return len(rows), nil
}

// batch collects the acknowledgements of the broker.
type batch struct {
	ids     []int64
	highest map[string]uint64
	lost    map[string]bool
}

// add records an acknowledgement. A stream that gives a new message a used sequence number has lost
// the old message.
func (b *batch) add(r row, ack *jetstream.PubAck, highest map[string]uint64) {
	b.ids = append(b.ids, r.id)
	b.highest[r.stream] = max(b.highest[r.stream], ack.Sequence)
	if !ack.Duplicate && ack.Sequence <= highest[r.stream] {
		b.lost[r.stream] = true
	}
}

func (s *leaderSession) mark(ctx context.Context, accepted batch) error {
	if len(accepted.ids) == 0 {
		return nil
	}
	for stream := range accepted.lost {
		if err := s.requeue(ctx, stream, "its sequence went back"); err != nil {
			return err
		}
		s.highest[stream] = 0
	}
	var statements pgx.Batch
	statements.Queue("UPDATE outbox SET sent_at = clock_timestamp() WHERE sent_at IS NULL AND id = any($1)", accepted.ids)
	for stream, sequence := range accepted.highest {
		s.highest[stream] = max(s.highest[stream], sequence)
		statements.Queue("UPDATE outbox_stream SET last_sequence = $2 WHERE stream = $1", stream, s.highest[stream])
	}
	if err := s.conn.SendBatch(ctx, &statements).Close(); err != nil {
		return fmt.Errorf("outbox: mark as sent: %w", err)
	}
	s.metrics.published.Add(float64(len(accepted.ids)))
	return nil
}
