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
	// stopAfter is how long attempts that run may take when the process stops.
	stopAfter = 5 * time.Second
	// settleTimeout bounds storing what became of an attempt.
	settleTimeout = 10 * time.Second
)

// Deps are what a Sender works with.
type Deps struct {
	Pool *pg.Pool
	// Transports are by channel.
	Transports map[string]Transport
	Clock      clock.Clock
	Log        *slog.Logger
	Registry   prometheus.Registerer
}

// Sender tries deliveries until they are settled.
type Sender struct {
	cfg  Config
	deps Deps
	wake chan struct{}

	mu sync.Mutex
	// running counts attempts by tenant.
	running map[int64]int
	total   int
	metrics *metrics
}

// NewSender makes a Sender. It does not touch the database.
func NewSender(cfg Config, deps Deps) (*Sender, error) {
	s := &Sender{cfg: defaults.Fill(cfg), deps: deps, wake: make(chan struct{}, 1), running: map[int64]int{}}
	var err error
	s.metrics, err = newMetrics(deps.Registry)
	return s, err
}

// GiveUpAt is until when a delivery that is stored now is tried.
func (s *Sender) GiveUpAt() time.Time { return s.deps.Clock.Now().Add(s.cfg.GiveUpAfter) }

// Wake notifies the Sender that there is something to send.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends, and forgets what is settled for long, until ctx ends. Attempts that run
// then have some seconds to end.
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

// begin begins attempts of what is due, and returns whether there may be more.
func (s *Sender) begin(ctx, attempting context.Context, group *sync.WaitGroup) bool {
	share := max(s.cfg.Concurrency/2, 1)
	s.mu.Lock()
	free := s.cfg.Concurrency - s.total
	var full []int64
	for id, n := range s.running {
		if n >= share {
			full = append(full, id)
		}
		share = min(share, max(s.cfg.Concurrency/2-n, 1))
	}
	s.mu.Unlock()
	if free <= 0 || ctx.Err() != nil {
		return false
	}
	list, err := claimDue(ctx, s.deps.Pool, s.deps.Clock.Now(), s.cfg.Lease, free, share, full)
	if err != nil {
		if ctx.Err() == nil {
			s.deps.Log.WarnContext(ctx, "deliveries of messages could not be claimed", "error", err)
		}
		return false
	}
	for _, d := range list {
		s.note(d.Tenant, 1)
		group.Go(func() {
			defer s.Wake()
			defer s.note(d.Tenant, -1)
			s.attempt(tenant.With(attempting, d.Tenant), d)
		})
	}
	return len(list) > 0
}

// note counts an attempt that begins or ends.
func (s *Sender) note(tenantID int64, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += by
	if s.running[tenantID] += by; s.running[tenantID] == 0 {
		delete(s.running, tenantID)
	}
}

// attempt tries a delivery once, and stores what became of it.
func (s *Sender) attempt(ctx context.Context, d *Delivery) {
	o := outcome{started: s.deps.Clock.Now()}
	o.result, o.state, o.next = s.send(ctx, d)
	o.ended = s.deps.Clock.Now()
	s.metrics.attempts.WithLabelValues(strings.ToLower(d.Channel), strings.ToLower(o.state)).Inc()
	if o.state != Delivered {
		s.deps.Log.InfoContext(ctx, "a delivery failed", "delivery", d.UID, "channel", d.Channel, "attempt", d.Attempts, "state", o.state, "result", o.result)
	}
	// What was sent was sent, whether the process stops or not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	if err := settle(ctx, s.deps.Pool, d, o); err != nil {
		s.deps.Log.WarnContext(ctx, "what became of a delivery could not be stored; it will be tried again", "delivery", d.UID, "error", err)
	}
}

func (s *Sender) send(ctx context.Context, d *Delivery) (result, state string, next time.Time) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Lease/2)
	defer cancel()
	transport := s.deps.Transports[d.Channel]
	if transport == nil {
		return fmt.Sprintf("There is no transport for %s.", d.Channel), Failed, s.deps.Clock.Now()
	}
	result, err := s.try(ctx, transport, d)
	now := s.deps.Clock.Now()
	if err == nil {
		return truncateError(result), Delivered, now
	}
	wait := (&backoff.Backoff{First: s.cfg.RetryFirst, Max: s.cfg.RetryMax}).After(d.Attempts)
	var known *Error
	if errors.As(err, &known) {
		wait = max(wait, min(known.RetryAfter, s.cfg.RetryMax))
		if known.Cause != nil {
			s.deps.Log.InfoContext(ctx, "why a delivery failed", "delivery", d.UID, "cause", known.Cause)
		}
	}
	switch next = now.Add(wait); {
	case known != nil && known.Permanent:
		return truncateError(err.Error()), Failed, now
	case next.After(d.GiveUpAt):
		return truncateError(err.Error()), Failed, now
	}
	return truncateError(err.Error()), Pending, next
}

// try hands a delivery to its transport. A panic there is the end of this delivery, which
// would panic again, and not of the process.
func (s *Sender) try(ctx context.Context, transport Transport, d *Delivery) (result string, err error) {
	defer func() {
		var panicked *panics.Error
		if errors.As(err, &panicked) {
			s.deps.Log.ErrorContext(ctx, "a transport panicked", "delivery", d.UID, "channel", d.Channel, "error", panicked)
			err = Refused("The server failed to send this. Its operator finds the reason in the log.")
		}
	}()
	defer panics.ToError(&err)
	return transport.Send(ctx, d)
}

// truncateError is as much of what another side said as is kept.
func truncateError(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "")
	}
	return text
}

// purge removes what is settled for long.
func (s *Sender) purge(ctx context.Context) {
	for {
		now := s.deps.Clock.Now()
		n, err := sweep(ctx, s.deps.Pool, now.Add(-s.cfg.Keep), now, sweepBatch)
		if err != nil && ctx.Err() == nil {
			s.deps.Log.WarnContext(ctx, "old deliveries could not be forgotten", "error", err)
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
