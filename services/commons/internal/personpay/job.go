package personpay

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// A path names a job if it names a location that exists on the day, a person has it as primary
// job, or this person has a wage or a work rule for it. The latter two cover tenants without
// locations. A job at a location gets the path of the location on the day.
var resolveJobs = `
SELECT q.n, CASE WHEN q.id <> 0 THEN ` + locationpath.PathSQL("$1", "q.id", "q.day") + `
    ELSE coalesce(` + locationpath.PathSQL("$1", locationpath.AtSQL("$1", "q.path", "q.day"), "q.day") + `,
      CASE WHEN EXISTS (SELECT FROM primary_labor_account a WHERE a.tenant_id = $1 AND a.organization_path = q.path AND a.from_date <= q.day AND a.to_date > q.day)
      OR EXISTS (SELECT FROM wage_work_rule w WHERE w.tenant_id = $1 AND w.person_id = q.person_id AND w.organization_path = q.path
                 AND w.from_date <= q.day AND w.to_date > q.day)
      THEN q.path END) END
FROM unnest($2::bigint[], $3::date[], $4::bigint[], $5::text[]) WITH ORDINALITY AS q (person_id, day, id, path, n)`

// ResolveJobs returns the paths of jobs on their days.
func (h *Handler) ResolveJobs(ctx context.Context, req *commonsv1.ResolveJobsRequest) (*commonsv1.ResolveJobsResponse, error) {
	n := len(req.GetJobs())
	persons, days, ids, paths := make([]int64, n), make([]civil.Date, n), make([]int64, n), make([]string, n)
	out := &commonsv1.ResolveJobsResponse{Jobs: make([]*commonsv1.ResolvedJob, n)}
	for i, j := range req.GetJobs() {
		persons[i], days[i], ids[i], paths[i] = j.GetPersonId(), civil.Date(j.GetDay()), j.GetId(), j.GetPath()
		out.Jobs[i] = &commonsv1.ResolvedJob{}
	}
	rows, err := h.pool.Query(ctx, resolveJobs, tenant.Of(ctx), persons, days, ids, paths)
	if err != nil {
		return nil, fmt.Errorf("resolve jobs: %w", err)
	}
	var number int64
	var path *string
	_, err = pgx.ForEachRow(rows, []any{&number, &path}, func() error {
		if path != nil {
			out.Jobs[number-1].Path = *path
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("resolve jobs: %w", err)
	}
	return out, nil
}
