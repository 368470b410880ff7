package hyperfind

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/bustest"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/projection"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

func TestPersonalQueries(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	h := New(pool, NewFinder(query.Config{}, pool), rowvisibility.New(clock.System{}), nil, noGroups())
	as := func(user string) context.Context {
		return authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: user, Rows: "all"}, "")
	}
	public := &commonsv1.HyperfindQuery{Name: proto.String("Mine"), Constraints: &commonsv1.HyperfindConstraints{
		Filters: []*commonsv1.HyperfindCondition{{Key: "BADGE", Operator: "IS_NOT_NULL"}},
	}}
	everybodys, err := h.CreateHyperfindQuery(as("ann"), public)
	require.NoError(t, err)
	own, err := h.CreateHyperfindQuery(as("ann"), &commonsv1.HyperfindQuery{Name: proto.String("Mine"), Visibility: &commonsv1.HyperfindVisibility{Name: "personal"}})
	require.NoError(t, err)
	assert.Equal(t, int64(2), own.GetVisibility().GetId())
	_, err = h.CreateHyperfindQuery(as("ann"), &commonsv1.HyperfindQuery{Name: proto.String("All Home")})
	assert.True(t, fault.HasCode(err, CodeTaken), err)

	byName := &commonv1.Ref{Qualifier: proto.String("Mine")}
	q, err := find(as("ann"), pool, byName, "ann")
	require.NoError(t, err)
	assert.Equal(t, own.GetId(), q.GetId(), "a name is that of one's own query first")
	q, err = find(as("bob"), pool, byName, "bob")
	require.NoError(t, err)
	assert.NotEqual(t, own.GetId(), q.GetId())

	read := func(user string) (*commonsv1.HyperfindQueryList, error) {
		return h.MultiReadHyperfindQueries(as(user), &commonsv1.MultiReadHyperfindQueriesRequest{Where: &commonsv1.HyperfindQueryWhere{
			HyperFindQuery: &commonsv1.HyperfindQueryRefs{Qualifiers: []string{"Mine"}},
		}})
	}
	list, err := read("ann")
	require.NoError(t, err)
	assert.Equal(t, own.GetId(), list.GetHyperfindQueries().GetQueries()[0].GetId())

	for i, refused := range []error{
		second(h.GetHyperfindQuery(as("bob"), &commonsv1.GetHyperfindQueryRequest{Id: own.GetId()})),
		second(h.UpdateHyperfindQuery(as("bob"), &commonsv1.UpdateHyperfindQueryRequest{Id: own.GetId(), Query: public})),
		second(h.DeleteHyperfindQuery(as("bob"), &commonsv1.DeleteHyperfindQueryRequest{Id: own.GetId()})),
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			assert.True(t, fault.HasCode(refused, CodeNotFound) && fault.HasStatus(refused, 404), refused)
			assert.ErrorContains(t, refused, "There is no hyperfind query with the id "+strconv.FormatInt(own.GetId(), 10))
		})
	}
	lead := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: "ann", PersonID: 1, Rows: "group"}, "")
	shared, personal := proto.CloneOf(own), proto.CloneOf(own)
	shared.Visibility, personal.Id = nil, nil
	for i, refused := range []error{
		second(h.CreateHyperfindQuery(lead, &commonsv1.HyperfindQuery{Name: proto.String("Night")})),
		second(h.UpdateHyperfindQuery(lead, &commonsv1.UpdateHyperfindQueryRequest{Id: own.GetId(), Query: shared})),
		second(h.UpdateHyperfindQuery(lead, &commonsv1.UpdateHyperfindQueryRequest{Id: everybodys.GetId(), Query: personal})),
		second(h.DeleteHyperfindQuery(lead, &commonsv1.DeleteHyperfindQueryRequest{Id: everybodys.GetId()})),
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			assert.True(t, fault.HasCode(refused, fault.CodeNoAccess) && fault.HasStatus(refused, 403), refused)
		})
	}
	execute := &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: &commonv1.Ref{Id: own.Id}, DateRange: &commonv1.DateRange{StartDate: "2026-01-01", EndDate: "2026-01-01"},
	}
	for i, validate := range []*bool{nil, proto.Bool(false), proto.Bool(true)} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			execute.ValidateAccessForPrivateHf = validate
			_, err = h.ExecuteHyperfind(as("ann"), execute)
			require.NoError(t, err)
			_, err = h.ExecuteHyperfind(as("bob"), execute)
			assert.True(t, fault.HasCode(err, CodeUnknownQuery) && fault.HasStatus(err, 400), err)
			_, err = h.Among(as("bob"), execute.Hyperfind, execute.DateRange, []int64{1})
			assert.True(t, fault.HasCode(err, CodeUnknownQuery), err)
			_, err = NewFinder(query.Config{}, pool).Members(tenant.With(t.Context(), 1), execute.Hyperfind, civil.Range{From: 1, To: 2})
			assert.True(t, fault.HasCode(err, CodeUnknownQuery), "a personal query is nobody's group: %v", err)
		})
	}
	profiles := NewProfiles(pool)
	profile, err := profiles.CreateHyperfindProfile(as("ann"), &commonsv1.HyperfindProfile{Name: proto.String("Nights"), HyperFindProfiles: []*commonsv1.HyperfindProfileQuery{
		{Id: proto.Int64(1)}, {Id: everybodys.Id},
	}})
	require.NoError(t, err)
	require.Len(t, profile.GetHyperFindProfiles(), 2)
	withdrawn := proto.CloneOf(everybodys)
	withdrawn.Name, withdrawn.Visibility = proto.String("Withdrawn"), &commonsv1.HyperfindVisibility{Id: proto.Int64(2)}
	_, err = h.UpdateHyperfindQuery(as("ann"), &commonsv1.UpdateHyperfindQueryRequest{Id: everybodys.GetId(), Query: withdrawn})
	require.NoError(t, err)
	profile, err = profiles.GetHyperfindProfile(as("bob"), &commonsv1.GetHyperfindProfileRequest{Id: profile.GetId()})
	require.NoError(t, err)
	require.Len(t, profile.GetHyperFindProfiles(), 1, "a query that became personal shows in no profile")
	assert.Equal(t, "All Home", profile.GetHyperFindProfiles()[0].GetQualifier())

	_, err = pool.Exec(as("ann"), `INSERT INTO hyperfind_query (tenant_id, name, owner, public, home, persistent_id, constraints)
		SELECT 1, n, 'ann', false, false, n, '' FROM generate_series(1, 97) AS n`)
	require.NoError(t, err)
	for n, fits := range []bool{true, false} {
		t.Run(fmt.Sprint(fits), func(t *testing.T) {
			_, err = h.CreateHyperfindQuery(as("ann"), &commonsv1.HyperfindQuery{
				Name: proto.String("Last " + strconv.Itoa(n)), Visibility: &commonsv1.HyperfindVisibility{Id: proto.Int64(2)},
			})
			assert.Equal(t, fits, err == nil, err)
			assert.Equal(t, !fits, fault.HasCode(err, CodeFull), err)
		})
	}
}

func second[T any](_ T, err error) error { return err }

func TestQueriesThatAreRefused(t *testing.T) {
	t.Parallel()
	deep := &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{{Key: "BADGE", Operator: "IS_NULL"}}}
	for range query.MaxDepth {
		deep = &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{{Constraints: deep}}}
	}
	wide := &commonsv1.HyperfindConstraints{}
	for range query.MaxFilters + 1 {
		wide.Filters = append(wide.Filters, &commonsv1.HyperfindCondition{Key: "BADGE", Operator: "IS_NULL"})
	}
	one := func(f *commonsv1.HyperfindCondition) *commonsv1.HyperfindConstraints {
		return &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{f}}
	}
	for want, constraints := range map[string]*commonsv1.HyperfindConstraints{
		"deeper than 8 levels": deep, "more than 100 filters": wide, "comparator must be": {Comparator: "XOR"},
		"filters must not be empty":  one(&commonsv1.HyperfindCondition{Constraints: &commonsv1.HyperfindConstraints{}}),
		"either key or constraints":  one(&commonsv1.HyperfindCondition{Key: "BADGE", Constraints: wide}),
		"not one that BADGE has":     one(&commonsv1.HyperfindCondition{Key: "BADGE", Operator: "STARTS_WITH", Values: []string{"7"}}),
		"needs exactly 2 values":     one(&commonsv1.HyperfindCondition{Key: "HIRE_DATE", Operator: "BETWEEN", Values: []string{"2020-01-01"}}),
		"needs exactly 1 value":      one(&commonsv1.HyperfindCondition{Key: "BADGE", Operator: "EQUAL_TO", Values: []string{"1", "2"}}),
		"needs no values":            one(&commonsv1.HyperfindCondition{Key: "BADGE", Operator: "IS_NULL", Values: []string{"1"}}),
		"must be a date":             one(&commonsv1.HyperfindCondition{Key: "HIRE_DATE", Operator: "EQUAL_TO", Values: []string{"soon"}}),
		"must be one of Active":      one(&commonsv1.HyperfindCondition{Key: "EMPLOYMENT_STATUS", Operator: "EQUAL_TO", Values: []string{"Gone"}}),
		"must name the custom field": one(&commonsv1.HyperfindCondition{Key: "CUSTOM_FIELD", Operator: "EQUAL_TO", Values: []string{"x"}}),
		"needs exactly 1 element of": one(&commonsv1.HyperfindCondition{Key: "SCHEDULED_JOB", Operator: "EQUAL_TO"}),
		"needs no elements of refs":  one(&commonsv1.HyperfindCondition{Key: "SCHEDULED", Operator: "IS_NOT_NULL", Values: []string{"x"}}),
		"give refs":                  one(&commonsv1.HyperfindCondition{Key: "LOCATION", Operator: "EQUAL_TO", Values: []string{"x"}}),
		"needs an id or a qualifier": one(&commonsv1.HyperfindCondition{Key: "JOB", Operator: "EQUAL_TO", Refs: []*commonv1.Ref{{}}}),
		"includeDescendants is for":  one(&commonsv1.HyperfindCondition{Key: "BADGE", Operator: "IS_NULL", IncludeDescendants: proto.Bool(true)}),
		"without control characters": one(&commonsv1.HyperfindCondition{Key: "LAST_NAME", Operator: "IN", Values: []string{"a\x01b"}}),
	} {
		t.Run(want, func(t *testing.T) {
			_, err := query.Parse(constraints)
			assert.ErrorContains(t, err, want)
			assert.True(t, fault.HasCode(err, query.CodeQuery), want)
		})
	}
}

func TestQueriesThatCostTooMuch(t *testing.T) {
	t.Parallel()
	filters := func(n, values int, f *commonsv1.HyperfindCondition) *commonsv1.HyperfindConstraints {
		f.Operator = "IN"
		for i := range values {
			if f.GetKey() == "BADGE" {
				f.Values = append(f.Values, strconv.Itoa(i))
			} else {
				f.Refs = append(f.Refs, &commonv1.Ref{Id: proto.Int64(int64(i))})
			}
		}
		// Half of them lie deeper.
		below := &commonsv1.HyperfindConstraints{Comparator: "OR"}
		out := &commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{{Constraints: below}}}
		for i := range n {
			if i%2 == 0 {
				below.Filters = append(below.Filters, f)
			} else {
				out.Filters = append(out.Filters, f)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		key       string
		n, values int
		actual    int64
	}{
		"values":                       {"BADGE", 2, 1000, 0},
		"a value more":                 {"BADGE", 3, 667, 2001},
		"references":                   {query.KeyTerm, 20, 100, 0},
		"references, one more":         {query.KeyManager, 3, 667, 2001},
		"places":                       {query.KeyLocation, 10, 1, 0},
		"a place more":                 {query.KeyLocation, 11, 1, 11},
		"jobs":                         {query.KeyJob, 11, 1, 11},
		"schedules":                    {query.KeyScheduledJob, 11, 1, 11},
		"what is scheduled somewhere":  {query.KeyScheduledLocation, 11, 1, 11},
		"terms are found by an index":  {query.KeyTerm, 99, 1, 0},
		"as are those who are managed": {query.KeyManager, 99, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := query.Parse(filters(c.n, c.values, &commonsv1.HyperfindCondition{Key: c.key}))
			if c.actual == 0 {
				require.NoError(t, err)
				return
			}
			require.True(t, fault.HasCode(err, query.CodeCostly) && fault.HasStatus(err, 413), err)
			assert.Equal(t, c.actual, fault.FromError(err).Details.GetLimits()[0].GetActual())
		})
	}
}

// A query finds the memberships that timekeeping has published. In any order of the events, the
// newest state counts.
func TestMembershipsArrive(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	conn := natstest.New(t).Conn()
	b, err := bus.New(bus.Options{
		Conn: conn, DeadLetters: outbox.NewDeadLetters(pool), Transient: pgerr.Unavailable, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	require.NoError(t, b.EnsureStreams(t.Context()))
	on := func(person, version int64, from, to string) proto.Message {
		return &schedulingv1.MembershipsChanged{Persons: []*schedulingv1.PersonMemberships{{
			PersonId: person, Version: version, Memberships: []*schedulingv1.Membership{{EmploymentTermId: 5, From: from, To: to}},
		}}}
	}
	for _, event := range []proto.Message{
		&schedulingv1.EmploymentTermChanged{Id: 5, Version: 2, Name: "Five"}, &schedulingv1.EmploymentTermChanged{Id: 5, Version: 1, Name: "Old"},
		on(7, 2, "2026-01-01", "2026-02-01"), on(7, 1, "2020-01-01", "3000-01-01"), on(8, 1, "bad", "3000-01-01"), on(9, 1, "2026-01-31", "9999-12-31"),
	} {
		bustest.Publish(t, conn, event)
	}
	_, err = pool.Exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) SELECT $1, n, n, n, 'UTC', '' FROM generate_series(7, 9) AS n`, tenant.Default)
	require.NoError(t, err)
	running, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var consumers []bus.Consumer
	for _, c := range projection.Copies(pool, nil) {
		consumers = append(consumers, c.Consumer())
	}
	go func() {
		done <- b.Run(running, consumers...)
	}()
	finder := NewFinder(query.Config{}, pool)
	root, err := query.Parse(&commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{
		{Key: query.KeyTerm, Operator: "EQUAL_TO", Refs: []*commonv1.Ref{{Qualifier: proto.String("Five")}}},
	}})
	require.NoError(t, err)
	found := func(day civil.Date) []int64 {
		var ids []int64
		assert.NoError(t, finder.executor.Run(ctx, root, civil.Through(day, day), nil, func(id int64, _, _ []byte) { ids = append(ids, id) }))
		return ids
	}
	last := civil.Of(2026, time.January, 31)
	require.Eventually(t, func() bool {
		var dead int
		err := pool.QueryRow(ctx, `SELECT count(*) FROM dead_letter`).Scan(&dead)
		return err == nil && dead == 1 && len(found(last)) == 2
	}, 20*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	assert.Equal(t, []int64{7}, found(last-1))
	assert.Equal(t, []int64{7, 9}, found(last))
	assert.Equal(t, []int64{9}, found(last+1))
	assert.Empty(t, found(civil.Of(2025, time.June, 1)), "an older list is not taken")
}
