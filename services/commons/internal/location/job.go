package location

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// Job returns the id of the job of a location on a day, or 0 if it has no job.
func Job(ctx context.Context, db pg.Querier, ref *commonv1.Ref, day civil.Date) (int64, error) {
	ids, err := locationpath.Resolve(ctx, db, []*commonv1.Ref{ref}, day)
	if err != nil {
		return 0, err
	}
	jobs, err := pg.Collect(ctx, db, pgx.RowTo[int64], `SELECT coalesce(job_id, 0) FROM location_version
		WHERE tenant_id = $1 AND location_id = $2 AND from_date <= $3 AND to_date > $3`, tenant.Of(ctx), ids[0], day)
	if err != nil {
		return 0, err
	}
	if len(jobs) == 0 {
		return 0, errNotOnDate(ids[0], day)
	}
	return jobs[0], nil
}
