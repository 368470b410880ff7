package setupname_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/workrule"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// persons has the work rules of simulated persons.
type persons struct {
	rules []string
	// down makes commons fail, and slow makes each call rename one person only.
	down, slow bool
}

func (p *persons) rename(req *commonsv1.RenamePersonReferencesRequest) (*commonsv1.RenamePersonReferencesResponse, error) {
	if p.down {
		return nil, errors.New("commons is away")
	}
	for i, rule := range p.rules {
		if rule != req.GetTo() && strings.EqualFold(rule, req.GetFrom()) {
			p.rules[i] = req.GetTo()
			if p.slow {
				return &commonsv1.RenamePersonReferencesResponse{Incomplete: true}, nil
			}
		}
	}
	return &commonsv1.RenamePersonReferencesResponse{}, nil
}

func (p *persons) use(req *commonsv1.FindPersonReferencesRequest) *commonsv1.FindPersonReferencesResponse {
	out := &commonsv1.FindPersonReferencesResponse{}
	for _, rule := range p.rules {
		if slices.ContainsFunc(req.GetNames(), func(name string) bool { return strings.EqualFold(name, rule) }) {
			out.PersonNumbers, out.Persons = append(out.PersonNumbers, "P of "+rule), out.GetPersons()+1
		}
	}
	return out
}

// newRules returns a handler of work rules that the persons have.
func newRules(t *testing.T, p *persons) (context.Context, *pg.Pool, *setupname.Names, *workrule.Handler) {
	t.Helper()
	pool := pooltest.New(t)
	names := setupname.New(pool, paycodetest.Terms{}, paycodetest.Persons{Renamed: p.rename, Use: p.use}, pgtest.Log(t))
	return tenant.With(t.Context(), 1), pool, names, workrule.New(names)
}

func former(ctx context.Context, t *testing.T, pool *pg.Pool) (out map[string]int64) {
	t.Helper()
	require.NoError(t, pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		out, err = setupname.Former(ctx, tx, setupname.WorkRule)
		return err
	}))
	return out
}

// A new name follows into the data of persons at once, or later if commons is away or has many persons. Until
// then the former name stays with its object.
func TestNewNamesFollow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		down   bool
		slow   bool
		sweeps int
	}{{"at once", false, false, 0}, {"after commons was away", true, false, 1}, {"in several calls", false, true, 3}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &persons{rules: []string{"night", "Night", "Day"}, down: c.down, slow: c.slow}
			ctx, pool, names, rules := newRules(t, p)
			made, err := rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: "Night"})
			require.NoError(t, err)
			_, err = rules.UpdateWorkRule(ctx, &timekeepingv1.UpdateWorkRuleRequest{Id: made.GetId(), Body: &timekeepingv1.WorkRule{Name: "Late"}})
			require.NoError(t, err)
			assert.Equal(t, map[string]int64{"night": made.GetId()}, former(ctx, t, pool))
			if c.sweeps > 0 {
				_, err = rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: "NIGHT"})
				assert.Equal(t, paycode.Codes().Taken, fault.FromError(err).Code)
				_, err = pg.Unaudited("a test").Exec(ctx, pool, `UPDATE setup_former_name SET changed_at = '2020-01-01' WHERE tenant_id = 1`)
				require.NoError(t, err)
			}
			p.down = false
			for range c.sweeps {
				if err := names.Sweep(t.Context()); err != nil {
					assert.True(t, p.slow)
				}
			}
			assert.Equal(t, []string{"Late", "Late", "Day"}, p.rules)
			_, err = rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: "NIGHT"})
			require.NoError(t, err, "no person has the former name now")
			assert.Empty(t, former(ctx, t, pool))
		})
	}
}

// An object stays while persons name it by a name that it has or had.
func TestUsersOfNames(t *testing.T) {
	t.Parallel()
	p := &persons{}
	ctx, pool, _, rules := newRules(t, p)
	made, err := rules.CreateWorkRule(ctx, &timekeepingv1.WorkRule{Name: "Night"})
	require.NoError(t, err)
	update := func(name string) error {
		_, err := rules.UpdateWorkRule(ctx, &timekeepingv1.UpdateWorkRuleRequest{Id: made.GetId(), Body: &timekeepingv1.WorkRule{Name: name}})
		return err
	}
	require.NoError(t, update("Late"))
	require.NoError(t, update("late"), "another case")
	require.NoError(t, update("Late"))
	refuse := func(say string) {
		t.Helper()
		_, err := rules.DeleteWorkRule(ctx, &timekeepingv1.DeleteWorkRuleRequest{Id: made.GetId()})
		require.Error(t, err)
		assert.Equal(t, paycode.Codes().InUse, fault.FromError(err).Code)
		assert.Contains(t, err.Error(), say)
	}
	p.rules = []string{"night"}
	refuse(`The person "P of night" refers to the work rule "Late"`)
	p.rules = []string{"night", "Late"}
	refuse(`Each of 2 persons, such as "P of night", "P of Late", refers to the work rule "Late"`)
	p.rules = []string{"other"}
	require.NoError(t, update("Night"), "its own former name")
	assert.Equal(t, map[string]int64{"late": made.GetId()}, former(ctx, t, pool))
	_, err = rules.DeleteWorkRule(ctx, &timekeepingv1.DeleteWorkRuleRequest{Id: made.GetId()})
	require.NoError(t, err)
	assert.Empty(t, former(ctx, t, pool))
}
