package restore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

const (
	// tickEvery is the time between two publications of the watermarks.
	tickEvery = time.Second
	// witnessEvery is the time between two writes of the watermarks of others.
	witnessEvery = 5 * time.Second
	// neighbourWait is how long a start waits for the watermarks that others have witnessed, if the
	// bucket does not know the service.
	neighbourWait = 2 * time.Second
	// brokerWait is how long a start waits for an unavailable broker.
	brokerWait = 5 * time.Second
	// lastTimeout bounds the last publication when the program stops.
	lastTimeout = 2 * time.Second
)

// Options holds the dependencies of a Guard. All fields are required.
type Options struct {
	// Service is the name of the service that owns the database.
	Service  string
	Pool     *pg.Pool
	NATS     *nats.Conn
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// phase is the state of a guard's decision.
type phase int

const (
	// starting guards have not read all evidence yet.
	starting phase = iota
	opened
	restored
)

// state is the phase of a guard, with a channel that is closed when it changes.
type state struct {
	phase   phase
	reason  string
	changed chan struct{}
}

// Guard watches over one database. It is safe for concurrent use.
type Guard struct {
	opts    Options
	started clock.Stopwatch
	gauge   prometheus.Gauge

	mu    sync.Mutex
	state state
	// seen holds the bucket's entry of each service, once the bucket was read.
	seen map[string]entry
	// bucket is nil while the broker is unavailable. missing starts when the bucket was read
	// without an entry of this service.
	bucket  *bucket
	missing *clock.Stopwatch
	// compared is the location of the database at the last comparison of watermarks.
	compared place

	// Only the loop uses these: the durable watermarks, and the stored watermarks of other services.
	durable   Watermarks
	witnessed map[string]Watermarks
	stored    *clock.Stopwatch
	failing   bool

	wake chan struct{}
}

// New returns a guard that refuses writes until Run has read the evidence.
func New(opts Options) (*Guard, error) {
	if opts.Service == "" || opts.Pool == nil || opts.NATS == nil || opts.Log == nil || opts.Registry == nil {
		return nil, errors.New("restore: a guard needs a service, a database, a broker, a log and a registry")
	}
	g := &Guard{
		opts: opts, started: clock.Start(), state: state{changed: make(chan struct{})}, seen: map[string]entry{},
		witnessed: map[string]Watermarks{}, wake: make(chan struct{}, 1),
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "rotaloom_restored", Help: "1 if writes are refused because the database was restored, until rotaloom restore finish.",
		}),
	}
	if err := opts.Registry.Register(g.gauge); err != nil {
		return nil, fmt.Errorf("restore: register metrics: %w", err)
	}
	opts.Pool.CheckConns(g.checkPlace)
	return g, nil
}

// Run guards the database until ctx ends.
func (g *Guard) Run(ctx context.Context) error {
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() { g.watch(watching) })
	g.loop(ctx)
	// All writing parts have ended. Publish their last watermarks too.
	last, cancel := context.WithTimeout(context.WithValue(watching, comparing{}, true), lastTimeout)
	if err := g.step(last); err != nil {
		g.opts.Log.DebugContext(ctx, "the last watermarks of the database were not published", "error", err)
	}
	cancel()
	stop()
	watch.Wait()
	return nil
}

func (g *Guard) loop(ctx context.Context) {
	ctx = context.WithValue(ctx, comparing{}, true)
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := g.step(ctx); err != nil && ctx.Err() == nil {
			if !g.failing {
				g.opts.Log.WarnContext(ctx, "the watermarks of the database cannot be read or published; trying again", "error", err)
			}
			g.failing = true
		} else {
			g.failing = false
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-g.wake:
		}
	}
}

// hastenStep makes the loop run its next step at once.
func (g *Guard) hastenStep() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *Guard) current() state {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

// set changes the phase, and logs the change.
func (g *Guard) set(ctx context.Context, to phase, reason string) {
	g.mu.Lock()
	before := g.state
	if before.phase == to && before.reason == reason {
		g.mu.Unlock()
		return
	}
	g.state = state{to, reason, make(chan struct{})}
	close(before.changed)
	g.mu.Unlock()
	switch {
	case to == restored:
		g.gauge.Set(1)
		g.opts.Log.ErrorContext(ctx, "the database was restored: writes are refused until an operator runs rotaloom restore finish", "reason", reason)
	case before.phase == restored:
		g.gauge.Set(0)
		g.opts.Log.InfoContext(ctx, "the restore is finished: writes are accepted again")
	}
}
