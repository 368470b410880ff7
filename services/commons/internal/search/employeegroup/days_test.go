package employeegroup

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestDaysOfPersonsWhoAreNotInTheGroupToday(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	exec := func(sql string) {
		t.Helper()
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
		SELECT 1, n, 'P' || n, 'Person', 'UTC', '' FROM generate_series(1, 9) n`)
	exec(`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES
		(1, 2, '2020-01-01', '3000-01-01', 'Acme/North', ''),
		(1, 3, '2020-01-01', '2026-02-01', 'Acme/North/Store 1', ''), (1, 3, '2026-02-01', '3000-01-01', 'Acme/South', ''),
		(1, 4, '2020-01-01', '2026-02-01', 'Acme/North', ''),
		(1, 5, '2026-05-01', '3000-01-01', 'Acme/North', ''),
		(1, 6, '2020-01-01', '2026-05-01', 'Acme/South', ''), (1, 6, '2026-05-01', '2026-06-01', 'Acme/North', ''),
		(1, 6, '2026-08-01', '2026-09-01', 'Acme/Northern', ''),
		(1, 7, '2026-05-01', '2026-06-01', 'Acme/South', '')`)
	exec(`INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name,
			manager_employee_group_name, manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name) VALUES
		(1, 1, '2020-01-01', '3000-01-01', '', 'Acme/North', '', '', ''), (1, 9, '2020-01-01', '3000-01-01', '', 'All Home', '', '', '')`)
	groups := New(pool, nil, clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), time.UTC)
	got, err := groups.Days(ctx, &authn.Principal{Tenant: 1, PersonID: 1, Rows: "group"})
	require.NoError(t, err)
	assert.Equal(t, []rowvisibility.PersonDays{
		{PersonID: 3, Days: civil.Range{From: civil.Beginning, To: civil.Of(2026, 2, 1)}},      // was transferred
		{PersonID: 4, Days: civil.Range{From: civil.Beginning, To: civil.Forever}},             // left, and has no other job
		{PersonID: 5, Days: civil.Range{From: civil.Beginning, To: civil.Forever}},             // has no job before
		{PersonID: 6, Days: civil.Range{From: civil.Of(2026, 5, 1), To: civil.Of(2026, 8, 1)}}, // helps for a month, then has no job for two
	}, got)
	for name, p := range map[string]*authn.Principal{
		"a group that is a hyperfind": {Tenant: 1, PersonID: 9, Rows: "group"}, "a caller without a group": {Tenant: 1, PersonID: 2, Rows: "group"},
		"a caller who sees one person": {Tenant: 1, PersonID: 1, Rows: "own"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := groups.Days(ctx, p)
			require.NoError(t, err)
			assert.Empty(t, got)
		})
	}

	handler := NewHandler(groups)
	handler.page = 3
	first, err := handler.ListEmployeeGroupDays(ctx, &commonsv1.ListEmployeeGroupDaysRequest{PersonId: 1})
	require.NoError(t, err)
	assert.True(t, len(first.GetDays()) == 3 && first.GetMore())
	second, err := handler.ListEmployeeGroupDays(ctx, &commonsv1.ListEmployeeGroupDaysRequest{PersonId: 1, AfterPersonId: 5})
	require.NoError(t, err)
	assert.Equal(t, int64(6), second.GetDays()[0].GetPersonId())
}

// A group follows its location: on the days before a move, members have the former path.
func TestDaysFollowTheLocationOfTheGroup(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	exec := func(sql string) {
		t.Helper()
		_, err := pool.Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
		SELECT 1, n, 'P' || n, 'Person', 'UTC', '' FROM generate_series(1, 9) n`)
	exec(`INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 50, 'a')`)
	exec(`INSERT INTO former_location_path (tenant_id, location_id, path) VALUES (1, 50, 'Acme/Old')`)
	exec(`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, path, lineage) VALUES
		(1, 50, '2026-02-01', '3000-01-01', 2, 'Acme/New', '.1.50.')`)
	exec(`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES
		(1, 3, '2020-01-01', '2026-01-15', 'Acme/Old/Till', ''), (1, 3, '2026-01-15', '3000-01-01', 'Acme/South', ''),
		(1, 4, '2020-01-01', '2026-01-15', 'Acme/New', ''), (1, 4, '2026-01-15', '3000-01-01', 'Acme/South', '')`)
	exec(`INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name,
			manager_employee_group_name, manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name) VALUES
		(1, 1, '2026-02-01', '3000-01-01', '', 'Acme/New', '', '', '')`)
	groups := New(pool, nil, clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), time.UTC)
	got, err := groups.Days(ctx, &authn.Principal{Tenant: 1, PersonID: 1, Rows: "group"})
	require.NoError(t, err)
	assert.Equal(t, []rowvisibility.PersonDays{{PersonID: 3, Days: civil.Range{From: civil.Beginning, To: civil.Of(2026, 1, 15)}}}, got)
}
