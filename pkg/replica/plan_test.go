package replica_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/replica"
)

// groupEvent returns an event with one state of the things 1 to count.
func groupEvent(revision int64, count int) proto.Message {
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
	nothing := func(context.Context, pgx.Tx, []replica.Change[*dynamicpb.Message]) error { return nil }
	copied := replica.New(pool, replica.Copy[*dynamicpb.Message]{Service: "reader", Event: dynamicpb.NewMessage(groups), Apply: nothing})
	// Others use the machine: the quickest of some rounds counts, and the more rounds
	// there are, the less is it theirs. PostgreSQL keeps a plan from the sixth on.
	const few, many, kept, most = 1_000, 16_000, 6, 60
	quickest := map[int]time.Duration{few: time.Hour, many: time.Hour}
	deadline := time.Now().Add(waitTimeout)
	for n := range most {
		for tenantID, count := range []int{few, many} {
			event := groupEvent(int64(n+1), count)
			began := time.Now()
			require.NoError(t, deliver(t, copied, int64(tenantID+1), event))
			if n >= kept {
				quickest[count] = min(quickest[count], time.Since(began))
			}
		}
		if n > kept && (quickest[many] < 4*many/few*quickest[few] || time.Now().After(deadline)) {
			break
		}
	}
	assert.Len(t, listFingerprints(t, pool, 2, "groups"), many)
	assert.Less(t, quickest[many], 4*many/few*quickest[few], "1,000 keys take %v", quickest[few])
}

// Of two first states of a key that come at once, the newer one stays, whichever
// is committed last.
func TestFirstStatesOfAKeyMeet(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	copied := copyValues(pool, things)
	const keys = 300
	want := map[int64]int64{}
	for id := range int64(keys) {
		var both errgroup.Group
		for version := range int64(2) {
			event := announce(things, thing{id: id + 1, version: version + 1, value: version + 1})
			both.Go(func() error { return deliver(t, copied, 1, event) })
		}
		require.NoError(t, both.Wait())
		want[id+1] = 2
	}
	assert.Equal(t, want, listFingerprints(t, pool, 1, "things"))
	assert.Equal(t, want, storedValues(t, pool, 1))
}
