package setupname_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// readEvents returns the events of work rules in the outbox, without the times of former names.
func readEvents(ctx context.Context, t *testing.T, pool *pg.Pool) []*timekeepingv1.WorkRuleChanged {
	t.Helper()
	payloads, err := pg.Collect(ctx, pool, pgx.RowTo[[]byte], `SELECT payload FROM outbox WHERE event = $1 ORDER BY id`,
		string((&timekeepingv1.WorkRuleChanged{}).ProtoReflect().Descriptor().FullName()))
	require.NoError(t, err)
	out := make([]*timekeepingv1.WorkRuleChanged, len(payloads))
	for i, payload := range payloads {
		out[i] = &timekeepingv1.WorkRuleChanged{}
		require.NoError(t, proto.Unmarshal(payload, out[i]))
		for _, former := range out[i].GetFormerNames() {
			assert.Positive(t, former.GetChangedAt())
			former.ChangedAt = 0
		}
	}
	return out
}

func requireEvents(t *testing.T, want, got []*timekeepingv1.WorkRuleChanged) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		assert.True(t, proto.Equal(want[i], got[i]), "event %d: %v", i, got[i])
	}
}

// Each change of a work rule publishes its name, with the former names that it still has.
func TestNamesArePublished(t *testing.T) {
	t.Parallel()
	ctx, pool, _, rules := newRules(t, &persons{})
	create := func(name string) int64 {
		made, err := rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: name})
		require.NoError(t, err)
		return made.GetId()
	}
	rename := func(id int64, name string) {
		_, err := rules.UpdateWorkRule(ctx, &timekeepingv1.UpdateWorkRuleRequest{Id: id, Body: &timekeepingv1.WorkRule{Name: name}})
		require.NoError(t, err)
	}
	first := create("Day")
	rename(first, "Late")
	rename(first, "Dark")
	second := create("Day")
	rename(first, "Darker")
	_, err := rules.DeleteWorkRule(ctx, &timekeepingv1.DeleteWorkRuleRequest{Id: second})
	require.NoError(t, err)
	got := readEvents(ctx, t, pool)
	former := func(names ...string) (out []*timekeepingv1.FormerSetupName) {
		for _, name := range names {
			out = append(out, &timekeepingv1.FormerSetupName{Name: name})
		}
		return out
	}
	require.Len(t, got, 6)
	assert.Greater(t, got[5].GetVersion(), int64(1), "the version of the deletion")
	requireEvents(t, []*timekeepingv1.WorkRuleChanged{
		{Id: first, Name: "Day", Version: 1},
		{Id: first, Name: "Late", Version: 2, FormerNames: former("Day")},
		{Id: first, Name: "Dark", Version: 3, FormerNames: former("Day", "Late")},
		{Id: second, Name: "Day", Version: 1},
		{Id: first, Name: "Darker", Version: 4, FormerNames: former("Dark", "Late")},
		{Id: second, Version: got[5].GetVersion(), Deleted: true},
	}, got)
}

// The copies of names are compared across all tenants, and repaired.
func TestCopiesOfNamesAreRepaired(t *testing.T) {
	t.Parallel()
	_, pool, _, rules := newRules(t, &persons{})
	ctx := tenant.With(t.Context(), 2)
	made, err := rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: "Night"})
	require.NoError(t, err)
	_, err = rules.UpdateWorkRule(ctx, &timekeepingv1.UpdateWorkRuleRequest{Id: made.GetId(), Body: &timekeepingv1.WorkRule{Name: "Late"}})
	require.NoError(t, err)
	topic := setupname.Topics()[1]
	tenants, err := pg.Collect(tenant.All(t.Context()), pool, pgx.RowTo[int64], topic.Tenants)
	require.NoError(t, err)
	assert.Contains(t, tenants, int64(2))
	gone := made.GetId() + 1
	var events []proto.Message
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		events, err = topic.States(ctx, tx, []replica.Gap{{Key: made.GetId(), Version: 7}, {Key: gone, Version: 3}})
		return err
	}))
	require.Len(t, events, 2)
	repaired := events[0].(*timekeepingv1.WorkRuleChanged)
	require.Len(t, repaired.GetFormerNames(), 1)
	assert.Positive(t, repaired.GetFormerNames()[0].GetChangedAt())
	repaired.FormerNames[0].ChangedAt = 0
	requireEvents(t, []*timekeepingv1.WorkRuleChanged{
		{Id: made.GetId(), Name: "Late", Version: 8, FormerNames: []*timekeepingv1.FormerSetupName{{Name: "Night"}}},
		{Id: gone, Version: 4, Deleted: true},
	}, []*timekeepingv1.WorkRuleChanged{repaired, events[1].(*timekeepingv1.WorkRuleChanged)})
	raised, err := rules.GetWorkRule(ctx, &timekeepingv1.GetWorkRuleRequest{Id: made.GetId()})
	require.NoError(t, err)
	assert.Equal(t, int64(8), raised.GetVersion(), "the owner stores the version above the copy's")
}
