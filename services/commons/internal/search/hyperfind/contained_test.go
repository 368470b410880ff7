package hyperfind

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

func queryWith(name string, personal bool, filters ...*commonsv1.HyperfindCondition) *commonsv1.HyperfindQuery {
	q := &commonsv1.HyperfindQuery{Name: &name, Constraints: &commonsv1.HyperfindConstraints{Filters: filters}}
	if personal {
		q.Visibility = visibility(false)
	}
	return q
}

func containingFilter(ref *commonv1.Ref) *commonsv1.HyperfindCondition {
	return &commonsv1.HyperfindCondition{Key: query.KeyHyperfind, Operator: "EQUAL_TO", Refs: []*commonv1.Ref{ref}}
}

// Two users contain the same public query in personal queries, and have personal queries of one name.
func TestContainedQueriesOfSeveralUsers(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	h := New(pool, NewFinder(query.Config{}, pool), rowvisibility.New(clock.System{}), nil, noGroups())
	as := func(user string) context.Context {
		return authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: user, Rows: "all"}, "")
	}
	create := func(user string, q *commonsv1.HyperfindQuery) *commonsv1.HyperfindQuery {
		out, err := h.CreateHyperfindQuery(as(user), q)
		require.NoError(t, err)
		return out
	}
	badged := &commonsv1.HyperfindCondition{Key: "BADGE", Operator: "IS_NOT_NULL"}
	shared := create("ann", queryWith("Shared", false, badged))
	named := &commonv1.Ref{Qualifier: proto.String("Shared")}
	own := create("bob", queryWith("Shared", true, badged))
	for user, want := range map[string]*commonsv1.HyperfindQuery{"ann": shared, "bob": own} {
		t.Run(user, func(t *testing.T) {
			q := create(user, queryWith("User of "+user, true, containingFilter(named)))
			assert.Equal(t, want.GetId(), q.GetConstraints().GetFilters()[0].GetRefs()[0].GetId(), "a user's own query takes precedence")
		})
	}
	public := create("bob", queryWith("Public user", false, containingFilter(named)))
	assert.Equal(t, shared.GetId(), public.GetConstraints().GetFilters()[0].GetRefs()[0].GetId())
	secret := create("ann", queryWith("Secret", true, containingFilter(&commonv1.Ref{Id: public.Id})))

	_, err := h.CreateHyperfindQuery(as("bob"), queryWith("Spy", true, containingFilter(&commonv1.Ref{Id: secret.Id})))
	assert.True(t, fault.HasCode(err, CodeUnknownQuery), "personal queries of other users are unknown: %v", err)

	_, err = h.DeleteHyperfindQuery(as("bob"), &commonsv1.DeleteHyperfindQueryRequest{Id: public.GetId()})
	assert.True(t, fault.HasCode(err, CodeInUse), err)
	require.ErrorContains(t, err, `a personal query of "ann"`)
	assert.NotContains(t, err.Error(), "Secret")

	hidden := proto.CloneOf(public)
	hidden.Visibility = visibility(false)
	_, err = h.UpdateHyperfindQuery(as("bob"), &commonsv1.UpdateHyperfindQueryRequest{Id: public.GetId(), Query: hidden})
	assert.True(t, fault.HasCode(err, CodeInUse), "ann could no longer use it: %v", err)
	_, err = h.DeleteHyperfindQuery(as("ann"), &commonsv1.DeleteHyperfindQueryRequest{Id: secret.GetId()})
	require.NoError(t, err)
	_, err = h.UpdateHyperfindQuery(as("bob"), &commonsv1.UpdateHyperfindQueryRequest{Id: public.GetId(), Query: hidden})
	require.NoError(t, err)

	members, err := NewFinder(query.Config{}, pool).Members(tenant.With(t.Context(), 1), &commonv1.Ref{Id: shared.Id}, civil.Range{From: 1, To: 2})
	require.NoError(t, err)
	assert.Empty(t, members)
}

// A new pay rule name is written to conditions, and the contained queries stay.
func TestRenamedConditionsKeepContainedQueries(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	h := New(pool, NewFinder(query.Config{}, pool), rowvisibility.New(clock.System{}), nil, noGroups())
	ctx := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: "ann", Rows: "all"}, "")
	inner, err := h.CreateHyperfindQuery(ctx, queryWith("Inner", false))
	require.NoError(t, err)
	outer, err := h.CreateHyperfindQuery(ctx, queryWith("Outer", false, containingFilter(&commonv1.Ref{Id: inner.Id}),
		&commonsv1.HyperfindCondition{Key: "PAY_RULE", Operator: "EQUAL_TO", Values: []string{"Old"}}))
	require.NoError(t, err)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		return RenameConditions(ctx, tx, "PAY_RULE", "old", "New")
	}))
	read, err := h.GetHyperfindQuery(ctx, &commonsv1.GetHyperfindQueryRequest{Id: outer.GetId(), AllDetails: proto.Bool(true)})
	require.NoError(t, err)
	assert.Equal(t, "Inner", read.GetConstraints().GetFilters()[0].GetRefs()[0].GetQualifier())
	assert.Equal(t, []string{"New"}, read.GetConstraints().GetFilters()[1].GetValues())
	_, err = h.DeleteHyperfindQuery(ctx, &commonsv1.DeleteHyperfindQueryRequest{Id: inner.GetId()})
	assert.True(t, fault.HasCode(err, CodeInUse), err)
}
