package setupref_test

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
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type fixture struct {
	*schedtest.Env
	t      *testing.T
	copies []*replica.Replica
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	return &fixture{env, t, setupref.NewCopies(env.Pool)}
}

// rule returns the state of a work rule. It had its former names at the times 1, 2 and so on.
func rule(id, version int64, name string, former ...string) *timekeepingv1.WorkRuleChanged {
	out := &timekeepingv1.WorkRuleChanged{Id: id, Version: version, Name: name}
	for i, f := range former {
		if f != "" {
			out.FormerNames = append(out.FormerNames, &timekeepingv1.FormerSetupName{Name: f, ChangedAt: int64(i + 1)})
		}
	}
	return out
}

func deletedRule(id, version int64) *timekeepingv1.WorkRuleChanged {
	return &timekeepingv1.WorkRuleChanged{Id: id, Version: version, Deleted: true}
}

// receive stores events that arrive in one batch.
func (f *fixture) receive(ctx context.Context, events ...*timekeepingv1.WorkRuleChanged) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(ctx, f.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, f.copies[1], events)
	}))
}

// readName returns the name of the work rule of a segment, for a response.
func (f *fixture) readName(ctx context.Context, ref *commonv1.Ref) string {
	f.t.Helper()
	shift := &schedulingv1.Shift{Segments: []*schedulingv1.ShiftSegment{{WorkruleRef: proto.CloneOf(ref)}}}
	require.NoError(f.t, setupref.Show(ctx, f.Pool, shift))
	return shift.GetSegments()[0].GetWorkruleRef().GetQualifier()
}

func withID(id int64, name string) *commonv1.Ref { return &commonv1.Ref{Id: &id, Qualifier: &name} }

// References follow the work rules 1 and 2 through renames, in whatever batches and order their events arrive.
func TestReferencesFollowRenames(t *testing.T) {
	t.Parallel()
	type batches = [][]*timekeepingv1.WorkRuleChanged
	for _, c := range []struct {
		name   string
		events batches
		// byName has the names that references with the key show. first and second are the names that
		// references show that have the id 1 and 2, and the names A and B.
		byName        map[string]string
		first, second string
	}{
		{"no rename", batches{{rule(1, 1, "A"), rule(2, 1, "B")}}, map[string]string{"A": "A", "a": "a", "B": "B"}, "A", "B"},
		{"a rename", batches{{rule(1, 1, "A")}, {rule(1, 2, "X", "A")}}, map[string]string{"A": "X", "a": "X", "B": "B"}, "X", "B"},
		{
			"a chain",
			batches{{rule(1, 1, "A")}, {rule(1, 2, "X", "A")}, {rule(1, 3, "Y", "A", "X")}},
			map[string]string{"A": "Y", "X": "Y", "Y": "Y"},
			"Y", "B",
		},
		{"a chain of which only the end arrives", batches{{rule(1, 3, "Y", "A", "X")}}, map[string]string{"A": "Y", "X": "Y"}, "Y", "B"},
		{"another case", batches{{rule(1, 1, "Aa")}, {rule(1, 2, "AA", "Aa")}}, map[string]string{"aa": "AA", "AA": "AA"}, "AA", "B"},
		{
			"there and back",
			batches{{rule(1, 1, "A")}, {rule(1, 2, "X", "A")}, {rule(1, 3, "A", "", "X")}},
			map[string]string{"A": "A", "X": "A"},
			"A", "B",
		},
		{
			"a new rule with the former name",
			batches{{rule(1, 1, "A")}, {rule(1, 2, "X", "A")}, {rule(2, 1, "A")}},
			map[string]string{"A": "A", "X": "X"},
			"X", "B",
		},
		{"the new rule arrives first", batches{{rule(2, 1, "A")}, {rule(1, 2, "X", "A")}}, map[string]string{"A": "A"}, "X", "B"},
		{
			"the new rule gets another name",
			batches{{rule(1, 2, "X", "A")}, {rule(2, 1, "A")}, {rule(2, 2, "Y", "", "A")}},
			map[string]string{"A": "Y"},
			"X", "Y",
		},
		{"the new rule gets another name in a batch", batches{{rule(2, 2, "Y", "", "A"), rule(1, 2, "X", "A")}}, map[string]string{"A": "Y"}, "X", "Y"},
		{"the new rule is deleted", batches{{rule(1, 2, "X", "A")}, {rule(2, 1, "A")}, {deletedRule(2, 2)}}, map[string]string{"A": "A"}, "X", "B"},
		{
			"a swap",
			batches{{rule(1, 1, "A"), rule(2, 1, "B")}, {rule(1, 2, "T", "A")}, {rule(2, 2, "A", "B")}, {rule(1, 3, "B", "", "T")}},
			map[string]string{"A": "A", "B": "B", "T": "B"},
			"B", "A",
		},
		{
			"a swap in a batch",
			batches{{rule(1, 1, "A"), rule(2, 1, "B")}, {rule(2, 2, "A", "B"), rule(1, 3, "B", "", "T")}},
			map[string]string{"A": "A", "B": "B", "T": "B"},
			"B", "A",
		},
		{"a late event", batches{{rule(1, 3, "Y", "A", "X")}, {rule(1, 2, "X", "A")}}, map[string]string{"A": "Y", "X": "Y"}, "Y", "B"},
		{"a deletion", batches{{rule(1, 2, "X", "A")}, {deletedRule(1, 3)}}, map[string]string{"A": "A", "X": "X"}, "A", "B"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, events := range c.events {
				f.receive(f.Ctx, events...)
			}
			for sent, want := range c.byName {
				assert.Equal(t, want, f.readName(f.Ctx, refByName(sent)), sent)
			}
			assert.Equal(t, c.first, f.readName(f.Ctx, withID(1, "A")))
			assert.Equal(t, c.second, f.readName(f.Ctx, withID(2, "B")))
		})
	}
}

// Tenants, pay codes and tag definitions have separate names.
func TestNamesAreApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.receive(tenant.With(t.Context(), 2), rule(1, 2, "X", "A"))
	assert.Equal(t, "A", f.readName(f.Ctx, refByName("A")))
	assert.Equal(t, "A", f.readName(f.Ctx, withID(1, "A")))
	require.NoError(t, pg.InTx(f.Ctx, f.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, f.copies[0], []*timekeepingv1.PayCodeChanged{
			{Id: 1, Version: 2, Name: "Illness", FormerNames: []*timekeepingv1.FormerSetupName{{Name: "A", ChangedAt: 1}}},
		})
	}))
	assert.Equal(t, "A", f.readName(f.Ctx, withID(1, "A")))
	edit := &schedulingv1.PayCodeEdit{PayCodeRef: refByName("a"), WorkruleRef: refByName("a"), TransferString: ";a"}
	require.NoError(t, setupref.Show(f.Ctx, f.Pool, edit))
	assert.True(t, proto.Equal(&schedulingv1.PayCodeEdit{PayCodeRef: refByName("Illness"), WorkruleRef: refByName("a"), TransferString: ";a"}, edit), "%v", edit)
}
