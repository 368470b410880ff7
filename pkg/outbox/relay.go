package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Options holds the dependencies and settings of a relay. The first four are required; the zero
// values of the others mean the defaults.
type Options struct {
	Pool     *pg.Pool
	Bus      *bus.Bus
	Log      *slog.Logger
	Registry prometheus.Registerer

	// Batch is the number of events that are published before the relay waits for acknowledgements;
	// 0 means 1,000.
	Batch int
	// Poll and IdlePoll are the shortest and the longest wait between two reads of the table; 0
	// means 50 ms and 1 s. A wake-up ends any wait.
	Poll, IdlePoll time.Duration
	// Retention is how long sent events stay; 0 means 3 minutes. It must be longer than the
	// broker's flush interval (2 minutes), and shorter than bus.DuplicateWindow.
	Retention time.Duration
	// Housekeeping is the interval of comparing with the broker, purging and measuring; 0 means 10
	// s.
	Housekeeping time.Duration
	// AckTimeout is the time limit for the broker's acknowledgement; 0 means 5 s.
	AckTimeout time.Duration
}

func (o Options) withDefaults() Options {
	o.Batch = cmp.Or(o.Batch, 1000)
	o.Poll = cmp.Or(o.Poll, 50*time.Millisecond)
	o.IdlePoll = max(cmp.Or(o.IdlePoll, time.Second), o.Poll)
	o.Retention = cmp.Or(o.Retention, 3*time.Minute)
	o.Housekeeping = cmp.Or(o.Housekeeping, 10*time.Second)
	o.AckTimeout = cmp.Or(o.AckTimeout, 5*time.Second)
	return o
}

// Relay publishes the events of one service's database. Every replica of the service runs one. A
// lock in the database lets one of them work, and passes on when it dies. If two ever work at once,
// the broker drops the repetitions.
type Relay struct {
	opts    Options
	metrics *metrics
	// js publishes for all sessions of the relay, and ends with the connection. It is never cleaned
	// up, because a clean-up during the first publication leaves a goroutine of the NATS client
	// behind, which waits forever.
	js   jetstream.JetStream
	wake chan struct{}
	// wakeSubject is where an idle replica forwards wake-ups to the active one.
	wakeSubject string
}

// NewRelay returns a relay, which works while Run runs. Transactions of its pool that append events
// wake it.
func NewRelay(opts Options) (*Relay, error) {
	metrics, err := newMetrics(opts.Registry)
	if err != nil {
		return nil, fmt.Errorf("outbox: register metrics: %w", err)
	}
	opts = opts.withDefaults()
	js, err := jetstream.New(opts.Bus.Conn(),
		jetstream.WithPublishAsyncMaxPending(opts.Batch),
		jetstream.WithPublishAsyncTimeout(opts.AckTimeout))
	if err != nil {
		return nil, fmt.Errorf("outbox: prepare to publish: %w", err)
	}
	r := &Relay{
		opts: opts, metrics: metrics, js: js,
		wake:        make(chan struct{}, 1),
		wakeSubject: "rotaloom_wake." + opts.Pool.Database(),
	}
	opts.Pool.Listen(Appended, r.notify)
	return r, nil
}

// notify tells the relay that events were committed. It does not block.
func (r *Relay) notify() {
	select {
	case r.wake <- struct{}{}:
	default: // A look is due already.
	}
}

// Waits before an interrupted relay tries again.
const (
	standbyWait   = time.Second
	firstRetry    = 50 * time.Millisecond
	maxRetry      = 5 * time.Second
	closeDeadline = time.Second
)

// relayLock is held by the active replica.
const relayLock advisory.Lock = "outbox relay"

var errStandby = errors.New("another replica relays")

// Run relays until the context ends, and then returns nil. It survives outages of the database and
// the broker.
func (r *Relay) Run(ctx context.Context) error {
	retry := backoff.Backoff{First: firstRetry, Max: maxRetry}
	for ctx.Err() == nil {
		err := r.lead(ctx)
		r.metrics.standby()
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, errStandby):
			r.standBy(ctx)
			retry.Reset()
		default:
			wait := retry.Next()
			r.opts.Log.WarnContext(ctx, "outbox relay is interrupted, starting again", "after", wait, "error", err)
			r.pause(ctx, wait)
		}
	}
	return nil
}

// standBy waits for the next attempt to become active, and forwards wake-ups until then.
func (r *Relay) standBy(ctx context.Context) {
	timer := time.NewTimer(standbyWait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-r.wake:
			// If this is lost, the active replica looks within IdlePoll.
			_ = r.opts.Bus.Conn().Publish(r.wakeSubject, nil)
		}
	}
}

// byIndex makes the statements of this connection use indexes. The planner's statistics of a queue
// are always out of date, and its plans would read all waiting rows for each batch.
const byIndex = "SET enable_sort = off; SET enable_seqscan = off; SET enable_bitmapscan = off"

// lead acquires the lock and relays until the database fails.
func (r *Relay) lead(ctx context.Context) error {
	conn, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeDeadline)
		defer cancel()
		_ = conn.Close(ctx) // The server releases the lock even if the connection breaks.
	}()
	got, err := relayLock.TrySession(ctx, conn, "")
	if err != nil {
		return err
	}
	if !got {
		return errStandby
	}
	if _, err := conn.Exec(ctx, byIndex); err != nil {
		return fmt.Errorf("outbox: prepare connection: %w", err)
	}
	s, err := r.newSession(conn)
	if err != nil {
		return err
	}
	defer s.end()
	r.opts.Log.DebugContext(ctx, "outbox relay is active")
	return s.run(ctx)
}

// connect takes a connection out of the pool permanently. The lock belongs to it, and all
// statements run on it. So a relay that loses its lock, together with its connection, can no longer
// change anything.
func (r *Relay) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := r.opts.Pool.Session(tenant.All(ctx))
	if err != nil {
		return nil, fmt.Errorf("outbox: connect: %w", err)
	}
	return conn, nil
}

// newSession prepares the session of a relay that holds the lock.
func (r *Relay) newSession(conn *pgx.Conn) (*leaderSession, error) {
	broker := r.opts.Bus.Conn()
	wake, err := broker.Subscribe(r.wakeSubject, func(*nats.Msg) { r.notify() })
	if err != nil {
		return nil, fmt.Errorf("outbox: listen for wake-ups: %w", err)
	}
	return &leaderSession{
		Relay: r, conn: conn, wakeups: wake,
		reconnected: broker.StatusChanged(nats.CONNECTED),
		highest:     map[string]uint64{},
	}, nil
}

// pause waits until d has passed, a wake-up arrives or the context ends.
func (r *Relay) pause(ctx context.Context, d time.Duration) (woken bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-r.wake:
		return true
	}
	return false
}
