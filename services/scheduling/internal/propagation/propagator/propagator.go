package propagator

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/retention"
)

// Config says how propagations are worked on.
type Config struct {
	Concurrency int           `name:"concurrency" env:"CONCURRENCY" default:"2" help:"Batches of many employees that one process brings up to date at once, and as many of few."`
	Planners    int           `name:"planners" env:"PLANNERS" default:"4" help:"Tenants whose changes one process divides into batches at once."`
	Window      int           `name:"window" env:"WINDOW" default:"6" help:"Batches of one tenant that are asked for at once, in all processes together. At least the batches that all of them work on, or some have nothing to do while only one tenant has changes."`
	MaxDeliver  int           `name:"max-deliver" env:"MAX_DELIVER" default:"8" help:"How often a batch is tried in a row before its propagation shows as failed."`
	SweepEvery  time.Duration `name:"sweep-every" env:"SWEEP_EVERY" default:"15s" help:"How often unfinished propagations are looked for."`
	SweepAfter  time.Duration `name:"sweep-after" env:"SWEEP_AFTER" default:"1m" help:"How long a propagation may stand still before it is asked for again, twice as long each time, up to 64 times."`
	KeepHistory time.Duration `name:"keep-history" env:"KEEP_HISTORY" default:"26280h" help:"How long spans, entries, locks, memberships, leave and versions of assignments that hold no longer, and finished propagations, are kept: the schedule as it was known at an earlier time can be told of that time. -1ns keeps them for ever."`
}

// withDefaults makes the zero value work.
func (c Config) withDefaults() Config {
	filled := defaults.Fill(c)
	if c.KeepHistory < 0 {
		filled.KeepHistory = retention.ForEver
	}
	return filled
}

// HistoryRetention is how long history is kept; negative for ever.
func (c Config) HistoryRetention() time.Duration { return c.withDefaults().KeepHistory }

// Options is what a Propagator is made of. All fields are required but Config.
type Options struct {
	Pool     *pg.Pool
	Bus      *bus.Bus
	Log      *slog.Logger
	Registry prometheus.Registerer
	Clock    clock.Clock
	Config   Config
}

// Propagator plans and works on propagations. Any number of processes may run
// one on the same database and broker.
type Propagator struct {
	pool    *pg.Pool
	bus     *bus.Bus
	log     *slog.Logger
	cfg     Config
	metrics *metrics
	// retention deletes what is too old.
	retention *retention.Retention
	// scratches are those at which no worker is working.
	scratches chan *scratch
	// backoff replaces the waits between deliveries; tests are in a hurry.
	backoff []time.Duration
}

// New returns a propagator, and registers its metrics.
func New(opts Options) (*Propagator, error) {
	m, err := newMetrics(opts.Registry)
	if err != nil {
		return nil, fmt.Errorf("propagation: register metrics: %w", err)
	}
	cfg := opts.Config.withDefaults()
	return &Propagator{
		pool: opts.Pool, bus: opts.Bus, log: opts.Log, cfg: cfg, metrics: m,
		retention: retention.New(opts.Pool, opts.Log, opts.Clock, cfg.KeepHistory),
		scratches: make(chan *scratch, 2*cfg.Concurrency),
	}, nil
}

// Run works until ctx ends, and returns when what it had begun is done.
func (p *Propagator) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.bus.Run(ctx, p.Consumers()...) })
	group.Go(func() error { return p.runSweep(ctx) })
	group.Go(func() error { return p.retention.Run(ctx) })
	return group.Wait()
}

// redeliverAfter is how long what a process had in hand waits when it dies; as
// long as it lives, the broker is notified that it is at work.
const redeliverAfter = 3 * time.Second

// Consumers are the planner and the workers.
func (p *Propagator) Consumers() []bus.Consumer {
	return []bus.Consumer{p.Planner(), p.Worker(), p.SmallWorker()}
}

// service is what the contracts call the propagator.
const service = "propagator"

// Planner is the consumer that divides propagations into batches.
func (p *Propagator) Planner() bus.Consumer {
	c := bus.ConsumerOf(service, &schedulingv1.PropagationRequested{})
	c.Concurrency, c.Prefetch = p.cfg.Planners, p.cfg.Planners
	c.AckWait, c.MaxDeliver, c.Backoff = redeliverAfter, p.cfg.MaxDeliver, p.backoff
	c.Handle = func(ctx context.Context, m bus.Message) error {
		if _, err := bus.Decode[*schedulingv1.PropagationRequested](m); err != nil {
			return err
		}
		failed, err := p.plan(ctx)
		return p.settlePlanning(ctx, m, failed, err)
	}
	return c
}

// Worker is the consumer that brings batches up to date.
func (p *Propagator) Worker() bus.Consumer {
	return p.worker(&schedulingv1.PropagationBatchRequested{}, func(m bus.Message) (batchKey, error) {
		event, err := bus.Decode[*schedulingv1.PropagationBatchRequested](m)
		return batchKey{event.GetPropagationId(), event.GetBatch()}, err
	})
}

// SmallWorker is the consumer that brings batches of few employees up to date.
func (p *Propagator) SmallWorker() bus.Consumer {
	return p.worker(&schedulingv1.PropagationSmallBatchRequested{}, func(m bus.Message) (batchKey, error) {
		event, err := bus.Decode[*schedulingv1.PropagationSmallBatchRequested](m)
		return batchKey{event.GetPropagationId(), event.GetBatch()}, err
	})
}

func (p *Propagator) worker(event proto.Message, decode func(bus.Message) (batchKey, error)) bus.Consumer {
	c := bus.ConsumerOf(service, event)
	// A batch is long work: what waits here no other replica can take.
	c.Concurrency, c.Prefetch = p.cfg.Concurrency, p.cfg.Concurrency
	c.AckWait, c.MaxDeliver, c.Backoff = redeliverAfter, p.cfg.MaxDeliver, p.backoff
	c.Handle = func(ctx context.Context, m bus.Message) error {
		key, err := decode(m)
		if err != nil {
			return err
		}
		return p.settle(ctx, m, key, p.work(ctx, key))
	}
	return c
}
