package propagation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Config says how propagations are worked on.
type Config struct {
	Concurrency int           `name:"concurrency" env:"CONCURRENCY" default:"2" help:"Batches of employees that one process brings up to date at once."`
	MaxDeliver  int           `name:"max-deliver" env:"MAX_DELIVER" default:"8" help:"How often a batch is tried before its propagation fails."`
	SweepEvery  time.Duration `name:"sweep-every" env:"SWEEP_EVERY" default:"15s" help:"How often unfinished propagations are looked for."`
	SweepAfter  time.Duration `name:"sweep-after" env:"SWEEP_AFTER" default:"1m" help:"How long a propagation may stand still before it is asked for again."`
}

// withDefaults makes the zero value work.
func (c Config) withDefaults() Config {
	return Config{
		Concurrency: cmp.Or(max(c.Concurrency, 0), 2),
		MaxDeliver:  cmp.Or(max(c.MaxDeliver, 0), 8),
		SweepEvery:  cmp.Or(max(c.SweepEvery, 0), 15*time.Second),
		SweepAfter:  cmp.Or(max(c.SweepAfter, 0), time.Minute),
	}
}

// Options is what a Propagator is made of. All fields are required but Config.
type Options struct {
	Pool *pgxpool.Pool
	Bus  *bus.Bus
	// Wake tells the outbox relay that there are events.
	Wake     func()
	Log      *slog.Logger
	Registry prometheus.Registerer
	Config   Config
}

// Propagator plans and works on propagations. Any number of processes may run
// one on the same database and broker.
type Propagator struct {
	pool    *pgxpool.Pool
	bus     *bus.Bus
	wake    func()
	log     *slog.Logger
	cfg     Config
	metrics *metrics
	// desks are those at which no worker is working.
	desks chan *desk
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
		pool: opts.Pool, bus: opts.Bus, wake: opts.Wake, log: opts.Log, cfg: cfg, metrics: m,
		desks: make(chan *desk, cfg.Concurrency),
	}, nil
}

// Run works until ctx ends, and returns when what it had begun is done.
func (p *Propagator) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.bus.Run(ctx, p.Planner(), p.Worker()) })
	group.Go(func() error { return p.runSweep(ctx) })
	return group.Wait()
}

// Planner is the consumer that divides propagations into batches.
func (p *Propagator) Planner() bus.Consumer {
	return bus.Consumer{
		Durable:    "propagation-planner",
		Stream:     "SCHEDULING",
		Subjects:   []string{"rotaloom.scheduling.propagation.requested"},
		MaxDeliver: p.cfg.MaxDeliver,
		Backoff:    p.backoff,
		Handle: func(ctx context.Context, m bus.Message) error {
			event, err := bus.Decode[*schedulingv1.PropagationRequested](m)
			if err != nil {
				return err
			}
			return p.settle(ctx, m, event.GetPropagationId(), p.plan(ctx, event.GetPropagationId()))
		},
	}
}

// Worker is the consumer that brings batches up to date.
func (p *Propagator) Worker() bus.Consumer {
	return bus.Consumer{
		Durable:     "propagation-worker",
		Stream:      "SCHEDULING_WORK",
		Subjects:    []string{"rotaloom.scheduling_work.propagation_batch.requested"},
		Concurrency: p.cfg.Concurrency,
		// A batch is long work: what waits here no other replica can take.
		Prefetch:   p.cfg.Concurrency,
		MaxDeliver: p.cfg.MaxDeliver,
		Backoff:    p.backoff,
		Handle: func(ctx context.Context, m bus.Message) error {
			event, err := bus.Decode[*schedulingv1.PropagationBatchRequested](m)
			if err != nil {
				return err
			}
			return p.settle(ctx, m, event.GetPropagationId(), p.work(ctx, event.GetPropagationId(), event.GetBatch()))
		},
	}
}

// What callers are told of a failure; the cause is in the log and with the
// dead letter.
const (
	textFailed = "The change could not be applied to all schedules. The operator finds the reason in the log and can repeat it."
	textLayers = "More schedule patterns lie on one day of an employee than can be shown. End one of them and repeat the propagation."
)

const failPropagation = `
UPDATE propagation SET state = 'FAILED', error = $3
WHERE tenant_id = $1 AND id = $2 AND state IN ('ACCEPTED', 'RUNNING')`

// settle marks a propagation as failed when its message is about to be given
// up, and returns the error of the attempt.
func (p *Propagator) settle(ctx context.Context, m bus.Message, id int64, err error) error {
	if err == nil || ctx.Err() != nil || pg.Unavailable(err) {
		return err // Done, or to be tried again for as long as it takes.
	}
	text, hopeless := textFailed, false
	if errors.Is(err, span.ErrTooManyLayers) {
		text, hopeless = textLayers, true
	}
	if !hopeless && m.Delivery < p.cfg.MaxDeliver {
		return err
	}
	if _, failErr := p.pool.Exec(ctx, failPropagation, m.Tenant, id, text); failErr != nil {
		return errors.Join(err, failErr)
	}
	p.metrics.failed.Inc()
	return bus.Permanent(err)
}
