package dataprovider

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func monthNumber(m int) time.Month { return time.Month(m) }

func ref(qualifier string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &qualifier} }

// fixture is a database of commons.
type fixture struct {
	pool *pg.Pool
	ctx  context.Context
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{
		pool: pooltest.New(t),
		ctx:  tenant.With(t.Context(), 1),
	}
}

func (b *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.pool.Exec(b.ctx, sql, args...)
	require.NoError(t, err)
}

// addAda stores Ada (1), Bo (2), who manages her, and a person without any data (3).
func (b *fixture) addAda(t *testing.T) {
	t.Helper()
	body, err := proto.Marshal(adasBody())
	require.NoError(t, err)
	b.exec(t, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES
		(1, 2, 'N-2', 'Boss, Bo', 'UTC', ''), (1, 3, 'N-3', 'None, No', 'UTC', '')`)
	b.exec(t, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, hire_date, birth_date, seniority_rank_date, body,
			first_name, last_name, middle_initial, short_name, worker_type_name, supervisor_person_number, schedule_group_name, device_group_name,
			user_name, logon_profile_name, access_profile_name, preference_profile_name, notification_profile_name, locale_policy_name,
			delegate_profile_name, aoid, coid)
		VALUES (1, 1, 'N-1', 'Okafor, Ada', 'Europe/Zurich', '2021-05-03', '1990-02-03', '2020-05-03', $1,
			'Ada', 'Okafor', 'B', 'Ad', 'Regular', 'N-2', 'Clerks', 'Devices', 'ada', 'Logon', 'Access', 'Preference', 'Notification', 'Locale',
			'Delegate', 'ao', 'co')`, body)
	b.exec(t, `INSERT INTO employment_status VALUES (1, 1, '2021-05-03', '3000-01-01', 'Active')`)
	b.exec(t, `INSERT INTO user_account_status VALUES (1, 1, '2021-05-04', '3000-01-01', 'Active')`)
	b.exec(t, `INSERT INTO primary_labor_account (tenant_id, person_id, from_date, to_date, organization_path, labor_category_name) VALUES
		(1, 1, '2021-05-03', '2025-01-01', 'Acme/West/Clerk', 'Old'), (1, 1, '2025-01-01', '2027-01-01', 'Acme/East/Clerk', 'Category')`)
	b.exec(t, `INSERT INTO base_wage_rate VALUES (1, 1, '2021-05-07', '3000-01-01', 21.5)`)
	b.exec(t, `INSERT INTO badge_assignment (tenant_id, person_id, badge_number, from_date, to_date) VALUES
		(1, 1, '78', '2022-01-01', '2023-01-01'), (1, 1, '77', '2021-05-05', '3000-01-01')`)
	b.exec(t, `INSERT INTO pay_rule_assignment VALUES (1, 1, '2021-05-06', '3000-01-01', 'Full')`)
	b.exec(t, `INSERT INTO time_entry_method VALUES (1, 1, '2021-05-08', '3000-01-01', 'Stamp', '')`)
	b.exec(t, `INSERT INTO person_access_assignment (tenant_id, person_id, from_date, to_date, home_hyper_find_query_name, manager_employee_group_name,
		manager_transfer_set_name, professional_transfer_set_name, emp_mgr_transfer_set_name)
		VALUES (1, 1, '2021-05-03', '3000-01-01', 'Home', 'Group', 'Manager set', 'Own set', 'Both set')`)
	b.exec(t, `INSERT INTO gdap_assignment (tenant_id, person_id, from_date, to_date, gdap_name, role, default_switch)
		VALUES (1, 1, '2021-05-03', '3000-01-01', 'Stores', 'manager_role', true)`)
	b.exec(t, `INSERT INTO custom_data (tenant_id, person_id, type_name, text) VALUES (1, 1, 'Shirt', 'L'), (1, 1, 'Shoe', '40')`)
	b.exec(t, `INSERT INTO custom_date VALUES (1, 1, 'Shirt', '2020-01-01')`)
	b.exec(t, `INSERT INTO email_address (tenant_id, person_id, contact_type_name, address) VALUES
		(1, 1, 'Home', 'ada@home'), (1, 1, 'Work', 'ada@work')`)
	b.addJobOfAda(t)
}

// addJobOfAda puts her job into the business structure, where it changes with the year.
func (b *fixture) addJobOfAda(t *testing.T) {
	t.Helper()
	places := make([][]byte, 2)
	for i, center := range []string{"CC-6", "CC-7"} {
		var err error
		places[i], err = proto.Marshal(&commonsv1.Location{CostCenterRef: &commonv1.Ref{Qualifier: proto.String(center)}, Description: proto.String(strings.Repeat("x", 200))})
		require.NoError(t, err)
	}
	b.exec(t, `INSERT INTO job (tenant_id, id, persistent_id) VALUES (1, 1, 'clerk')`)
	b.exec(t, `INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name, code, description, display_order) VALUES
		(1, 1, '1900-01-01', '2026-02-01', 'Old clerk', 'C-0', 'Old clerks', '20'), (1, 1, '2026-02-01', '3000-01-01', 'New clerk', 'C-1', 'Clerks', '30')`)
	b.exec(t, `INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 501, 'east clerk')`)
	b.exec(t, `INSERT INTO location_version (tenant_id, location_id, from_date, to_date, name, job_id, body) VALUES
		(1, 501, '1900-01-01', '2026-01-01', 'Clerk', 1, $1), (1, 501, '2026-01-01', '3000-01-01', 'Clerk', 1, $2)`, places[0], places[1])
	b.exec(t, `INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path) VALUES
		(1, 501, '1900-01-01', '3000-01-01', 3, '.1.2.501.', 'Acme/East/Clerk')`)
}

func TestFindEmployees(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.addAda(t)
	finder := NewFinder(b.pool, rowvisibility.New(clock.System{}))
	ask := func(ctx context.Context) []*datav1.DataRow {
		t.Helper()
		response, err := finder.FindDataRows(ctx, &datav1.FindDataRowsRequest{
			RowKind: datav1.RowKind_ROW_KIND_EMPLOYEE, Day: "2026-03-02",
			Rows: []*datav1.DataRow{{Id: 2}, {Qualifier: "N-1"}, {Id: 99}, {Qualifier: "n-1"}, {Id: 1}},
		})
		require.NoError(t, err)
		return response.GetRows()
	}
	named := func(found []*datav1.DataRow) (out []string) {
		for _, r := range found {
			out = append(out, r.GetQualifier())
		}
		return out
	}
	assert.Equal(t, []string{"N-2", "N-1", "", "N-1", "N-1"}, named(ask(b.ctx)), "the case of a person number does not matter")
	own := authn.With(b.ctx, &authn.Principal{Tenant: 1, Subject: "ada", PersonID: 1, Rows: string(rowvisibility.Own)}, "")
	assert.Equal(t, []string{"", "N-1", "", "N-1", "N-1"}, named(ask(own)), "whom the caller may not see is unknown")
	assert.Equal(t, []string{"", "", "", "", ""}, named(ask(tenant.With(t.Context(), 2))), "so is another tenant's")
}

// Persons whose employment has ended are not counted, for callers who see all persons and for others.
func TestTerminatedPersonsAreNotCounted(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.addAda(t)
	b.exec(t, `INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 1, 'p1')`)
	b.exec(t, `INSERT INTO location_version (tenant_id, location_id, from_date, to_date, name, body) VALUES (1, 1, '1900-01-01', '3000-01-01', 'Acme', '')`)
	b.exec(t, `INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path) VALUES (1, 1, '1900-01-01', '3000-01-01', 1, '.1.', 'Acme')`)
	b.exec(t, `UPDATE employment_status SET to_date = '2026-03-05' WHERE person_id = 1`)
	b.exec(t, `INSERT INTO employment_status VALUES (1, 1, '2026-03-05', '3000-01-01', 'Terminated')`)
	for name, rows := range map[string]string{"all": string(rowvisibility.All), "own": string(rowvisibility.Own)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := authn.With(b.ctx, &authn.Principal{Tenant: 1, Subject: "ada", PersonID: 1, Rows: rows}, "")
			table := newLocations(b.pool, rowvisibility.New(clock.System{}))
			for day, want := range map[civil.Date]int64{civil.Of(2026, 3, 4): 1, civil.Of(2026, 3, 5): 0} {
				loaded, err := table.LoadPeriods(ctx, []int64{1}, []civil.Range{civil.Through(day, day)}, needHeads)
				require.NoError(t, err)
				assert.Equal(t, want, loaded[0].heads[day], day.String())
			}
			monday, wednesday := civil.Of(2026, 3, 2), civil.Of(2026, 3, 4)
			loaded, err := table.LoadPeriods(ctx, []int64{1}, []civil.Range{{From: monday, To: wednesday + 1}, {From: wednesday + 1, To: wednesday + 2}}, needHeads)
			require.NoError(t, err)
			assert.Equal(t, []int64{1, 0}, []int64{loaded[0].heads[wednesday], loaded[0].heads[wednesday+1]}, "each period counts those of its last day")
		})
	}
}

func TestEveryElementOfLocations(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.addAda(t)
	body, err := proto.Marshal(&commonsv1.Location{
		FullName: proto.String("East branch"), Description: proto.String("Text"), Address: proto.String("Elm 1"), Color: proto.String("red"),
		Transferable: proto.Bool(true), DirectWorkPercent: proto.Int32(60), IndirectWorkPercent: proto.Int32(40),
		CostCenterRef: ref("CC"), CurrencyRef: ref("USD"), TimezoneRef: ref("Europe/Zurich"),
	})
	require.NoError(t, err)
	b.exec(t, `INSERT INTO location_type (tenant_id, id, name, persistent_id) VALUES (1, 7, 'Branch', 'p7')`)
	b.exec(t, `INSERT INTO job (tenant_id, id, persistent_id) VALUES (1, 8, 'j8')`)
	b.exec(t, `INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name) VALUES (1, 8, '1900-01-01', '3000-01-01', 'Clerk')`)
	b.exec(t, `INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 1, 'p1'), (1, 2, 'p2'), (1, 3, 'p3')`)
	b.exec(t, `INSERT INTO location_version (tenant_id, location_id, from_date, to_date, parent_id, name, type_id, job_id, external_id, body) VALUES
		(1, 1, '1900-01-01', '3000-01-01', NULL, 'Acme', NULL, NULL, NULL, ''), (1, 2, '2020-01-01', '2027-01-01', 1, 'East', 7, 8, 'x2', $1),
		(1, 3, '2020-01-01', '2027-01-01', 2, 'Clerk', NULL, NULL, NULL, '')`, body)
	b.exec(t, `INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path) VALUES
		(1, 1, '1900-01-01', '3000-01-01', 1, '.1.', 'Acme'), (1, 2, '2020-01-01', '2027-01-01', 2, '.1.2.', 'Acme/East'),
		(1, 3, '2020-01-01', '2027-01-01', 3, '.1.2.3.', 'Acme/East/Clerk')`)
	text, whole := dataelement.Text, dataelement.Whole
	want := map[string]value{
		"LOCATION_ID": whole(2), "LOCATION_PERSISTENT_ID": text("p2"), "LOCATION_NAME": text("East"), "LOCATION_PATH": text("Acme/East"),
		"LOCATION_FULL_NAME": text("East branch"), "LOCATION_DESCRIPTION": text("Text"), "LOCATION_ADDRESS": text("Elm 1"), "LOCATION_COLOR": text("red"),
		"LOCATION_TYPE": text("Branch"), "LOCATION_JOB": text("Clerk"), "LOCATION_EXTERNAL_ID": text("x2"), "LOCATION_PARENT_NAME": text("Acme"),
		"LOCATION_PARENT_PATH": text("Acme"), "LOCATION_COST_CENTER": text("CC"), "LOCATION_CURRENCY": text("USD"), "LOCATION_TIME_ZONE": text("Europe/Zurich"),
		"LOCATION_PARENT_ID": whole(1), "LOCATION_DEPTH": whole(2), "LOCATION_TRANSFERABLE": dataelement.Bool(true), "LOCATION_DIRECT_WORK_PERCENT": whole(60),
		"LOCATION_INDIRECT_WORK_PERCENT": whole(40), "LOCATION_EFFECTIVE_DATE": dataelement.Day(civil.Of(2020, 1, 1)),
		"LOCATION_EXPIRATION_DATE": dataelement.Day(civil.Of(2026, 12, 31)), "LOCATION_CHILD_COUNT": whole(1), "LOCATION_EMPLOYEE_COUNT": whole(1),
	}
	table := newLocations(b.pool, nil)
	require.Empty(t, table.Problems())
	week := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))
	for _, e := range table.Entries {
		loaded, err := table.LoadPeriods(b.ctx, []int64{2, 99}, []civil.Range{week}, e.Needs)
		require.NoError(t, err, e.Key)
		assert.Equal(t, want[e.Key], e.Value(loaded[0], at{Days: week}), e.Key)
		assert.Equal(t, e.Type, want[e.Key].Type(), e.Key)
		delete(want, e.Key)
	}
	assert.Empty(t, want)

	found, err := NewFinder(b.pool, nil).FindDataRows(b.ctx, &datav1.FindDataRowsRequest{
		RowKind: datav1.RowKind_ROW_KIND_LOCATION, Day: "2026-03-02", Rows: []*datav1.DataRow{{Id: 2}, {Qualifier: "Acme/East/Clerk"}, {Qualifier: "Acme/West"}},
	})
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 3, 0}, []int64{found.GetRows()[0].GetId(), found.GetRows()[1].GetId(), found.GetRows()[2].GetId()})
	assert.Equal(t, "Acme/East", found.GetRows()[0].GetQualifier())
}
