package personpay_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/personpay"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

// A location is called A/Cook before a day and A/Chef from it on, and another one is deleted.
func TestResolveJobs(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	day := civil.Of(2026, 3, 2)
	for tenantID := int64(1); tenantID <= 2; tenantID++ {
		ctx := tenant.With(t.Context(), tenantID)
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES ($1, 7, '7', 'Seven', 'UTC', ''), ($1, 8, '8', 'Eight', 'UTC', '')`, tenantID)
		batch.Queue(`INSERT INTO primary_labor_account VALUES ($1, 8, $2, $3, 'Plain text/Clerk', '')`, tenantID, day, day+10)
		batch.Queue(`INSERT INTO wage_work_rule VALUES ($1, 7, 'Paid/Baker', $2, $3, 30, '')`, tenantID, day, day+10)
		batch.Queue(`INSERT INTO location (tenant_id, id, persistent_id) VALUES ($1, $2, 'a'), ($1, $3, 'b')`, tenantID, 100*tenantID, 100*tenantID+1)
		batch.Queue(`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
			VALUES ($1, $2, $3, $4, 2, '.1.', 'A/Cook'), ($1, $2, $4, $5, 2, '.1.', 'A/Chef'), ($1, $6, $3, $4, 2, '.2.', 'A/Gone')`,
			tenantID, 100*tenantID, civil.Beginning, day, civil.Forever, 100*tenantID+1)
		batch.Queue(`INSERT INTO former_location_path VALUES ($1, 'A/Helper', $2)`, tenantID, 100*tenantID)
		require.NoError(t, pool.SendBatch(ctx, batch).Close())
	}
	ctx := tenant.With(t.Context(), 1)
	cases := map[string]struct {
		asked *commonsv1.NamedJob
		want  string
	}{
		"a path of the day":              {&commonsv1.NamedJob{Day: int32(day), Path: "A/Chef"}, "A/Chef"},
		"a path that comes later":        {&commonsv1.NamedJob{Day: int32(day - 1), Path: "A/Chef"}, ""},
		"a path before a rename":         {&commonsv1.NamedJob{Day: int32(day), Path: "A/Cook"}, "A/Chef"},
		"a path taken on all days":       {&commonsv1.NamedJob{Day: int32(day - 1), Path: "A/Helper"}, "A/Cook"},
		"another case":                   {&commonsv1.NamedJob{Day: int32(day), Path: "a/chef"}, ""},
		"a deleted location":             {&commonsv1.NamedJob{Day: int32(day), Path: "A/Gone"}, ""},
		"a location before its deletion": {&commonsv1.NamedJob{Day: int32(day - 1), Path: "A/Gone"}, "A/Gone"},
		"an id":                          {&commonsv1.NamedJob{Day: int32(day), Id: 100}, "A/Chef"},
		"an id before a rename":          {&commonsv1.NamedJob{Day: int32(day - 1), Id: 100, Path: "ignored"}, "A/Cook"},
		"an id of a deleted location":    {&commonsv1.NamedJob{Day: int32(day), Id: 101}, ""},
		"an id of another tenant":        {&commonsv1.NamedJob{Day: int32(day), Id: 200}, ""},
		"a primary job of somebody":      {&commonsv1.NamedJob{PersonId: 7, Day: int32(day), Path: "Plain text/Clerk"}, "Plain text/Clerk"},
		"a primary job of other days":    {&commonsv1.NamedJob{PersonId: 7, Day: int32(day + 10), Path: "Plain text/Clerk"}, ""},
		"a job with a wage":              {&commonsv1.NamedJob{PersonId: 7, Day: int32(day), Path: "Paid/Baker"}, "Paid/Baker"},
		"a job with a wage of others":    {&commonsv1.NamedJob{PersonId: 8, Day: int32(day), Path: "Paid/Baker"}, ""},
		"nothing":                        {&commonsv1.NamedJob{PersonId: 7, Day: int32(day)}, ""},
	}
	handler := personpay.New(pool)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := handler.ResolveJobs(ctx, &commonsv1.ResolveJobsRequest{Jobs: []*commonsv1.NamedJob{{Path: "first"}, c.asked}})
			require.NoError(t, err)
			require.Len(t, got.GetJobs(), 2)
			assert.Empty(t, got.GetJobs()[0].GetPath())
			assert.Equal(t, c.want, got.GetJobs()[1].GetPath())
		})
	}
}

// A wage is known by every path that names its job on a day: timecards keep the paths of their entry.
func TestWagesAreKnownByAllPathsOfTheirJob(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	day := civil.Of(2026, 3, 2)
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES (1, 7, '7', 'Seven', 'UTC', '')`)
	batch.Queue(`INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 1, 'a'), (1, 2, 'b')`)
	batch.Queue(`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
		VALUES (1, 1, $1, $2, 2, '.1.', 'N/1'), (1, 1, $2, $4, 2, '.1.', 'S/1'), (1, 2, $3, $4, 2, '.2.', 'N/1')`,
		civil.Beginning, day, day+7, civil.Forever)
	batch.Queue(`INSERT INTO former_location_path VALUES (1, 'N/One', 1)`)
	batch.Queue(`INSERT INTO wage_work_rule VALUES (1, 7, 'N/1', $1, $2, 80, ''), (1, 7, 'S/1', $2, $3, 80, ''), (1, 7, 'Text', $1, $3, 5, '')`, day-10, day, civil.Forever)
	require.NoError(t, pool.SendBatch(ctx, batch).Close())
	got, err := personpay.New(pool).ReadPersonPay(ctx, &commonsv1.ReadPersonPayRequest{PersonIds: []int64{7}, From: int32(day - 10), To: int32(day + 10), Wages: true})
	require.NoError(t, err)
	// rates returns the wages of a day by job.
	rates := func(on civil.Date) map[string]float64 {
		out := map[string]float64{}
		for _, w := range got.GetPersons()[0].GetWages() {
			if int32(on) >= w.GetFrom() && int32(on) < w.GetTo() {
				out[w.GetJob()] += w.GetHourlyRate()
			}
		}
		return out
	}
	assert.Equal(t, map[string]float64{"N/1": 80, "N/One": 80, "Text": 5}, rates(day-1))
	assert.Equal(t, map[string]float64{"N/1": 80, "N/One": 80, "S/1": 80, "Text": 5}, rates(day))
	assert.Equal(t, map[string]float64{"N/One": 80, "S/1": 80, "Text": 5}, rates(day+7), "another location has the path")
}

// A wage for a path that another location gets later is the wage of that location from then on.
func TestAWageBelongsToTheLocationThatThePathNamesOnTheDay(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), 1)
	day := civil.Of(2026, 3, 2)
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body) VALUES (1, 7, '7', 'Seven', 'UTC', '')`)
	batch.Queue(`INSERT INTO location (tenant_id, id, persistent_id) VALUES (1, 1, 'a'), (1, 2, 'b')`)
	batch.Queue(`INSERT INTO location_path (tenant_id, location_id, from_date, to_date, depth, lineage, path)
		VALUES (1, 1, $1, $2, 2, '.1.', 'N/1'), (1, 1, $2, $4, 2, '.1.', 'S/1'), (1, 2, $1, $3, 2, '.2.', 'N/2'), (1, 2, $3, $4, 2, '.2.', 'N/1')`,
		civil.Beginning, day, day+7, civil.Forever)
	batch.Queue(`INSERT INTO wage_work_rule VALUES (1, 7, 'N/1', $1, $2, 80, '')`, day-10, civil.Forever)
	require.NoError(t, pool.SendBatch(ctx, batch).Close())
	got, err := personpay.New(pool).ReadPersonPay(ctx, &commonsv1.ReadPersonPayRequest{PersonIds: []int64{7}, From: int32(day - 10), To: int32(day + 10), Wages: true})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		on    civil.Date
		rates map[string]float64
	}{
		"before the first location is renamed": {day - 1, map[string]float64{"N/1": 80}},
		"when it is renamed":                   {day, map[string]float64{"N/1": 80, "S/1": 80}},
		"when another location gets the path":  {day + 7, map[string]float64{"N/1": 80, "N/2": 80}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rates := map[string]float64{}
			for _, w := range got.GetPersons()[0].GetWages() {
				if int32(c.on) >= w.GetFrom() && int32(c.on) < w.GetTo() {
					rates[w.GetJob()] += w.GetHourlyRate()
				}
			}
			assert.Equal(t, c.rates, rates)
		})
	}
}
