package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/panics"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 10_000
	// stopAfter is the time for running attempts to end when the process stops.
	stopAfter = 5 * time.Second
	// settleTimeout bounds storing the result of an attempt.
	settleTimeout = 10 * time.Second
)

// Deps are the dependencies of a Sender.
type Deps struct {
	Pool *pg.Pool
	// Transports maps channels to transports.
	Transports map[string]Transport
	Clock      clock.Clock
	Log        *slog.Logger
	Registry   prometheus.Registerer
}

// Sender attempts deliveries until they are settled.
type Sender struct {
	cfg  Config
	deps Deps
	wake chan struct{}

	mu sync.Mutex
	// running counts attempts by tenant, and endpoints contains the state of endpoints.
	running   map[int64]int
	endpoints map[endpoint]load
	total     int
	shares    shares
	metrics   *metrics
}

// NewSender returns a Sender. It does not access the database.
func NewSender(cfg Config, deps Deps) (*Sender, error) {
	s := &Sender{
		cfg: defaults.Fill(cfg), deps: deps, wake: make(chan struct{}, 1), running: map[int64]int{}, endpoints: map[endpoint]load{},
	}
	s.shares = computeShares(s.cfg.Concurrency)
	var err error
	s.metrics, err = newMetrics(deps.Registry)
	return s, err
}

// GiveUpAt returns the end of the retry time of a delivery that is stored now.
func (s *Sender) GiveUpAt() time.Time { return s.deps.Clock.Now().Add(s.cfg.GiveUpAfter) }

// Wake tells the Sender that there may be due deliveries.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends deliveries, and removes old settled ones, until ctx ends. Running attempts then get some seconds to
// finish.
func (s *Sender) Run(ctx context.Context) error {
	ctx = tenant.All(ctx)
	attempting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	defer func() {
		end := time.AfterFunc(stopAfter, cancel)
		group.Wait()
		end.Stop()
		cancel()
	}()
	poll, sweeps := time.NewTicker(s.cfg.PollEvery), time.NewTicker(sweepEvery)
	defer poll.Stop()
	defer sweeps.Stop()
	s.purge(ctx)
	for {
		for s.begin(ctx, attempting, &group) {
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
		case <-poll.C:
		case <-sweeps.C:
			s.purge(ctx)
		}
	}
}

// begin begins attempts of due deliveries, and reports whether there may be more.
func (s *Sender) begin(ctx, attempting context.Context, group *sync.WaitGroup) bool {
	now := s.deps.Clock.Now()
	free := s.room(now)
	if free.total <= 0 || ctx.Err() != nil {
		return false
	}
	list, err := claimDue(ctx, s.deps.Pool, now, s.cfg.Lease, s.shares, free)
	if err != nil {
		if ctx.Err() == nil {
			s.deps.Log.WarnContext(ctx, "deliveries of messages could not be claimed", "error", err)
		}
		return false
	}
	for _, d := range list {
		s.note(d, 1)
		group.Go(func() {
			s.attemptDelivery(tenant.With(attempting, d.Tenant), d)
		})
	}
	return len(list) > 0
}

// attemptDelivery attempts a delivery once, and stores the result.
func (s *Sender) attemptDelivery(ctx context.Context, d *Delivery) {
	o := s.send(ctx, d)
	s.judge(d, o)
	s.note(d, -1)
	s.Wake()
	if wait := o.started.Add(o.conceal).Sub(o.ended); wait > 0 {
		o = s.delay(ctx, o, wait)
	}
	s.metrics.attempts.WithLabelValues(strings.ToLower(d.Channel), strings.ToLower(o.state)).Inc()
	if o.state != Delivered {
		s.deps.Log.Log(ctx, failureLevel(d, o), "a delivery failed", "delivery", d.UID, "channel", d.Channel, "attempt", d.Attempts, "state", o.state, "result", o.result)
	}
	// Store the result even if the process stops.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := settle(ctx, s.deps.Pool, d, o); err != nil {
		s.deps.Log.WarnContext(ctx, "the result of a delivery could not be stored; the attempt will be repeated", "delivery", d.UID, "error", err)
	}
}

// failureLevel returns the level of the line about a failed attempt. Attempts between the first and the last one are
// lines for debugging only, because a transport that is away fails all of them.
func failureLevel(d *Delivery, o outcome) slog.Level {
	if o.state == Pending && d.Attempts > 1 {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// delay waits, unless the process stops, and returns the outcome with later times, as if the attempt had taken
// longer.
func (s *Sender) delay(ctx context.Context, o outcome, wait time.Duration) outcome {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	o.ended = o.ended.Add(wait)
	if o.state == Pending {
		o.next = o.next.Add(wait)
	}
	return o
}

// send passes a delivery to its transport, and returns the outcome.
func (s *Sender) send(ctx context.Context, d *Delivery) (o outcome) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Lease/2)
	defer cancel()
	o.started = s.deps.Clock.Now()
	transport := s.deps.Transports[d.Channel]
	if transport == nil {
		o.ended, o.next, o.state, o.result = o.started, o.started, Failed, fmt.Sprintf("There is no transport for %s.", d.Channel)
		return o
	}
	result, err := s.try(ctx, transport, d)
	now := s.deps.Clock.Now()
	o.ended, o.next = now, now
	if err == nil {
		o.result, o.state = truncateError(result), Delivered
		return o
	}
	wait := (&backoff.Backoff{First: s.cfg.RetryFirst, Max: s.cfg.RetryMax}).After(d.Attempts)
	var known *Error
	if errors.As(err, &known) {
		wait, o.conceal = max(wait, min(known.RetryAfter, s.cfg.RetryMax)), known.Conceal
		if known.Cause != nil {
			s.deps.Log.DebugContext(ctx, "cause of a failed delivery", "delivery", d.UID, "cause", known.Cause)
		}
	}
	o.result, o.state = truncateError(err.Error()), Failed
	if next := now.Add(wait); (known == nil || !known.Permanent) && !next.After(d.GiveUpAt) {
		o.state, o.next = Pending, next
	}
	return o
}

// try calls the transport. A panic ends only this delivery, permanently, because it would repeat; it does not
// end the process.
func (s *Sender) try(ctx context.Context, transport Transport, d *Delivery) (result string, err error) {
	defer func() {
		var panicked *panics.Error
		if errors.As(err, &panicked) {
			s.deps.Log.ErrorContext(ctx, "a transport panicked", "delivery", d.UID, "channel", d.Channel, "error", panicked)
			err = Refused("The server failed to send this. Its operator can find the reason in the log.")
		}
	}()
	defer panics.ToError(&err)
	return transport.Send(ctx, d)
}

// truncateError returns the part of the other side's response that is stored.
func truncateError(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "")
	}
	return text
}

// purge removes old settled deliveries, and counts the pending ones.
func (s *Sender) purge(ctx context.Context) {
	for {
		now := s.deps.Clock.Now()
		n, err := sweep(ctx, s.deps.Pool, now.Add(-s.cfg.Keep), now, sweepBatch)
		if err != nil && ctx.Err() == nil {
			s.deps.Log.WarnContext(ctx, "old deliveries could not be removed", "error", err)
		}
		if err != nil || n < sweepBatch {
			break
		}
	}
	var waiting float64
	if err := s.deps.Pool.QueryRow(ctx, `SELECT count(*) FROM notification_delivery WHERE state = 'PENDING'`).Scan(&waiting); err == nil {
		s.metrics.pending.Set(waiting)
	}
}
