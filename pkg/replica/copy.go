package replica

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// Change is a state that is newer than the known one, or of the same version if the owner was asked
// for it.
type Change[S proto.Message] struct {
	Key, Version int64
	// State is the state of the key, and Event the event that carried it. Both are nil when only
	// the deletion is known.
	State S
	Event proto.Message
	// Deleted means that the object was deleted.
	Deleted bool
	// Whole means that State is complete; otherwise it holds the differences to the previous
	// version.
	Whole bool
}

// Copy declares a copy: how a service stores states of the type S, which is a
// pointer to a generated message.
type Copy[S proto.Message] struct {
	// Service is the service that keeps the copy.
	Service string
	// Event is an event that carries the states; its value does not matter.
	Event proto.Message
	// Apply changes the tables of the copy. The changes come by ascending key; each key comes once,
	// except in contracts with steps. Their known versions are locked.
	Apply func(ctx context.Context, tx pgx.Tx, changes []Change[S]) error

	// The other fields are optional.

	// Fingerprints is a statement that selects the keys of the copy and the values to compare with the
	// owner, as "key" and "mark", for the tenant $1 and the keys above $2 up to $3. The default is
	// the fingerprints of the events.
	Fingerprints string
	// Lock locks other rows that change together with the keys. It runs before their known versions are
	// locked, so that two transactions that lock both cannot wait for each other in a circle.
	Lock func(ctx context.Context, tx pgx.Tx, keys []int64) error
	// Observe sees every state that arrives, also known ones, in the same transaction.
	Observe func(ctx context.Context, tx pgx.Tx, states []S) error
	// After sees every state that arrives, once it is stored. If it returns an error, the event is
	// delivered again.
	After func(ctx context.Context, states []S) error
	// BatchSize is the largest number of events in one transaction; 0 means 100.
	BatchSize int
	// Delay is the age at which an event is applied, so that more urgent work comes first.
	Delay time.Duration
}

// Replica is a running copy.
type Replica struct {
	contract     *Contract
	service      string
	fingerprints string
	consumer     bus.Consumer
	pool         *pg.Pool
	put          func(ctx context.Context, tx pgx.Tx, states []state) error
	// missing receives a value when handled events opened gaps.
	missing chan struct{}
}

// New returns the replica of a declared copy in the database of the pool. It panics if the
// declaration does not match the contract, which is a mistake in the program.
func New[S proto.Message](pool *pg.Pool, c Copy[S]) *Replica {
	contract, err := ReadContract(c.Event.ProtoReflect().Descriptor())
	if err != nil {
		panic(err)
	}
	r := &Replica{contract: contract, service: c.Service, fingerprints: c.Fingerprints, pool: pool, missing: make(chan struct{}, 1)}
	if r.fingerprints == "" {
		r.fingerprints = fmt.Sprintf(knownFingerprints, contract.Topic)
	}
	r.put = func(ctx context.Context, tx pgx.Tx, states []state) error {
		if c.Lock != nil && len(states) > 0 {
			if err := c.Lock(ctx, tx, stateKeys(states)); err != nil {
				return err
			}
		}
		accepted, err := r.acceptStates(ctx, tx, states)
		if err != nil || len(accepted) == 0 {
			return err
		}
		changes := make([]Change[S], len(accepted))
		for i, s := range accepted {
			changes[i] = Change[S]{
				Key: s.key, Version: s.version, State: s.message.Interface().(S), Event: s.event.Interface(),
				Deleted: s.deleted, Whole: s.whole,
			}
		}
		return c.Apply(ctx, tx, changes)
	}
	r.consumer = bus.NewConsumer(c.Service, c.Event)
	r.consumer.BatchSize = c.BatchSize
	r.consumer.HandleBatch = func(ctx context.Context, messages []bus.Message) error {
		if err := waitUntilAged(ctx, c.Delay, messages); err != nil {
			return err
		}
		states, err := r.decode(c.Event.ProtoReflect().Type(), messages)
		if err != nil {
			return err
		}
		return handle(ctx, r, c, states)
	}
	return r
}

// handle stores the states of events, in one transaction.
func handle[S proto.Message](ctx context.Context, r *Replica, c Copy[S], states []state) error {
	var all []S
	if c.Observe != nil || c.After != nil {
		all = make([]S, len(states))
		for i, s := range states {
			all[i] = s.message.Interface().(S)
		}
	}
	err := pg.InTx(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := r.put(ctx, tx, states); err != nil {
			return err
		}
		if c.Observe != nil {
			return c.Observe(ctx, tx, all)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.After != nil {
		return c.After(ctx, all)
	}
	return nil
}

// decode returns the states of messages.
func (r *Replica) decode(event protoreflect.MessageType, messages []bus.Message) ([]state, error) {
	var states []state
	for _, m := range messages {
		if want := r.contract.Event.FullName(); m.Event != string(want) {
			return nil, bus.Permanent(fmt.Errorf("replica: event %s is a %s, not a %s", m.ID, m.Event, want))
		}
		message := event.New()
		if err := proto.Unmarshal(m.Payload, message.Interface()); err != nil {
			return nil, bus.Permanent(fmt.Errorf("replica: read event %s: %w", m.ID, err))
		}
		states = r.contract.appendStates(states, message)
	}
	return states, nil
}

// waitUntilAged waits until the first message is as old as delay. It never waits longer than delay,
// whatever the broker's clock says, and does not wait for older messages.
func waitUntilAged(ctx context.Context, delay time.Duration, messages []bus.Message) error {
	if delay == 0 || len(messages) == 0 {
		return nil
	}
	return backoff.Sleep(ctx, min(delay, time.Until(messages[0].Published.Add(delay))))
}

// Put stores states that a call fetched from their owner, by the same rules as states of events.
// Each key needs its own version.
func Put[S proto.Message](ctx context.Context, tx pgx.Tx, r *Replica, states []S) error {
	var all []state
	for _, s := range states {
		all = r.contract.appendState(all, s.ProtoReflect(), s.ProtoReflect())
	}
	return r.put(ctx, tx, all)
}

// Contract returns the contract of the copy's event.
func (r *Replica) Contract() *Contract { return r.contract }

// Service returns the service that keeps the copy.
func (r *Replica) Service() string { return r.service }

// Consumer returns the consumer that updates the copy.
func (r *Replica) Consumer() bus.Consumer { return r.consumer }
