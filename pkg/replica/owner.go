package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
)

// Gap is a key with missing states in a copy, and the version that the copy has, or 0.
type Gap struct{ Key, Version int64 }

// Topic declares states that this service owns and other services keep copies of.
type Topic struct {
	// Event is the event that carries the states; its value does not matter.
	Event proto.Message
	// Tenants is a statement that selects the tenants with states. It runs across all tenants.
	Tenants string
	// Fingerprints is a statement that selects the existing keys and the values to compare with the
	// copies, as "key" and "mark", for the tenant $1 and the keys above $2 up to $3. Its fingerprints have
	// the meaning of the contract's.
	Fingerprints string
	// States returns events with the whole states of the keys, in the transaction that publishes
	// them. For a key that no longer exists it returns a deletion. The version of a state must be
	// at least that of the copy. It can be smaller after the database was restored from a backup:
	// then States raises it above the copy's and stores it; see [Gap.NextVersion].
	States func(ctx context.Context, tx pgx.Tx, wanted []Gap) ([]proto.Message, error)
}

// NextVersion returns the version for publishing a state: the owner's, unless the copy's is larger.
func (w Gap) NextVersion(version int64) int64 {
	if version >= w.Version {
		return version
	}
	return w.Version + 1
}

// Keys returns the keys of the gaps.
func Keys(wanted []Gap) []int64 {
	keys := make([]int64, len(wanted))
	for i, w := range wanted {
		keys[i] = w.Key
	}
	return keys
}

// Largest returns the largest version that a copy has of the keys.
func Largest(wanted []Gap) (version int64) {
	for _, w := range wanted {
		version = max(version, w.Version)
	}
	return version
}

// Limits of one request, and the time limit for a response.
const (
	maxGaps         = 500
	maxDiffering    = 8192
	responseTimeout = 30 * time.Second
)

// The subjects of requests lie outside the subjects that streams store.
const subjectPrefix = "rotaloom_replica."

func requestSubject(c *Contract, operation string) string {
	return subjectPrefix + c.Owner + "." + c.Topic + "." + operation
}

// announceSubject is where an owner asks for comparisons: it has started, or its broker has lost
// events.
func announceSubject(owner string) string { return subjectPrefix + owner + ".announced" }

// owner responds for a topic.
type owner struct {
	Topic
	contract *Contract
	pool     *pg.Pool
	log      *slog.Logger
}

// serve handles requests until the returned function is called.
func (o *owner) serve(ctx context.Context, conn *nats.Conn) (stop func(), err error) {
	var subscriptions []*nats.Subscription
	stop = func() {
		for _, s := range subscriptions {
			_ = s.Unsubscribe() // It fails only when the connection is closed.
		}
	}
	for operation, reply := range map[string]func(context.Context, []byte) (proto.Message, error){
		opTenants: o.tenants, opCompare: o.compare, opBackfill: o.backfill,
	} {
		subscription, err := conn.QueueSubscribe(requestSubject(o.contract, operation), o.contract.Owner, func(m *nats.Msg) {
			ctx, cancel := context.WithTimeout(ctx, responseTimeout)
			defer cancel()
			o.reply(ctx, operation, m, reply)
		})
		if err != nil {
			stop()
			return nil, fmt.Errorf("replica: serve %s: %w", o.contract.Topic, err)
		}
		subscriptions = append(subscriptions, subscription)
	}
	return stop, nil
}

const (
	opTenants  = "tenants"
	opCompare  = "compare"
	opBackfill = "backfill"
)

// reply responds to a request. A copy that gets no response asks again.
func (o *owner) reply(ctx context.Context, operation string, m *nats.Msg, reply func(context.Context, []byte) (proto.Message, error)) {
	response, err := reply(ctx, m.Data)
	if err == nil {
		var payload []byte
		if payload, err = proto.Marshal(response); err == nil {
			err = m.Respond(payload)
		}
	}
	if err != nil && ctx.Err() == nil {
		o.log.WarnContext(ctx, "a copy got no response to its request", "topic", o.contract.Topic, "operation", operation, "error", err)
	}
}

func (o *owner) tenants(ctx context.Context, _ []byte) (proto.Message, error) {
	ids, err := collectInt64(tenant.All(ctx), o.pool, o.Tenants)
	return &replicationv1.TenantsResponse{TenantIds: ids}, err
}

func (o *owner) compare(ctx context.Context, payload []byte) (proto.Message, error) {
	request := &replicationv1.CompareRequest{}
	if err := proto.Unmarshal(payload, request); err != nil {
		return nil, err
	}
	ctx = tenant.With(ctx, request.GetTenantId())
	if !request.GetDetailed() {
		d, err := readDigest(ctx, o.pool, o.Fingerprints, request.GetAfter(), request.GetThrough(), 0)
		if err != nil {
			return nil, err
		}
		equal := d.count == request.GetCount() && d.digest == request.GetDigest()
		return &replicationv1.CompareResponse{Equal: equal, Count: d.count}, nil
	}
	limit := len(request.GetHeads()) + maxDiffering
	mine, err := listFingerprints(ctx, o.pool, o.Fingerprints, request.GetAfter(), request.GetThrough(), limit)
	if err != nil {
		return nil, err
	}
	keys, through := differing(mine, request.GetHeads(), len(mine) == limit)
	return &replicationv1.CompareResponse{Equal: len(keys) == 0, Keys: keys, Through: through, Count: int64(len(mine))}, nil
}

// differing returns the keys that differ between two lists, and the last key that it compared, or 0
// if it compared all. more means that mine may be followed by further fingerprints.
func differing(mine, theirs []*replicationv1.Head, more bool) (keys []int64, through int64) {
	for len(mine) > 0 || len(theirs) > 0 {
		if len(keys) == maxDiffering || len(mine) == 0 && more {
			return keys, keys[len(keys)-1]
		}
		switch {
		case len(theirs) == 0 || len(mine) > 0 && mine[0].GetKey() < theirs[0].GetKey():
			keys, mine = append(keys, mine[0].GetKey()), mine[1:]
		case len(mine) == 0 || theirs[0].GetKey() < mine[0].GetKey():
			keys, theirs = append(keys, theirs[0].GetKey()), theirs[1:]
		default:
			if mine[0].GetMark() != theirs[0].GetMark() {
				keys = append(keys, mine[0].GetKey())
			}
			mine, theirs = mine[1:], theirs[1:]
		}
	}
	if more && len(keys) > 0 {
		return keys, keys[len(keys)-1]
	}
	return keys, 0
}

var errTooMany = errors.New("replica: too many keys in one request")

func (o *owner) backfill(ctx context.Context, payload []byte) (proto.Message, error) {
	request := &replicationv1.BackfillRequest{}
	if err := proto.Unmarshal(payload, request); err != nil {
		return nil, err
	}
	if len(request.GetGaps()) > maxGaps {
		return nil, errTooMany
	}
	wanted := make([]Gap, len(request.GetGaps()))
	for i, w := range request.GetGaps() {
		wanted[i] = Gap{w.GetKey(), w.GetVersion()}
	}
	err := pg.InTx(tenant.With(ctx, request.GetTenantId()), o.pool, func(ctx context.Context, tx pgx.Tx) error {
		events, err := o.States(ctx, tx, wanted)
		if err != nil {
			return err
		}
		return outbox.Append(ctx, tx, events...)
	})
	if err != nil {
		o.log.WarnContext(ctx, "states could not be published again", "topic", o.contract.Topic, "tenant", request.GetTenantId(), "error", err)
		return &replicationv1.BackfillResponse{Error: "the owner could not publish them; its log says why"}, nil
	}
	return &replicationv1.BackfillResponse{}, nil
}
