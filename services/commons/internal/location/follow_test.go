package location_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// references are all paths that persons name, as "table person from to path".
func (b fixture) references(t *testing.T) []string {
	t.Helper()
	found, err := pg.Collect(inTenant(t), b.pool, pgx.RowTo[string], `
		SELECT concat_ws(' ', kind, person_id, from_date, to_date, path) FROM (
			SELECT 'job' AS kind, person_id, from_date, to_date, organization_path AS path FROM primary_labor_account
			UNION ALL SELECT 'wage', person_id, from_date, to_date, organization_path FROM wage_work_rule
			UNION ALL SELECT 'group', person_id, from_date, to_date, manager_employee_group_name FROM person_access_assignment) AS r
		ORDER BY kind, person_id, from_date`)
	require.NoError(t, err)
	return found
}

func (b fixture) exec(t *testing.T, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		_, err := b.pool.Exec(inTenant(t), sql)
		require.NoError(t, err)
	}
}

// withPeople has the stores 1 and 10 in N, and persons who name them.
func withPeople(t *testing.T) (b fixture, north, store int64) {
	t.Helper()
	b = newFixture(t)
	b.has(t, "", "Acme")
	north = b.has(t, "Acme", "N")
	b.has(t, "Acme", "S")
	store = b.has(t, "Acme/N", "1")
	b.has(t, "Acme/N/1", "Till")
	b.has(t, "Acme/N", "10")
	b.exec(t,
		`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) SELECT 1, n, n, n, 'UTC', '' FROM generate_series(1, 5) AS n`,
		`INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES
			(1, 1, '2026-01-01', '3000-01-01', 'Acme/N/1/Till', 'C'), (1, 2, '2026-01-01', '2026-02-01', 'Acme/N/1', ''),
			(1, 2, '2026-02-01', '3000-01-01', 'Acme/N/10', ''), (1, 3, '2026-01-01', '3000-01-01', 'Acme/N/1/Gone', '')`,
		`INSERT INTO wage_work_rule (tenant_id, person_id, organization_path, from_date, to_date, hourly_rate, work_rule_name) VALUES
			(1, 2, 'Acme/N/1', '2026-01-01', '3000-01-01', 80, '')`,
		`INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name, manager_employee_group_name,
			manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name) VALUES
			(1, 3, '2026-01-01', '3000-01-01', '', 'Acme/N', '', '', ''), (1, 4, '2026-01-01', '3000-01-01', '', 'Acme/', '', '', ''),
			(1, 5, '2026-01-01', '3000-01-01', '', 'Acme', '', '', '')`)
	return b, north, store
}

func TestReferencesFollowTheirLocations(t *testing.T) {
	t.Parallel()
	const forever = " 3000-01-01 "
	groups := []string{"group 3 2026-01-01" + forever + "Acme/N", "group 4 2026-01-01" + forever + "Acme/", "group 5 2026-01-01" + forever + "Acme"}
	rename := func(b fixture, t *testing.T, id int64, name, from, to string) {
		t.Helper()
		_, err := b.MultiUpdateLocations(inTenant(t), &commonsv1.WriteLocationsRequest{Body: &commonsv1.LocationList{
			Locations: []*commonsv1.Location{{NodeId: &id, Name: &name, EffectiveDate: from, ExpirationDate: to}},
		}})
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name    string
		change  func(b fixture, t *testing.T, north, store int64)
		want    []string
		changed []int64
	}{
		{"a move on a date", func(b fixture, t *testing.T, _, store int64) {
			_, err := b.MoveLocations(inTenant(t), moveTo(store, &commonsv1.LocationDestination{DestinationRef: byPath("Acme/S"), StartDate: "2026-03-01"}))
			require.NoError(t, err)
		}, append(append([]string{}, groups...),
			"job 1 2026-01-01 2026-03-01 Acme/N/1/Till", "job 1 2026-03-01"+forever+"Acme/S/1/Till",
			"job 2 2026-01-01 2026-02-01 Acme/N/1", "job 2 2026-02-01"+forever+"Acme/N/10", "job 3 2026-01-01"+forever+"Acme/N/1/Gone",
			"wage 2 2026-01-01 2026-03-01 Acme/N/1", "wage 2 2026-03-01"+forever+"Acme/S/1"), []int64{1, 2}},
		{
			"a name for some days", func(b fixture, t *testing.T, _, store int64) { rename(b, t, store, "One", "2026-01-10", "2026-01-20") },
			append(append([]string{}, groups...),
				"job 1 2026-01-01 2026-01-10 Acme/N/1/Till", "job 1 2026-01-10 2026-01-20 Acme/N/One/Till", "job 1 2026-01-20"+forever+"Acme/N/1/Till",
				"job 2 2026-01-01 2026-01-10 Acme/N/1", "job 2 2026-01-10 2026-01-20 Acme/N/One", "job 2 2026-01-20 2026-02-01 Acme/N/1",
				"job 2 2026-02-01"+forever+"Acme/N/10", "job 3 2026-01-01"+forever+"Acme/N/1/Gone",
				"wage 2 2026-01-01 2026-01-10 Acme/N/1", "wage 2 2026-01-10 2026-01-20 Acme/N/One", "wage 2 2026-01-20"+forever+"Acme/N/1"),
			[]int64{1, 2},
		},
		{"a name for all days", func(b fixture, t *testing.T, north, _ int64) { rename(b, t, north, "North", "", "") }, []string{
			"group 3 2026-01-01" + forever + "Acme/North", groups[1], groups[2],
			"job 1 2026-01-01" + forever + "Acme/North/1/Till", "job 2 2026-01-01 2026-02-01 Acme/North/1",
			"job 2 2026-02-01" + forever + "Acme/North/10", "job 3 2026-01-01" + forever + "Acme/N/1/Gone", "wage 2 2026-01-01" + forever + "Acme/North/1",
		}, []int64{1, 2, 3}},
		{"a name of the root", func(b fixture, t *testing.T, _, _ int64) { rename(b, t, 1, "Apex", "", "") }, []string{
			"group 3 2026-01-01" + forever + "Apex/N", "group 4 2026-01-01" + forever + "Apex/", groups[2],
			"job 1 2026-01-01" + forever + "Apex/N/1/Till", "job 2 2026-01-01 2026-02-01 Apex/N/1", "job 2 2026-02-01" + forever + "Apex/N/10",
			"job 3 2026-01-01" + forever + "Acme/N/1/Gone", "wage 2 2026-01-01" + forever + "Apex/N/1",
		}, []int64{1, 2, 3, 4}},
		{"the same name", func(b fixture, t *testing.T, _, store int64) { rename(b, t, store, "1", "", "") }, append(append([]string{}, groups...),
			"job 1 2026-01-01"+forever+"Acme/N/1/Till", "job 2 2026-01-01 2026-02-01 Acme/N/1", "job 2 2026-02-01"+forever+"Acme/N/10",
			"job 3 2026-01-01"+forever+"Acme/N/1/Gone", "wage 2 2026-01-01"+forever+"Acme/N/1"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, north, store := withPeople(t)
			c.change(b, t, north, store)
			assert.Equal(t, c.want, b.references(t))
			changed, err := pg.Collect(inTenant(t), b.pool, pgx.RowTo[int64], `SELECT id FROM person WHERE version > 1 ORDER BY id`)
			require.NoError(t, err)
			assert.ElementsMatch(t, c.changed, changed, "their versions are raised")
			var events int
			require.NoError(t, b.pool.QueryRow(inTenant(t), `SELECT count(*) FROM outbox`).Scan(&events))
			assert.Equal(t, min(1, len(c.changed)), events, "they are published")
		})
	}
}

// Two wages of a person cannot come to mean the same job.
func TestAMoveOntoAWageIsRefused(t *testing.T) {
	t.Parallel()
	b, _, store := withPeople(t)
	b.exec(t, `INSERT INTO wage_work_rule (tenant_id, person_id, organization_path, from_date, to_date, hourly_rate, work_rule_name) VALUES
		(1, 2, 'Acme/S/1', '2026-06-01', '3000-01-01', 90, '')`)
	before := b.references(t)
	_, err := b.MoveLocations(inTenant(t), moveTo(store, &commonsv1.LocationDestination{DestinationRef: byPath("Acme/S"), StartDate: "2026-03-01"}))
	requireRefused(t, err, structure.CodeTaken)
	assert.Equal(t, before, b.references(t))
}
