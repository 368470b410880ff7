package rowvisibility_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// source is a Source that a test sets, and that counts.
type source struct {
	mu       sync.Mutex
	ids      []int64
	err      error
	requests int
}

func (s *source) Persons(context.Context, *authn.Principal) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	return s.ids, s.err
}

func callerContext(t *testing.T, p authn.Principal) context.Context {
	t.Helper()
	return authn.With(t.Context(), &p, "")
}

func TestVisible(t *testing.T) {
	t.Parallel()
	more := &source{ids: []int64{9, 4, 9}}
	rules := rowvisibility.New(clock.System{}, &source{}, more)
	for name, c := range map[string]struct {
		ctx  context.Context
		want rowvisibility.Set
	}{
		"nobody in particular":           {t.Context(), rowvisibility.AllPersons()},
		"a service for itself":           {callerContext(t, authn.Principal{Service: "scheduling"}), rowvisibility.AllPersons()},
		"a service for a user":           {callerContext(t, authn.Principal{Subject: "a", PersonID: 7, Rows: "own", Service: "scheduling"}), rowvisibility.Persons(4, 7, 9)},
		"somebody who sees everybody":    {callerContext(t, authn.Principal{Subject: "a", PersonID: 7, Rows: "all"}), rowvisibility.AllPersons()},
		"somebody who sees more":         {callerContext(t, authn.Principal{Subject: "a", PersonID: 7, Rows: "group"}), rowvisibility.Persons(4, 7, 9)},
		"somebody who is no person":      {callerContext(t, authn.Principal{Subject: "a", Rows: "group"}), rowvisibility.Set{}},
		"a token that does not say":      {callerContext(t, authn.Principal{Subject: "a"}), rowvisibility.Set{}},
		"a token that says what is none": {callerContext(t, authn.Principal{Subject: "a", PersonID: 7, Rows: "ALL"}), rowvisibility.Persons(4, 7, 9)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := rules.Visible(c.ctx)
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, name)
		})
	}

	var none *rowvisibility.Rules
	got, err := none.Visible(callerContext(t, authn.Principal{Subject: "a", PersonID: 7, Rows: "group"}))
	require.NoError(t, err)
	assert.Equal(t, rowvisibility.Persons(7), got, "without a source there is no group")
}

func TestSet(t *testing.T) {
	t.Parallel()
	set := rowvisibility.Persons(5, 3, 5)
	assert.Equal(t, []int64{3, 5}, set.IDs())
	assert.True(t, set.Has(3) && set.Has(5) && !set.Has(4) && !set.All())
	assert.True(t, rowvisibility.AllPersons().Has(4) && rowvisibility.AllPersons().All())
	assert.False(t, rowvisibility.Set{}.Has(0))
}

func TestVisibleIsRememberedForAMoment(t *testing.T) {
	t.Parallel()
	s, clk := &source{ids: []int64{1}}, clock.NewFake(time.Now())
	rules := rowvisibility.New(clk, s)
	lead := authn.Principal{Tenant: 1, Subject: "a", PersonID: 7, Rows: "group"}
	visible := func(p authn.Principal) rowvisibility.Set {
		t.Helper()
		got, err := rules.Visible(callerContext(t, p))
		require.NoError(t, err)
		return got
	}
	visible(lead)
	s.ids = []int64{2}
	assert.True(t, visible(lead).Has(1))
	assert.Equal(t, 1, s.requests)
	elsewhere := lead
	elsewhere.Tenant = 2
	assert.False(t, visible(elsewhere).Has(1), "another tenant's person with the same id")
	clk.Advance(5 * time.Second)
	assert.False(t, visible(lead).Has(1))
	assert.Equal(t, 3, s.requests)

	clk.Advance(5 * time.Second)
	s.err = errors.New("down")
	_, err := rules.Visible(callerContext(t, lead))
	require.ErrorIs(t, err, s.err, "nobody is shown when it cannot be known")
}

func TestScopes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want rowvisibility.Scope
		ok   bool
	}{{"", rowvisibility.Own, true}, {"GROUP", rowvisibility.Group, true}, {"all", rowvisibility.All, true}, {"none", "none", false}} {
		t.Run(c.text, func(t *testing.T) {
			got, ok := rowvisibility.ParseScope(c.text)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.ok, ok, c.text)
		})
	}
	assert.True(t, rowvisibility.Own.Within(rowvisibility.Own) && rowvisibility.Own.Within(rowvisibility.Group) && rowvisibility.Group.Within(rowvisibility.All))
	assert.False(t, rowvisibility.All.Within(rowvisibility.Group) || rowvisibility.Group.Within(rowvisibility.Own) || rowvisibility.Group.Within(""))
	assert.True(t, rowvisibility.Own.Within(""))
}

// pages returns a group in pages of two.
type pages struct {
	commonsv1.EmployeeGroupServiceClient
	ids []int64
}

func (p pages) ListEmployeeGroupMembers(_ context.Context, req *commonsv1.ListEmployeeGroupMembersRequest, _ ...grpc.CallOption) (*commonsv1.ListEmployeeGroupMembersResponse, error) {
	response := &commonsv1.ListEmployeeGroupMembersResponse{}
	for _, id := range p.ids {
		if id > req.GetAfterPersonId() && len(response.PersonIds) < 2 {
			response.PersonIds = append(response.PersonIds, id)
		}
	}
	response.More = len(response.PersonIds) == 2
	return response, nil
}

func TestGroups(t *testing.T) {
	t.Parallel()
	groups := rowvisibility.NewGroups(pages{ids: []int64{1, 2, 3, 4, 5}})
	ids, err := groups.Persons(t.Context(), &authn.Principal{PersonID: 7, Rows: "group"})
	require.NoError(t, err)
	assert.Equal(t, []int64{1, 2, 3, 4, 5}, ids)
	ids, err = groups.Persons(t.Context(), &authn.Principal{PersonID: 7, Rows: "own"})
	require.NoError(t, err)
	assert.Empty(t, ids)
}

func TestDigestTellsSetsApart(t *testing.T) {
	t.Parallel()
	assert.Equal(t, rowvisibility.Persons(3, 1, 3).Digest(), rowvisibility.Persons(1, 3).Digest())
	seen := map[[32]byte]rowvisibility.Set{}
	for i, s := range []rowvisibility.Set{{}, rowvisibility.AllPersons(), rowvisibility.Persons(1), rowvisibility.Persons(1, 3), rowvisibility.Persons(256)} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			assert.NotContains(t, seen, s.Digest(), "%v", s)
			seen[s.Digest()] = s
		})
	}
}
