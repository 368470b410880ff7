package replica_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// history is what happened to things, one after another, as an owner publishes it.
type history struct {
	random *rand.Rand
	events []proto.Message
	now    map[int64]thing
}

// States arrive in any order, repeatedly, or not at all. The copy has the newest received state of
// each thing, and is complete after the owner has published the missing states again.
func TestCopyOfWholeStates(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	copied := copyValues(pool, things)
	for run := range 40 {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			h := &history{random: rand.New(rand.NewPCG(uint64(run), 1)), now: map[int64]thing{}}
			h.grow(60, func(s, _ thing) proto.Message { return announce(things, s) })
			came := h.deliver(t, copied, int64(run+1))

			newest := map[int64]thing{}
			for _, e := range came {
				s := decodeThing(e)
				if s.version > newest[s.id].version {
					newest[s.id] = s
				}
			}
			assert.Equal(t, values(newest), storedValues(t, pool, int64(run+1)))

			for id, s := range h.now {
				require.NoError(t, deliver(t, copied, int64(run+1), announce(things, s)), id)
			}
			assert.Equal(t, values(h.now), storedValues(t, pool, int64(run+1)))
		})
	}
}

// The same holds for steps. A step that does not follow the previous one is not applied, and leaves
// a gap unless its state arrived in another way.
func TestCopyOfSteps(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	copied := copyValues(pool, steps)
	for run := range 40 {
		t.Run(fmt.Sprint(run), func(t *testing.T) {
			tenantID := int64(run + 1)
			h := &history{random: rand.New(rand.NewPCG(uint64(run), 2)), now: map[int64]thing{}}
			h.grow(60, func(s, before thing) proto.Message {
				if h.random.IntN(5) == 0 || s.gone || before.gone {
					s.all = true
				} else {
					s.value -= before.value
				}
				return announce(steps, s)
			})
			h.deliver(t, copied, tenantID)
			versions := listFingerprints(t, pool, tenantID, "steps")
			gaps := countGaps(t, pool, tenantID)
			ask(t, pool, tenantID)
			have := storedValues(t, pool, tenantID)
			for id, s := range h.now {
				if versions[id] == s.version {
					assert.Equal(t, values(map[int64]thing{id: s})[id], have[id], "thing %d", id)
				}
				if slices.Contains(gaps, id) {
					s.all = true
					require.NoError(t, deliver(t, copied, tenantID, announce(steps, s)))
				}
			}
			assert.Empty(t, countGaps(t, pool, tenantID), "each gap is closed by the whole state")
			// The loss of the last events is what comparisons find.
			for _, s := range h.now {
				s.all = true
				require.NoError(t, deliver(t, copied, tenantID, announce(steps, s)))
			}
			assert.Equal(t, values(h.now), storedValues(t, pool, tenantID))
		})
	}
}

// A comparison finds that the owner has newer states. States that were already on their way may be
// older than those. So only states that were published after the request close a gap.
func TestStatesFromBeforeTheRequestCloseNoGap(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	for tenantID, of := range []protoreflect.MessageDescriptor{things, steps} {
		t.Run(string(of.Name()), func(t *testing.T) {
			tenantID := int64(tenantID + 1)
			copied := copyValues(pool, of)
			known, newer := thing{id: 1, version: 1, value: 1, all: true}, thing{id: 1, version: 2, value: 2, all: true}
			require.NoError(t, deliver(t, copied, tenantID, announce(of, known)))
			require.NoError(t, replica.Backfill(tenant.With(t.Context(), tenantID), pool, copied.Contract().Topic))
			for _, s := range []thing{known, newer} {
				require.NoError(t, deliver(t, copied, tenantID, announce(of, s)))
				assert.Contains(t, countGaps(t, pool, tenantID), s.id, "version %d", s.version)
			}
			assert.Equal(t, map[int64]int64{1: 2}, storedValues(t, pool, tenantID))

			ask(t, pool, tenantID)
			require.NoError(t, deliver(t, copied, tenantID, announce(of, newer)))
			assert.NotContains(t, countGaps(t, pool, tenantID), newer.id)
		})
	}
}

// ask notes that the owner was asked for all that is missing.
func ask(t *testing.T, pool *pg.Pool, tenantID int64) {
	t.Helper()
	_, err := pool.Exec(tenant.With(t.Context(), tenantID), `UPDATE replica_gap SET asked = asked + 1 WHERE tenant_id = $1`, tenantID)
	require.NoError(t, err)
}

// Groups share a version and name several keys.
func TestCopyOfGroups(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	copied := copyValues(pool, groups)
	event := func(revision, value int64, keys ...int64) proto.Message {
		made := dynamicpb.NewMessage(groups)
		made.Set(groups.Fields().ByName("revision"), protoreflect.ValueOfInt64(revision))
		group := made.Mutable(groups.Fields().ByName("groups")).List().AppendMutable().Message()
		for _, key := range keys {
			group.Mutable(group.Descriptor().Fields().ByName("ids")).List().Append(protoreflect.ValueOfInt64(key))
		}
		group.Set(group.Descriptor().Fields().ByName("value"), protoreflect.ValueOfInt64(value))
		return made
	}
	require.NoError(t, deliver(t, copied, 1, event(5, 50, 3, 1), event(4, 40, 1, 2)))
	require.NoError(t, deliver(t, copied, 1, event(3, 30, 1, 2, 3, 4)))
	assert.Equal(t, map[int64]int64{1: 50, 2: 40, 3: 50, 4: 30}, storedValues(t, pool, 1))
}

// grow adds changes of few things, among them deletions.
func (h *history) grow(n int, event func(s, before thing) proto.Message) {
	for range n {
		before := h.now[h.random.Int64N(6)+1]
		if before.id == 0 {
			before.id = h.random.Int64N(6) + 1
			before = cmp.Or(h.now[before.id], thing{id: before.id, gone: true})
		}
		s := thing{id: before.id, version: before.version + 1, value: h.random.Int64N(1000) + 1}
		if before.version > 0 && h.random.IntN(8) == 0 {
			s.gone, s.value = true, 0
		}
		h.now[s.id] = s
		h.events = append(h.events, event(s, before))
	}
}

// deliver delivers the events in any order, some repeatedly and some not at all,
// in batches of any size, and returns those that came.
func (h *history) deliver(t *testing.T, r *replica.Replica, tenantID int64) (came []proto.Message) {
	t.Helper()
	var sent []proto.Message
	for _, e := range h.events {
		for range [...]int{0, 1, 1, 1, 1, 2}[h.random.IntN(6)] {
			sent = append(sent, e)
		}
	}
	came = slices.Clone(sent)
	for i := range sent { // Near to where they were, as a broker would.
		j := min(len(sent)-1, i+h.random.IntN(8))
		sent[i], sent[j] = sent[j], sent[i]
	}
	for len(sent) > 0 {
		n := min(len(sent), 1+h.random.IntN(10))
		require.NoError(t, deliver(t, r, tenantID, sent[:n]...))
		sent = sent[n:]
	}
	return came
}

func decodeThing(e proto.Message) thing {
	m := e.ProtoReflect().Get(e.ProtoReflect().Descriptor().Fields().ByName("things")).List().Get(0).Message()
	fields := m.Descriptor().Fields()
	return thing{
		id: m.Get(fields.ByName("id")).Int(), version: m.Get(fields.ByName("version")).Int(),
		value: m.Get(fields.ByName("value")).Int(), gone: m.Get(fields.ByName("gone")).Bool(),
	}
}

// values returns the values of the things that exist.
func values(of map[int64]thing) map[int64]int64 {
	out := map[int64]int64{}
	for id, s := range of {
		if !s.gone {
			out[id] = s.value
		}
	}
	return out
}

func storedValues(t *testing.T, pool *pg.Pool, tenantID int64) map[int64]int64 {
	t.Helper()
	return pairs(t, pool, tenantID, `SELECT id, value FROM copy WHERE tenant_id = $1`)
}

func listFingerprints(t *testing.T, pool *pg.Pool, tenantID int64, topic string) map[int64]int64 {
	t.Helper()
	return pairs(t, pool, tenantID, `SELECT key, version FROM replica_head WHERE tenant_id = $1 AND topic = '`+topic+`'`)
}

func countGaps(t *testing.T, pool *pg.Pool, tenantID int64) []int64 {
	t.Helper()
	var keys []int64
	for key := range pairs(t, pool, tenantID, `SELECT key, key FROM replica_gap WHERE tenant_id = $1`) {
		keys = append(keys, key)
	}
	return keys
}

func pairs(t *testing.T, pool *pg.Pool, tenantID int64, sql string) map[int64]int64 {
	t.Helper()
	out := map[int64]int64{}
	rows, err := pool.Query(tenant.With(t.Context(), tenantID), sql, tenantID)
	require.NoError(t, err)
	var key, value int64
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		out[key] = value
		return nil
	})
	require.NoError(t, err)
	return out
}
