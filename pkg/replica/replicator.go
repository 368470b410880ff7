package replica

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// compareLock has topics as members: one replica of the service compares each topic.
const compareLock advisory.Lock = "replica comparison"

// Config sets how often copies are compared. The zero value of each field means its default.
type Config struct {
	CompareEvery time.Duration `name:"compare-every" env:"COMPARE_EVERY" default:"10m" help:"Time between two comparisons of a copy with its owner."`
	Settle       time.Duration `name:"settle" env:"SETTLE" default:"3s" help:"Time that a difference must last before it counts, so that events on their way can arrive."`
}

// Options holds the dependencies of a Replicator. All fields except Config are required.
type Options struct {
	Pool     *pg.Pool
	Bus      *bus.Bus
	Log      *slog.Logger
	Registry prometheus.Registerer
	Config   Config
}

// Replicator runs the replication of one service: it keeps the service's copies complete, and
// responds to the copies of the states that the service owns.
type Replicator struct {
	opts    Options
	copies  []*Replica
	owners  []*owner
	metrics *metrics
}

// NewReplicator returns the replicator of a service with its copies and its own topics. It fails if
// the event of a topic has no replication options.
func NewReplicator(opts Options, copies []*Replica, topics []Topic) (*Replicator, error) {
	opts.Config = defaults.Fill(opts.Config)
	metrics, err := newMetrics(opts.Registry)
	if err != nil {
		return nil, err
	}
	r := &Replicator{opts: opts, copies: copies, metrics: metrics}
	for _, topic := range topics {
		contract, err := ReadContract(topic.Event.ProtoReflect().Descriptor())
		if err != nil {
			return nil, err
		}
		r.owners = append(r.owners, &owner{Topic: topic, contract: contract, pool: opts.Pool, log: opts.Log})
	}
	return r, nil
}

// Consumers returns the consumers that update the copies.
func (r *Replicator) Consumers() []bus.Consumer {
	consumers := make([]bus.Consumer, len(r.copies))
	for i, c := range r.copies {
		consumers[i] = c.consumer
	}
	return consumers
}

// Copies returns the copies of the service.
func (r *Replicator) Copies() []*Replica { return r.copies }

// OwnedContracts returns the contracts of the topics that the service owns.
func (r *Replicator) OwnedContracts() []*Contract {
	owned := make([]*Contract, len(r.owners))
	for i, o := range r.owners {
		owned[i] = o.contract
	}
	return owned
}

// Run responds to requests about the service's topics, and finds and repairs gaps in its copies,
// until ctx ends.
func (r *Replicator) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, o := range r.owners {
		stop, err := o.serve(ctx, r.opts.Bus.Conn())
		if err != nil {
			return err
		}
		defer stop()
	}
	r.announce()
	for _, c := range r.copies {
		group.Go(func() error { return r.reconcile(ctx, c) })
	}
	<-ctx.Done()
	return group.Wait()
}

// announce asks the services that keep copies to compare: this database may have been replaced.
// Services that miss the announcement compare at their next regular time.
func (r *Replicator) announce() {
	if len(r.owners) > 0 {
		_ = r.opts.Bus.Conn().Publish(announceSubject(r.owners[0].contract.Owner), nil)
	}
}

// Times between two looks for gaps, and between two attempts to compare.
const (
	repairEvery  = 5 * time.Second
	repairPause  = 10 * time.Millisecond
	compareAgain = 2 * time.Second
)

// reconcile compares a copy with its owner, now and then regularly, and asks for missing states.
func (r *Replicator) reconcile(ctx context.Context, c *Replica) error {
	announced := make(chan *nats.Msg, 1)
	subscription, err := r.opts.Bus.Conn().ChanSubscribe(announceSubject(c.contract.Owner), announced)
	if err != nil {
		return fmt.Errorf("replica: listen to %s: %w", c.contract.Owner, err)
	}
	defer func() { _ = subscription.Unsubscribe() }()
	// A broker that comes back may have lost events.
	status := r.opts.Bus.Conn().StatusChanged(nats.CONNECTED)
	defer r.opts.Bus.Conn().RemoveStatusListener(status)
	log := r.opts.Log.With("topic", c.contract.Topic)
	compareAt := time.Now()
	for ctx.Err() == nil {
		if !time.Now().Before(compareAt) {
			if err := r.compareAll(ctx, c); err != nil {
				log.DebugContext(ctx, "a copy could not be compared with its owner; trying again", "error", err)
				compareAt = time.Now().Add(compareAgain)
			} else {
				// Spread the comparisons of the copies over time.
				compareAt = time.Now().Add(r.opts.Config.CompareEvery/2 + rand.N(r.opts.Config.CompareEvery))
			}
		}
		wait := repairEvery
		if more, err := r.repair(ctx, c); err != nil {
			if ctx.Err() == nil {
				log.WarnContext(ctx, "the missing states of a copy could not be requested; trying again", "error", err)
			}
		} else if more {
			wait = repairPause
		}
		timer := time.NewTimer(min(wait, max(time.Until(compareAt), 0)))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-c.missing:
		case <-announced:
			compareAt = time.Now()
		case <-status:
			compareAt = time.Now()
		}
		timer.Stop()
	}
	return nil
}

func (r *Replicator) repair(ctx context.Context, c *Replica) (bool, error) {
	more, err := c.repair(ctx, r.opts.Bus.Conn(), func(ctx context.Context) error {
		return r.compareTenant(ctx, c)
	})
	if open, _, countErr := c.gaps(ctx); countErr == nil {
		r.metrics.gaps.WithLabelValues(c.contract.Topic).Set(float64(open))
	}
	return more, err
}

// compareAll compares a copy with its owner, unless another replica of the service is doing so.
func (r *Replicator) compareAll(ctx context.Context, c *Replica) error {
	unlock, got, err := r.lock(ctx, c)
	if err != nil || !got {
		return err
	}
	defer unlock()
	tenants, err := c.tenants(ctx, r.opts.Bus.Conn())
	if err != nil {
		return err
	}
	for _, tenantID := range tenants {
		if err := r.compareTenant(tenant.With(ctx, tenantID), c); err != nil {
			return err
		}
	}
	r.metrics.compared.WithLabelValues(c.contract.Topic).SetToCurrentTime()
	return nil
}

func (r *Replicator) compareTenant(ctx context.Context, c *Replica) error {
	missing, err := c.compare(ctx, r.opts.Bus, r.opts.Config.Settle)
	if err != nil {
		return err
	}
	if missing > 0 {
		r.metrics.missing.WithLabelValues(c.contract.Topic).Add(float64(missing))
		r.opts.Log.WarnContext(ctx, "a copy lacks states of its owner, and requests them",
			"topic", c.contract.Topic, "owner", c.contract.Owner, "tenant", tenant.Of(ctx), "keys", missing)
	}
	return nil
}

// lock keeps other replicas of the service from comparing the same copy. The lock belongs to its
// own connection.
func (r *Replicator) lock(ctx context.Context, c *Replica) (unlock func(), got bool, err error) {
	conn, err := r.opts.Pool.Session(tenant.All(ctx))
	if err != nil {
		return nil, false, fmt.Errorf("replica: connect: %w", err)
	}
	unlock = func() { closeConn(ctx, conn) }
	if got, err = compareLock.TrySession(ctx, conn, c.contract.Topic); err != nil || !got {
		unlock()
		return nil, false, err
	}
	return unlock, true, nil
}

func closeConn(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx) // The server releases the lock even if the connection breaks.
}
