package rowvisibility_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestRefuseOwn(t *testing.T) {
	t.Parallel()
	const write = "timekeeping.timecard_signoff.write"
	delegation := func(delegator int64, rows rowvisibility.Scope) rowvisibility.Delegation {
		return rowvisibility.Delegation{Delegator: delegator, Rows: rows, Permissions: []string{write}}
	}
	rules := rowvisibility.New(clock.System{}, byPerson{1: {10, 2}, 2: {20}, 3: {30}, 4: {1, 40}}).WithDelegations(running{
		3: {delegation(1, rowvisibility.Group), delegation(2, rowvisibility.Group)},
		4: {delegation(1, rowvisibility.Group)},
		5: {delegation(6, rowvisibility.All)},
	}, pgtest.Log(t))
	for name, c := range map[string]struct {
		caller  authn.Principal
		actions []string
		person  int64
		refused bool
	}{
		"oneself":                                       {authn.Principal{PersonID: 3, Rows: "group"}, []string{"a.b"}, 3, true},
		"oneself, who sees everybody":                   {authn.Principal{PersonID: 3, Rows: "all"}, []string{"a.b"}, 3, true},
		"oneself, whom the profile permits it":          {authn.Principal{PersonID: 3, Rows: "group", OwnActions: []string{"a.b"}}, []string{"a.b"}, 3, false},
		"oneself, whom a pattern permits it":            {authn.Principal{PersonID: 3, Rows: "group", OwnActions: []string{"a.*"}}, []string{"a.b"}, 3, false},
		"oneself, of two actions permitted one":         {authn.Principal{PersonID: 3, Rows: "group", OwnActions: []string{"a.b"}}, []string{"a.b", "a.c"}, 3, true},
		"oneself, in an operation that has no actions":  {authn.Principal{PersonID: 3, Rows: "group"}, nil, 3, false},
		"a member of the group":                         {authn.Principal{PersonID: 3, Rows: "group"}, []string{"a.b"}, 30, false},
		"nobody, as of an open shift":                   {authn.Principal{PersonID: 3, Rows: "group"}, []string{"a.b"}, 0, false},
		"a user who is no person":                       {authn.Principal{Rows: "all"}, []string{"a.b"}, 3, false},
		"whom a delegation shows":                       {authn.Principal{PersonID: 3, Rows: "group"}, []string{"a.b"}, 10, false},
		"the delegator":                                 {authn.Principal{PersonID: 3, Rows: "group"}, []string{"a.b"}, 1, true},
		"the delegator, whatever the profile permits":   {authn.Principal{PersonID: 3, Rows: "group", OwnActions: []string{"*"}}, []string{"a.b"}, 1, true},
		"a delegator whom another delegator sees":       {authn.Principal{PersonID: 3, Rows: "group"}, []string{"a.b"}, 2, false},
		"a delegator whom the caller sees anyway":       {authn.Principal{PersonID: 4, Rows: "group"}, []string{"a.b"}, 1, false},
		"a delegator who sees everybody":                {authn.Principal{PersonID: 5, Rows: "own"}, []string{"a.b"}, 6, true},
		"somebody whom this one's delegation shows":     {authn.Principal{PersonID: 5, Rows: "own"}, []string{"a.b"}, 99, false},
		"the caller, when a delegation shows everybody": {authn.Principal{PersonID: 5, Rows: "own"}, []string{"a.b"}, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.caller.Tenant, c.caller.Subject = 1, "a"
			ctx := authn.WithPermission(authn.With(context.Background(), &c.caller, ""), write)
			if c.actions != nil {
				ctx = authn.WithOwnRecord(ctx, &c.caller, c.actions)
			}
			visible, err := rules.Visible(ctx)
			require.NoError(t, err)
			assert.Equal(t, c.actions == nil, authn.OwnRecordFrom(ctx).Checked())
			refused := visible.RefuseOwn(c.person)
			assert.True(t, authn.OwnRecordFrom(ctx).Checked(), "the check is noted")
			assert.Equal(t, c.refused, refused != nil)
			if c.refused {
				assert.Equal(t, fault.CodeOwnRecord, refused.Code)
				assert.Error(t, rules.RefuseOwn(ctx, 0, c.person))
			} else {
				assert.NoError(t, rules.RefuseOwn(ctx, 0, c.person))
			}
		})
	}
}
