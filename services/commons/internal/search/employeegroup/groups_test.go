package employeegroup

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestMembers(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	exec := func(ctx context.Context, sql string) {
		t.Helper()
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	for id, ctx := range map[string]context.Context{"1": ctx, "2": tenant.With(t.Context(), 2)} {
		exec(ctx, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
			SELECT `+id+`, n, 'P' || n, 'Person', 'UTC', '' FROM generate_series(1, 9) n`)
		exec(ctx, `INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES
			(`+id+`, 2, '2020-01-01', '3000-01-01', 'Acme/North', ''),
			(`+id+`, 3, '2020-01-01', '3000-01-01', 'Acme/North/Store 1', ''),
			(`+id+`, 4, '2020-01-01', '3000-01-01', 'Acme/North/Ökostand/Till', ''),
			(`+id+`, 5, '2020-01-01', '3000-01-01', 'Acme/Northern', ''),
			(`+id+`, 6, '2020-01-01', '3000-01-01', 'Acme', ''),
			(`+id+`, 7, '2020-01-01', '2026-03-01', 'Acme/North', ''),
			(`+id+`, 7, '2026-03-01', '3000-01-01', 'Acme/South', ''),
			(`+id+`, 8, '2026-03-02', '3000-01-01', 'Acme/North', '')`)
	}
	exec(ctx, `INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name,
			manager_employee_group_name, manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name) VALUES
		(1, 1, '2020-01-01', '2026-03-01', '', 'Acme', '', '', ''), (1, 1, '2026-03-01', '3000-01-01', '', ' Acme/North/ ', '', '', ''),
		(1, 9, '2020-01-01', '3000-01-01', '', ' / ', '', '', '')`)
	// A group may have its own days within the days of the assignment.
	exec(ctx, `INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name,
			manager_employee_group_name, manager_employee_group_from, manager_employee_group_to,
			manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name) VALUES
		(1, 3, '2020-01-01', '3000-01-01', '', 'Acme/North', '2026-03-01', '2026-03-02', '', '', ''),
		(1, 4, '2020-01-01', '3000-01-01', '', 'Acme/North', '2026-03-02', NULL, '', '', ''),
		(1, 5, '2020-01-01', '3000-01-01', '', 'Acme/North', NULL, '2026-03-01', '', '', '')`)

	// Elsewhere it is still the day before.
	groups := New(pool, nil, clock.NewFake(time.Date(2026, 2, 28, 23, 0, 0, 0, time.UTC)), time.FixedZone("", 2*60*60))
	ids, err := groups.Persons(ctx, &authn.Principal{Tenant: 1, PersonID: 1, Rows: "group"})
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3, 4}, ids, "who is at the path or below it today")
	ids, err = groups.Persons(ctx, &authn.Principal{Tenant: 1, PersonID: 3, Rows: "group"})
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3, 4}, ids, "the only day of the group is today")
	for name, p := range map[string]*authn.Principal{
		"somebody whose group names nothing": {Tenant: 1, PersonID: 9, Rows: "group"},
		"somebody without a group":           {Tenant: 1, PersonID: 2, Rows: "group"},
		"somebody whose group is tomorrow's": {Tenant: 1, PersonID: 4, Rows: "group"},
		"somebody whose group has ended":     {Tenant: 1, PersonID: 5, Rows: "group"},
		"nobody":                             {Tenant: 1, PersonID: 99, Rows: "group"},
		"somebody who sees themselves":       {Tenant: 1, PersonID: 1, Rows: "own"},
	} {
		t.Run(name, func(t *testing.T) {
			ids, err := groups.Persons(ctx, p)
			require.NoError(t, err)
			assert.Empty(t, ids, name)
		})
	}

	handler := NewHandler(groups)
	handler.page = 2
	first, err := handler.ListEmployeeGroupMembers(ctx, &commonsv1.ListEmployeeGroupMembersRequest{PersonId: 1})
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3}, first.GetPersonIds())
	assert.True(t, first.GetMore())
	second, err := handler.ListEmployeeGroupMembers(ctx, &commonsv1.ListEmployeeGroupMembersRequest{PersonId: 1, AfterPersonId: 3})
	require.NoError(t, err)
	assert.Equal(t, []int64{4}, second.GetPersonIds())
	assert.False(t, second.GetMore())
}

func TestGroupContains(t *testing.T) {
	t.Parallel()
	root, north, query := Parse(" Acme/ "), Parse("Acme/North"), Parse("Acme")
	assert.True(t, root.Contains("Acme") && root.Contains("Acme/North") && north.Within(root) && Group{}.Within(query))
	for _, path := range []string{"Acme2", "acme", "Other/Acme", ""} {
		t.Run(path, func(t *testing.T) {
			assert.False(t, root.Contains(path), path)
		})
	}
	for _, none := range []Group{{}, query, Parse("/")} {
		t.Run(none.path, func(t *testing.T) {
			assert.False(t, none.Contains("Acme") || none.Contains("") || north.Within(none), none)
		})
	}
	assert.False(t, root.Within(north) || query.Within(root) || query.Within(query), "whom a query finds may change")
}
