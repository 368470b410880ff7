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
		require.NoError(t, pool.SendBatch(ctx, batch).Close())
	}
	ctx := tenant.With(t.Context(), 1)
	cases := map[string]struct {
		asked *commonsv1.NamedJob
		want  string
	}{
		"a path of the day":              {&commonsv1.NamedJob{Day: int32(day), Path: "A/Chef"}, "A/Chef"},
		"a path that comes later":        {&commonsv1.NamedJob{Day: int32(day - 1), Path: "A/Chef"}, ""},
		"a path before a rename":         {&commonsv1.NamedJob{Day: int32(day), Path: "A/Cook"}, "A/Cook"},
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
