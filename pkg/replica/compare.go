package replica

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	replicationv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/replication/v1"
)

// pageKeys is the number of keys that one digest covers. A million keys take about sixty short
// statements on either side.
const pageKeys = 16_384

// ErrOwnerUnavailable means that no replica of the owning service responds.
var ErrOwnerUnavailable = errors.New("replica: the owner does not respond")

// asker sends a request to the owner.
type asker func(ctx context.Context, operation string, request, response proto.Message) error

// askOver returns an asker that sends requests over the broker.
func (r *Replica) askOver(conn *nats.Conn) asker {
	return func(ctx context.Context, operation string, request, response proto.Message) error {
		return r.request(ctx, conn, operation, request, response)
	}
}

// request sends a request to the owner.
func (r *Replica) request(ctx context.Context, conn *nats.Conn, operation string, request, response proto.Message) error {
	payload, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("replica: encode request: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	reply, err := conn.RequestWithContext(ctx, requestSubject(r.contract, operation), payload)
	if err != nil {
		return fmt.Errorf("%w about %s: %w", ErrOwnerUnavailable, r.contract.Topic, err)
	}
	if err := proto.Unmarshal(reply.Data, response); err != nil {
		return fmt.Errorf("replica: read response: %w", err)
	}
	return nil
}

// tenants returns the tenants that have states at the owner or in the copy.
func (r *Replica) tenants(ctx context.Context, conn *nats.Conn) ([]int64, error) {
	reply := &replicationv1.TenantsResponse{}
	if err := r.request(ctx, conn, opTenants, &replicationv1.TenantsRequest{}, reply); err != nil {
		return nil, err
	}
	mine, err := collectInt64(tenant.All(ctx), r.pool, Tenants)
	if err != nil {
		return nil, err
	}
	all := append(mine, reply.GetTenantIds()...)
	slices.Sort(all)
	return slices.Compact(all), nil
}

// mismatch lists the keys of a tenant that differ between copy and owner, with the copy's fingerprints at
// the time of the comparison.
type mismatch struct {
	tenantID     int64
	keys         []int64
	fingerprints map[int64]int64
}

// differences returns the keys of a tenant that differ now. Events for some of them may still be on
// their way. The copy is read before the owner: the owner had every state of the copy earlier,
// unless it lost the state.
func (r *Replica) differences(ctx context.Context, ask asker) (mismatch, error) {
	tenantID := tenant.Of(ctx)
	found := mismatch{tenantID: tenantID, fingerprints: map[int64]int64{}}
	for after := int64(0); after < math.MaxInt64; {
		d, err := readDigest(ctx, r.pool, r.fingerprints, after, math.MaxInt64, pageKeys)
		if err != nil {
			return found, err
		}
		request := &replicationv1.CompareRequest{
			TenantId: tenantID, After: after, Through: math.MaxInt64, Count: d.count, Digest: d.digest,
		}
		if d.count == pageKeys {
			request.Through = d.last
		}
		reply := &replicationv1.CompareResponse{}
		if err := ask(ctx, opCompare, request, reply); err != nil {
			return found, err
		}
		if !reply.GetEqual() {
			if err := r.detail(ctx, ask, request, &found); err != nil {
				return found, err
			}
		}
		after = request.GetThrough()
	}
	return found, nil
}

// detail adds the differing keys of a page. It shortens the page when they do not fit one response.
func (r *Replica) detail(ctx context.Context, ask asker, page *replicationv1.CompareRequest, found *mismatch) error {
	fingerprints, err := listFingerprints(ctx, r.pool, r.fingerprints, page.GetAfter(), page.GetThrough(), 2*pageKeys)
	if err != nil {
		return err
	}
	if len(fingerprints) == 2*pageKeys { // This many were added since the digest.
		page.Through = fingerprints[len(fingerprints)-1].GetKey()
	}
	reply := &replicationv1.CompareResponse{}
	if err := ask(ctx, opCompare, &replicationv1.CompareRequest{
		TenantId: page.GetTenantId(), After: page.GetAfter(), Through: page.GetThrough(), Heads: fingerprints, Detailed: true,
	}, reply); err != nil {
		return err
	}
	if reply.GetThrough() > 0 {
		page.Through = reply.GetThrough()
	}
	for _, h := range fingerprints {
		if _, differs := slices.BinarySearch(reply.GetKeys(), h.GetKey()); differs {
			found.fingerprints[h.GetKey()] = h.GetMark()
		}
	}
	found.keys = append(found.keys, reply.GetKeys()...)
	return nil
}

// settle waits until the events on their way have arrived. It returns the keys that still differ:
// those whose fingerprint has not changed since.
func (r *Replica) settle(ctx context.Context, events *bus.Bus, found mismatch, wait time.Duration) ([]int64, error) {
	if len(found.keys) == 0 {
		return nil, nil
	}
	ctx = tenant.With(ctx, found.tenantID)
	for deadline := time.Now().Add(maxSettle); ; {
		if err := backoff.Sleep(ctx, wait); err != nil {
			return nil, err
		}
		if pending, err := events.Pending(ctx, r.consumer); err == nil && pending == 0 || time.Now().After(deadline) {
			break
		}
	}
	return r.filterUnchanged(ctx, found)
}

// filterUnchanged returns the keys whose fingerprint is the same as at the comparison.
func (r *Replica) filterUnchanged(ctx context.Context, found mismatch) ([]int64, error) {
	var still []int64
	for part := range slices.Chunk(found.keys, pageKeys) {
		now, err := lookUpFingerprints(ctx, r.pool, r.fingerprints, part)
		if err != nil {
			return nil, err
		}
		for _, key := range part {
			before, had := found.fingerprints[key]
			fingerprint, has := now[key]
			if had == has && before == fingerprint {
				still = append(still, key)
			}
		}
	}
	return still, nil
}

// maxSettle is how long a comparison waits for a busy consumer.
const maxSettle = 30 * time.Second

// CountDifferences waits for the events on their way, and returns how many keys of a tenant are
// missing in the copy or differ from the owner. It changes nothing.
func (r *Replica) CountDifferences(ctx context.Context, events *bus.Bus, wait time.Duration) (int, error) {
	found, err := r.differences(ctx, r.askOver(events.Conn()))
	if err != nil {
		return 0, err
	}
	keys, err := r.settle(ctx, events, found, wait)
	return len(keys), err
}

// compare finds the differing keys of a tenant, records gaps for them and returns their number.
func (r *Replica) compare(ctx context.Context, events *bus.Bus, wait time.Duration) (int, error) {
	found, err := r.differences(ctx, r.askOver(events.Conn()))
	if err != nil {
		return 0, err
	}
	keys, err := r.settle(ctx, events, found, wait)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	err = pg.InTx(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) error {
		return r.openGaps(ctx, tx, keys)
	})
	return len(keys), err
}
