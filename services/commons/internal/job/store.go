package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
	"github.com/rotaloom/rotaloom/services/commons/internal/timeline"
)

// columns are the columns that scan reads, from job j and its version v.
const columns = `j.id, v.name, v.full_name, v.description, v.code, v.color, v.display_order,
	v.from_date, v.to_date, v.first_revision, v.last_revision, v.external_id, j.persistent_id`

const joined = ` FROM job_version v JOIN job j ON j.tenant_id = v.tenant_id AND j.id = v.job_id `

func scan(row pgx.CollectableRow) (*commonsv1.Job, error) {
	j := &commonsv1.Job{
		Id: new(int64), Name: new(string), FullName: new(string), Description: new(string), Code: new(string),
		Color: new(string), DisplayOrder: new(string), FirstRevision: new(bool), LastRevision: new(bool),
	}
	var from, to civil.Date
	err := row.Scan(j.Id, j.Name, j.FullName, j.Description, j.Code, j.Color, j.DisplayOrder,
		&from, &to, j.FirstRevision, j.LastRevision, &j.ExternalId, &j.PersistentId)
	j.EffectiveDate, j.ExpirationDate = from.String(), to.String()
	for _, text := range []**string{&j.FullName, &j.Description, &j.Code, &j.Color, &j.DisplayOrder} {
		if **text == "" {
			*text = nil
		}
	}
	return j, err
}

// on returns a job on a day. It returns 404 if the job does not exist, and 400 if the job
// does not exist on the day.
func on(ctx context.Context, db pg.Querier, id int64, day civil.Date) (*commonsv1.Job, error) {
	tenantID := tenant.Of(ctx)
	rows, err := db.Query(ctx, `SELECT `+columns+joined+`
		WHERE v.tenant_id = $1 AND v.job_id = $2 AND v.from_date <= $3 AND v.to_date > $3`, tenantID, id, day)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectExactlyOneRow(rows, scan)
	if !errors.Is(err, pgx.ErrNoRows) {
		return found, err
	}
	var exists bool
	if err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM job WHERE tenant_id = $1 AND id = $2)`, tenantID, id).Scan(&exists); err != nil {
		return nil, err
	}
	if !exists {
		return nil, unknownJobError(id)
	}
	return nil, errNotOnDate(id, day)
}

// find returns the id of the job that a request names.
func find(ctx context.Context, db pg.Querier, req *commonsv1.FindJobRequest) (int64, civil.Date, error) {
	if req.GetName() == "" {
		return 0, 0, structure.Missing("name")
	}
	day, err := structure.Day("date", req.GetDate())
	if err != nil {
		return 0, 0, err
	}
	ids, err := Resolve(ctx, db, []*commonv1.Ref{{Qualifier: &req.Name}}, day)
	if fault.HasCode(err, structure.CodeUnknownJob) {
		err = fault.NotFound(structure.CodeUnknownJob, fmt.Sprintf("There is no job with the name %q on %s.", req.GetName(), day))
	}
	if err != nil {
		return 0, 0, err
	}
	return ids[0], day, nil
}

// Resolve returns the ids of the jobs that references name, in the order of the references. A
// qualifier is the name on the day. An id takes precedence over it, and may be the id of a
// job that exists on other days only. An unknown job is a fault with the status 400.
func Resolve(ctx context.Context, db pg.Querier, refs []*commonv1.Ref, day civil.Date) ([]int64, error) {
	return structure.Resolve(refs, func(ids []int64, names []string) (pgx.Rows, error) {
		return db.Query(ctx, `SELECT id, NULL::text FROM job WHERE tenant_id = $1 AND id = ANY($2)
			UNION ALL SELECT job_id, name FROM job_version
			WHERE tenant_id = $1 AND name = ANY($3) AND from_date <= $4 AND to_date > $4`, tenant.Of(ctx), ids, names, day)
	}, func(ref *commonv1.Ref) error {
		return fault.Invalid(structure.CodeUnknownJob, fmt.Sprintf("There is no job with %s on %s.", structure.Text(ref), day))
	})
}

func insert(ctx context.Context, db pg.Querier, persistentID string) (id int64, err error) {
	err = db.QueryRow(ctx, `INSERT INTO job (tenant_id, persistent_id) VALUES ($1, $2) RETURNING id`,
		tenant.Of(ctx), cmp.Or(persistentID, structure.NewPersistentID())).Scan(&id)
	if pgerr.IsUnique(err, "job_persistent_id") {
		err = fault.Invalid(structure.CodeTaken, fmt.Sprintf("Another job has the persistentId %q.", persistentID))
	}
	return id, err
}

// history returns all versions of a job in order, or 404. It locks the job, to serialize
// changes.
func history(ctx context.Context, db pg.Querier, id int64) ([]timeline.Interval[version], error) {
	tenantID := tenant.Of(ctx)
	var locked int64
	err := db.QueryRow(ctx, `SELECT id FROM job WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`, tenantID, id).Scan(&locked)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, unknownJobError(id)
	}
	if err != nil {
		return nil, err
	}
	return pg.Collect(ctx, db, func(row pgx.CollectableRow) (timeline.Interval[version], error) {
		var from, to civil.Date
		var v version
		err := row.Scan(&from, &to, &v.name, &v.fullName, &v.description, &v.code, &v.color, &v.displayOrder, &v.externalID, &v.updatedAt)
		return timeline.Interval[version]{Days: civil.Range{From: from, To: to}, Value: v}, err
	}, `SELECT from_date, to_date, name, full_name, description, code, color, display_order, external_id, updated_at
		FROM job_version WHERE tenant_id = $1 AND job_id = $2 ORDER BY from_date`, tenantID, id)
}

// replace replaces the stored versions of a job. Unchanged versions keep the time of their
// last change.
func replace(ctx context.Context, db pg.Querier, id int64, versions []timeline.Interval[version]) error {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM job_version WHERE tenant_id = $1 AND job_id = $2`, tenantID, id)
	for i, v := range versions {
		batch.Queue(`INSERT INTO job_version (tenant_id, job_id, from_date, to_date, name, full_name, description, code,
				color, display_order, external_id, first_revision, last_revision, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, coalesce($14, now()))`,
			tenantID, id, v.Days.From, v.Days.To, v.Value.name, v.Value.fullName, v.Value.description,
			v.Value.code, v.Value.color, v.Value.displayOrder, v.Value.externalID, i == 0, i == len(versions)-1, v.Value.updatedAt)
	}
	err := db.SendBatch(ctx, batch).Close()
	if pgerr.IsExclusion(err, "job_version_name") {
		return fault.New(structure.CodeTaken, http.StatusBadRequest, "Another job has this name on some of the days.")
	}
	return err
}

// remove deletes a job. It returns 404 if the job does not exist, and 400 if a location uses
// it.
func remove(ctx context.Context, pool *pg.Pool, id int64) error {
	err := pg.ExecOne(ctx, pool, `DELETE FROM job WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id)
	switch {
	case pgerr.IsForeignKey(err, ""):
		return fault.Invalid(structure.CodeInUse,
			fmt.Sprintf("Locations have the job with the id %d. Remove it from them first.", id))
	case errors.Is(err, pgx.ErrNoRows):
		return unknownJobError(id)
	}
	return err
}

// ref returns the reference to a job as responses show it.
func ref(id int64, name string) *commonv1.Ref {
	return &commonv1.Ref{Id: &id, Qualifier: proto.String(name)}
}
