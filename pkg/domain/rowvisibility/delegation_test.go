package rowvisibility_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// byPerson is a Source with a group for each manager.
type byPerson map[int64][]int64

func (b byPerson) Persons(_ context.Context, p *authn.Principal) ([]int64, error) {
	if rowvisibility.Scope(p.Rows) != rowvisibility.Group {
		return nil, nil
	}
	if ids, ok := b[p.PersonID]; ok {
		return ids, nil
	}
	return nil, errors.New("no group can be read")
}

// running are delegations to each person.
type running map[int64][]rowvisibility.Delegation

func (r running) Running(_ context.Context, p *authn.Principal) ([]rowvisibility.Delegation, error) {
	return r[p.PersonID], nil
}

func TestDelegationsWidenOperationsOfTheDelegator(t *testing.T) {
	t.Parallel()
	const read, write = "commons.person.read", "commons.person.write"
	rules := rowvisibility.New(clock.System{}, byPerson{1: {10, 11}, 2: {20, 21}}).WithDelegations(running{
		3: {
			{Delegator: 1, Rows: rowvisibility.Group, Permissions: []string{read, write}},
			{Delegator: 2, Rows: rowvisibility.Group, Permissions: []string{read}},
			{Delegator: 9, Rows: rowvisibility.Group, Permissions: []string{read}},
		},
		4: {{Delegator: 3, Rows: rowvisibility.Own, Permissions: []string{read}}},
		5: {{Delegator: 6, Rows: rowvisibility.All, Permissions: []string{read}}},
	}, pgtest.Log(t))
	for name, c := range map[string]struct {
		person     int64
		permission string
		want       rowvisibility.Set
	}{
		"both delegators may read":                       {3, read, rowvisibility.Persons(1, 2, 3, 10, 11, 20, 21)},
		"one of them may write":                          {3, write, rowvisibility.Persons(1, 3, 10, 11)},
		"neither may do anything else":                   {3, "auth.user.write", rowvisibility.Persons(3)},
		"an operation of the caller alone":               {3, "", rowvisibility.Persons(3)},
		"what was delegated is not delegated further":    {4, read, rowvisibility.Persons(3, 4)},
		"somebody who sees everybody":                    {5, read, rowvisibility.AllPersons()},
		"somebody who sees everybody, but may not write": {5, write, rowvisibility.Persons(5)},
		"nobody has delegated":                           {6, read, rowvisibility.Persons(6)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := authn.WithPermission(callerContext(t, authn.Principal{Tenant: 1, Subject: "a", PersonID: c.person, Rows: "own"}), c.permission)
			got, err := rules.Visible(ctx)
			require.NoError(t, err)
			assert.Equal(t, c.want.Digest(), got.Digest())
			assert.Equal(t, c.want.All(), got.All())
			if !c.want.All() {
				assert.Equal(t, c.want.IDs(), got.IDs())
			}
			for id := range int64(30) {
				assert.Equal(t, c.want.Has(id), got.Has(id), "%d", id)
			}
		})
	}
}

func TestAnEndedDelegationShowsNoEmployees(t *testing.T) {
	t.Parallel()
	clk, now := clock.NewFake(time.Now()), running{3: {{Delegator: 1, Rows: rowvisibility.Own, Permissions: []string{"p"}}}}
	rules := rowvisibility.New(clk).WithDelegations(now, pgtest.Log(t))
	ctx := authn.WithPermission(callerContext(t, authn.Principal{Tenant: 1, Subject: "a", PersonID: 3, Rows: "own"}), "p")
	before, err := rules.Visible(ctx)
	require.NoError(t, err)
	require.True(t, before.Has(1))
	delete(now, 3)
	clk.Advance(5 * time.Second)
	after, err := rules.Visible(ctx)
	require.NoError(t, err)
	assert.False(t, after.Has(1))
	assert.NotEqual(t, before.Digest(), after.Digest(), "what was kept for the one is not for the other")
}
