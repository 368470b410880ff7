package rowvisibility_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// datedGroup is a group in which person 1 is always, person 2 on the days 10 to 19 and 30 to 39, and
// person 3 from day 20 on.
type datedGroup struct{}

func (datedGroup) Persons(_ context.Context, p *authn.Principal) ([]int64, error) {
	if rowvisibility.Scope(p.Rows) != rowvisibility.Group {
		return nil, nil
	}
	return []int64{1}, nil
}

func (datedGroup) Days(_ context.Context, p *authn.Principal) ([]rowvisibility.PersonDays, error) {
	if rowvisibility.Scope(p.Rows) != rowvisibility.Group {
		return nil, nil
	}
	return []rowvisibility.PersonDays{
		{PersonID: 3, Days: civil.Range{From: 20, To: civil.Forever}},
		{PersonID: 2, Days: civil.Range{From: 10, To: 20}},
		{PersonID: 2, Days: civil.Range{From: 30, To: 40}},
		{PersonID: 1, Days: civil.Range{From: 10, To: 20}},
		{PersonID: 7, Days: civil.Range{From: 10, To: 20}},
	}, nil
}

func TestPersonsOfSomeDays(t *testing.T) {
	t.Parallel()
	rules := rowvisibility.New(clock.System{}, datedGroup{}).WithDelegations(running{
		8: {{Delegator: 7, Rows: rowvisibility.Group, Permissions: []string{"p"}}},
	}, pgtest.Log(t))
	manager := callerContext(t, authn.Principal{Tenant: 1, Subject: "a", PersonID: 7, Rows: "group"})
	delegate := authn.WithPermission(callerContext(t, authn.Principal{Tenant: 1, Subject: "b", PersonID: 8, Rows: "own"}), "p")
	days := func(from, to civil.Date) civil.Range { return civil.Range{From: from, To: to} }
	for name, c := range map[string]struct {
		ctx  context.Context
		want []int64
	}{
		"an operation without days":             {manager, []int64{1, 7}},
		"days of one range":                     {rowvisibility.OnDays(manager, days(10, 20)), []int64{1, 2, 7}},
		"days between two ranges":               {rowvisibility.OnDays(manager, days(15, 35)), []int64{1, 7}},
		"days of which the last one is outside": {rowvisibility.OnDays(manager, days(10, 21)), []int64{1, 7}},
		"later days":                            {rowvisibility.OnDays(manager, days(30, 31)), []int64{1, 2, 3, 7}},
		"any day":                               {rowvisibility.OnAnyDay(manager), []int64{1, 2, 3, 7}},
		"days of a delegator":                   {rowvisibility.OnDays(delegate, days(10, 20)), []int64{1, 2, 7, 8}},
		"a delegate without days":               {delegate, []int64{1, 7, 8}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := rules.Visible(c.ctx)
			require.NoError(t, err)
			assert.Equal(t, c.want, set.IDs())
			for _, id := range c.want {
				assert.True(t, set.Has(id), "%d", id)
			}
		})
	}
	for name, ctx := range map[string]context.Context{"a manager": manager, "a delegate": delegate} {
		t.Run("rows of "+name, func(t *testing.T) {
			t.Parallel()
			set, err := rules.Visible(rowvisibility.OnAnyDay(ctx))
			require.NoError(t, err)
			assert.True(t, set.HasOn(1, days(0, 99)) && set.HasOn(7, days(0, 99)), "on all days")
			assert.True(t, set.HasOn(2, days(10, 20)) && set.HasOn(2, days(39, 40)) && set.HasOn(3, days(20, 99)))
			for through, want := range map[civil.Date]civil.Date{9: -1, 10: 10, 15: 15, 25: 19, 35: 35, 99: 39} {
				last, found := set.LastDay(2, through)
				assert.Equal(t, want != -1, found, "%d", through)
				assert.True(t, !found || last == want, "%d: %d", through, last)
			}
			last, found := set.LastDay(7, 99)
			assert.True(t, found && last == 99)
			_, found = set.LastDay(9, 99)
			assert.False(t, found)
			assert.False(t, set.HasOn(2, days(9, 11)) || set.HasOn(2, days(19, 31)) || set.HasOn(3, days(19, 20)) || set.HasOn(9, days(20, 21)))
		})
	}
}
