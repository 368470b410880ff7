package itemchange

import (
	"context"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// withSegments makes a shift of segments with ids, 0 for those without one.
func withSegments(ids ...int64) *schedulingv1.Shift {
	out := &schedulingv1.Shift{}
	for _, id := range ids {
		s := &schedulingv1.ShiftSegment{}
		if id != 0 {
			s.Id = proto.Int64(id)
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}

// storeEntry returns the state of an entry whose body is stored.
func storeEntry(t *testing.T, kind string, body proto.Message) entryState {
	t.Helper()
	encoded, err := proto.Marshal(body)
	require.NoError(t, err)
	return entryState{row: &itemstore.Row{Kind: kind, Body: encoded}}
}

// segmentIDs returns the ids of the segments of an entry.
func segmentIDs(m proto.Message) (ids []int64) {
	for _, id := range segmentIDFields(m) {
		ids = append(ids, **id)
	}
	return ids
}

// An entry keeps the segments that are sent with their ids; nothing else gets those.
func TestSegmentsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	tags := func(id int64) *schedulingv1.ScheduleTag {
		return &schedulingv1.ScheduleTag{Segments: []*schedulingv1.ScheduleTagSegment{{Id: proto.Int64(id)}}}
	}
	const first, second, foreign = int64(1) << 40, int64(1)<<40 + 1, int64(1) << 41
	was := storeEntry(t, itemstore.KindShift, withSegments(first, second))
	for _, c := range []struct {
		name string
		was  entryState
		sent proto.Message
		want []int64 // 0 for an id that nothing else has
	}{
		{"as they were", was, withSegments(first, second), []int64{first, second}},
		{"in another order", was, withSegments(second, first), []int64{second, first}},
		{"beside new ones", was, withSegments(0, second, 0), []int64{0, second, 0}},
		{"without their ids", was, withSegments(0, 0), []int64{0, 0}},
		{"with an id of another entry", was, withSegments(foreign, first), []int64{0, first}},
		{"with an id twice", was, withSegments(first, first), []int64{first, 0}},
		{"of an entry that is new", entryState{}, withSegments(first), []int64{0}},
		{"of a tag", storeEntry(t, itemstore.KindScheduleTag, tags(first)), tags(first), []int64{first}},
		{"of another tag", storeEntry(t, itemstore.KindScheduleTag, tags(first)), tags(second), []int64{0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			draft := &itemdraft.Draft{Segmented: c.sent}
			require.NoError(t, pg.InTx(env.Ctx, env.Pool, func(ctx context.Context, tx pgx.Tx) error {
				return numberSegments(ctx, tx, []replacement{{id: 7, was: c.was, draft: draft}})
			}))
			got := segmentIDs(c.sent)
			require.Len(t, got, len(c.want))
			for i, want := range c.want {
				if want != 0 {
					assert.Equal(t, want, got[i])
					continue
				}
				assert.NotContains(t, []int64{first, second, foreign}, got[i], "a new one")
			}
			slices.Sort(got)
			assert.Len(t, slices.Compact(got), len(c.want), "no two have one id")
			stored := c.sent.ProtoReflect().New().Interface()
			require.NoError(t, proto.Unmarshal(draft.Body, stored))
			assert.True(t, proto.Equal(c.sent, stored), "the body has the ids: %v", stored)
		})
	}
}

func TestRelationsLeadToTheirShift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		target *commonv1.Ref
		want   *commonv1.Ref
	}{
		{"when they say nothing", nil, &commonv1.Ref{Id: proto.Int64(7)}},
		{"when they name nothing", &commonv1.Ref{Qualifier: proto.String("")}, &commonv1.Ref{Id: proto.Int64(7)}},
		{"unless they lead elsewhere", &commonv1.Ref{Id: proto.Int64(8)}, &commonv1.Ref{Id: proto.Int64(8)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shift := &schedulingv1.Shift{Relations: []*schedulingv1.Relation{{TargetRef: c.target}}}
			finishShift(shift, 7, "2026-03-02T08:00:00.000")
			assert.True(t, proto.Equal(c.want, shift.GetRelations()[0].GetTargetRef()), "%v", shift)
			assert.Equal(t, "2026-03-02T08:00:00.000", shift.GetModifiedDateTime())
		})
	}
}
