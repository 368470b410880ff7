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

// Config configures the processing of propagations.
type Config struct {
	Concurrency int           `name:"concurrency" env:"CONCURRENCY" default:"2" help:"Large batches that one process updates concurrently, and the same number of small batches."`
	Planners    int           `name:"planners" env:"PLANNERS" default:"4" help:"Tenants whose changes one process divides into batches concurrently."`
	Window      int           `name:"window" env:"WINDOW" default:"6" help:"Batches of one tenant that are requested at once, in all processes together. Set it to at least the number of batches that all processes work on; otherwise some are idle while only one tenant has changes."`
	MaxDeliver  int           `name:"max-deliver" env:"MAX_DELIVER" default:"8" help:"Attempts at a batch before its propagation is marked as failed."`
	SweepEvery  time.Duration `name:"sweep-every" env:"SWEEP_EVERY" default:"15s" help:"Interval of the search for stalled propagations."`
	SweepAfter  time.Duration `name:"sweep-after" env:"SWEEP_AFTER" default:"1m" help:"Time without progress until a propagation is requested again. It doubles with each request, up to 64 times."`
	KeepHistory time.Duration `name:"keep-history" env:"KEEP_HISTORY" default:"26280h" help:"Retention of superseded spans, entries, locks, memberships, leave and versions of assignments, and of finished propagations. Schedules can be read as of any time within it. -1ns keeps them forever."`
}

// withDefaults fills in the defaults of unset fields.
func (c Config) withDefaults() Config {
	filled := defaults.Fill(c)
	if c.KeepHistory < 0 {
		filled.KeepHistory = retention.ForEver
	}
	return filled
}

// HistoryRetention returns the retention of history; a negative one means forever.
func (c Config) HistoryRetention() time.Duration { return c.withDefaults().KeepHistory }

// Options are the dependencies of a Propagator. All fields but Config are required.
type Options struct {
	Pool     *pg.Pool
	Bus      *bus.Bus
	Log      *slog.Logger
	Registry prometheus.Registerer
	Clock    clock.Clock
	Config   Config
}

// Propagator plans and processes propagations. Several processes can run one on the same database
// and broker.
type Propagator struct {
	pool    *pg.Pool
	bus     *bus.Bus
	log     *slog.Logger
	cfg     Config
	metrics *metrics
	// retention deletes old history.
	retention *retention.Retention
	// scratches are the idle buffers of workers.
	scratches chan *scratch
	// backoff overrides the delays between deliveries in tests.
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

// Run works until ctx ends, and returns after completing the work in progress.
func (p *Propagator) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.bus.Run(ctx, p.Consumers()...) })
	group.Go(func() error { return p.runSweep(ctx) })
	group.Go(func() error { return p.retention.Run(ctx) })
	return group.Wait()
}

// redeliverAfter is the delay until the messages of a dead process are redelivered. A live process
// extends it while it works.
const redeliverAfter = 3 * time.Second

// Consumers returns the planner and the workers.
func (p *Propagator) Consumers() []bus.Consumer {
	return []bus.Consumer{p.Planner(), p.Worker(), p.SmallWorker()}
}

// service is the propagator's name in the event contracts.
const service = "propagator"

// Planner returns the consumer that divides propagations into batches.
func (p *Propagator) Planner() bus.Consumer {
	c := bus.NewConsumer(service, &schedulingv1.PropagationRequested{})
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

// Worker returns the consumer that processes large batches.
func (p *Propagator) Worker() bus.Consumer {
	return p.worker(&schedulingv1.PropagationBatchRequested{}, func(m bus.Message) (batchKey, error) {
		event, err := bus.Decode[*schedulingv1.PropagationBatchRequested](m)
		return batchKey{event.GetPropagationId(), event.GetBatch()}, err
	})
}

// SmallWorker returns the consumer that processes small batches.
func (p *Propagator) SmallWorker() bus.Consumer {
	return p.worker(&schedulingv1.PropagationSmallBatchRequested{}, func(m bus.Message) (batchKey, error) {
		event, err := bus.Decode[*schedulingv1.PropagationSmallBatchRequested](m)
		return batchKey{event.GetPropagationId(), event.GetBatch()}, err
	})
}

func (p *Propagator) worker(event proto.Message, decode func(bus.Message) (batchKey, error)) bus.Consumer {
	c := bus.NewConsumer(service, event)
	// A batch takes long, and no other replica can process a prefetched message.
	c.Concurrency, c.Prefetch = p.cfg.Concurrency, p.cfg.Concurrency
	c.AckWait, c.MaxDeliver, c.Backoff = redeliverAfter, p.cfg.MaxDeliver, p.backoff
	c.Handle = func(ctx context.Context, m bus.Message) error {
		key, err := decode(m)
		if err != nil {
			return err
		}
		return p.settle(ctx, m, key, p.process(ctx, key))
	}
	return c
}
