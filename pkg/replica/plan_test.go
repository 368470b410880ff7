package replica_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/replica"
)

// tellGroup returns an event with one state of the things 1 to count.
func tellGroup(revision int64, count int) proto.Message {
	made := dynamicpb.NewMessage(groups)
	made.Set(groups.Fields().ByName("revision"), protoreflect.ValueOfInt64(revision))
	group := made.Mutable(groups.Fields().ByName("groups")).List().AppendMutable().Message()
	ids := group.Mutable(group.Descriptor().Fields().ByName("ids")).List()
	for id := range count {
		ids.Append(protoreflect.ValueOfInt64(int64(id + 1)))
	}
	return made
}

// What many keys take grows with their number, and not with its square: also
// when the database has not gathered statistics yet, and has a plan that it keeps.
func TestManyKeysAtOnce(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	nothing := func(context.Context, pgx.Tx, int64, []replica.Change[*dynamicpb.Message]) error { return nil }
	copied := replica.New(pool, replica.Copy[*dynamicpb.Message]{Service: "reader", Event: dynamicpb.NewMessage(groups), Apply: nothing})
	// PostgreSQL keeps a plan from the sixth time on.
	const kept, times = 6, 9
	quickest := func(tenantID int64, count int) time.Duration {
		best := time.Hour
		for n := range times {
			event := tellGroup(int64(n+1), count)
			began := time.Now()
			require.NoError(t, deliver(t, copied, tenantID, event))
			if n >= kept {
				best = min(best, time.Since(began))
			}
		}
		assert.Len(t, headsOf(t, pool, tenantID, "groups"), count)
		return best
	}
	few, many := quickest(1, 1_000), quickest(2, 16_000)
	assert.Less(t, many/few, 4*16*time.Nanosecond, "1,000 keys took %v, 16,000 keys %v", few, many)
}
