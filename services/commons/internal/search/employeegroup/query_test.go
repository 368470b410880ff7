package employeegroup

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/hyperfind"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

// counted is a Finder that counts, and fails while it is set to.
type counted struct {
	finder   Finder
	requests atomic.Int64
	err      atomic.Pointer[error]
}

func (c *counted) Members(ctx context.Context, query *commonv1.Ref, days civil.Range) ([]int64, error) {
	c.requests.Add(1)
	if err := c.err.Load(); err != nil {
		return nil, *err
	}
	return c.finder.Members(ctx, query, days)
}

// newHyperfindGroup makes Groups at noon of a day in March, where the group of
// the persons 1 and 2 is the hyperfind "Nights", and returns it as well.
func newHyperfindGroup(t *testing.T) (*Groups, *counted, *clock.Fake, func(sql string, args ...any)) {
	t.Helper()
	pool := pooltest.New(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := pool.Exec(tenant.With(t.Context(), 1), sql, args...)
		require.NoError(t, err)
	}
	exec(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body, worker_type_name)
		SELECT 1, n, 'P' || n, 'Person', 'UTC', '', CASE WHEN n > 6 THEN 'Night' ELSE 'Day' END FROM generate_series(1, 9) n`)
	exec(`INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name,
			manager_employee_group_name, manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name)
		SELECT 1, n, '2020-01-01', '3000-01-01', '', 'Nights', '', '', '' FROM generate_series(1, 2) n`)
	exec(`INSERT INTO hyperfind_query (tenant_id, id, name, owner, public, home, persistent_id, constraints)
		VALUES (1, 1000, 'Nights', 'ann', true, false, 'nights', $1)`, workers(t, "Night"))
	finder := &counted{finder: hyperfind.NewFinder(FinderConfig(), pool)}
	clk := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	return New(pool, finder, clk, time.UTC), finder, clk, exec
}

// workers are the constraints of a query for a worker type, as they are stored.
func workers(t *testing.T, kind string) []byte {
	t.Helper()
	bytes, err := proto.Marshal(&commonsv1.HyperfindConstraints{Filters: []*commonsv1.HyperfindCondition{
		{Key: "WORKER_TYPE", Operator: "EQUAL_TO", Values: []string{kind}},
	}})
	require.NoError(t, err)
	return bytes
}

func lead(person int64) *authn.Principal {
	return &authn.Principal{Tenant: 1, PersonID: person, Rows: "group"}
}

func TestAHyperfindIsAGroup(t *testing.T) {
	t.Parallel()
	groups, finder, clk, exec := newHyperfindGroup(t)
	ctx := tenant.With(t.Context(), 1)
	members := func(person int64) []int64 {
		t.Helper()
		ids, err := groups.Persons(ctx, lead(person))
		require.NoError(t, err)
		return ids
	}
	assert.Equal(t, []int64{7, 8, 9}, members(1))
	assert.Equal(t, []int64{7, 8, 9}, members(2))
	assert.Equal(t, int64(1), finder.requests.Load(), "all whose group it is share the response")

	handler := NewHandler(groups)
	handler.page = 2
	for after, want := range map[int64][]int64{0: {7, 8}, 8: {9}, 9: {}} {
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			response, err := handler.ListEmployeeGroupMembers(ctx, &commonsv1.ListEmployeeGroupMembersRequest{PersonId: 1, AfterPersonId: after})
			require.NoError(t, err)
			assert.Equal(t, want, response.GetPersonIds())
			assert.Equal(t, after == 0, response.GetMore())
		})
	}

	exec(`UPDATE person SET worker_type_name = 'Night' WHERE tenant_id = 1 AND id = 6`)
	clk.Advance(cacheTTL)
	assert.Equal(t, []int64{6, 7, 8, 9}, members(1), "people changed")
	exec(`UPDATE hyperfind_query SET constraints = $1 WHERE tenant_id = 1`, workers(t, "Day"))
	clk.Advance(cacheTTL)
	assert.Equal(t, []int64{1, 2, 3, 4, 5}, members(1), "the query changed")
	assert.Equal(t, int64(3), finder.requests.Load())
}

func TestAMissingHyperfindShowsNoEmployees(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"deleted":  `DELETE FROM hyperfind_query WHERE tenant_id = 1`,
		"renamed":  `UPDATE hyperfind_query SET name = 'Late' WHERE tenant_id = 1`,
		"personal": `UPDATE hyperfind_query SET public = false WHERE tenant_id = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups, _, _, exec := newHyperfindGroup(t)
			exec(change)
			exec(`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name)
				VALUES (1, 3, '2020-01-01', '3000-01-01', 'Nights', ''), (1, 4, '2020-01-01', '3000-01-01', 'Nights/Store', '')`)
			ids, err := groups.Persons(tenant.With(t.Context(), 1), lead(1))
			require.NoError(t, err)
			assert.Empty(t, ids)
		})
	}
}

func TestAHyperfindThatFailsIsNotTriedAllTheTime(t *testing.T) {
	t.Parallel()
	groups, finder, clk, _ := newHyperfindGroup(t)
	ctx := tenant.With(t.Context(), 1)
	fail := func(err error) { finder.err.Store(&err) }

	fail(fault.Invalid(query.CodeSlow, "Too slow."))
	for range 2 {
		ids, err := groups.Persons(ctx, lead(1))
		require.True(t, fault.HasStatus(err, 503), err)
		assert.Contains(t, err.Error(), `"Nights"`)
		assert.Empty(t, ids)
	}
	assert.Equal(t, int64(1), finder.requests.Load())
	finder.err.Store(nil)
	clk.Advance(retryAfter)
	ids, err := groups.Persons(ctx, lead(1))
	require.NoError(t, err)
	assert.Equal(t, []int64{7, 8, 9}, ids)

	clk.Advance(cacheTTL)
	down := errors.New("down")
	fail(down)
	_, err = groups.Persons(ctx, lead(1))
	require.ErrorIs(t, err, down)
	finder.err.Store(nil)
	_, err = groups.Persons(ctx, lead(1))
	require.NoError(t, err, "what is no fault of the query is tried again at once")
}
