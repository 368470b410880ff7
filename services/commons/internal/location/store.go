package location

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

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

// version holds the properties of a location for a range of days.
type version struct {
	parentID, typeID, jobID *int64
	name                    string
	externalID              *string
	// body is a Location without the properties that the fields above hold.
	body *commonsv1.Location
	// updatedAt is the time of the last change; nil stands for now.
	updatedAt *time.Time
}

func insert(ctx context.Context, tx pgx.Tx, persistentID string) (id int64, err error) {
	err = tx.QueryRow(ctx, `INSERT INTO location (tenant_id, persistent_id) VALUES ($1, $2) RETURNING id`,
		tenant.Of(ctx), cmp.Or(persistentID, structure.NewPersistentID())).Scan(&id)
	if pgerr.IsUnique(err, "location_persistent_id") {
		err = fault.Invalid(structure.CodeTaken, fmt.Sprintf("Another location has the persistentId %q.", persistentID))
	}
	return id, err
}

// history returns all versions of a location in order. The list is empty if the location does
// not exist.
func history(ctx context.Context, db pg.Querier, id int64) ([]timeline.Interval[version], error) {
	return pg.Collect(ctx, db, func(row pgx.CollectableRow) (timeline.Interval[version], error) {
		var from, to civil.Date
		v := version{body: &commonsv1.Location{}}
		var body []byte
		err := row.Scan(&from, &to, &v.parentID, &v.typeID, &v.jobID, &v.name, &v.externalID, &body, &v.updatedAt)
		if err == nil {
			err = proto.Unmarshal(body, v.body)
		}
		return timeline.Interval[version]{Days: civil.Range{From: from, To: to}, Value: v}, err
	}, `SELECT from_date, to_date, parent_id, type_id, job_id, name, external_id, body, updated_at
		FROM location_version WHERE tenant_id = $1 AND location_id = $2 ORDER BY from_date`, tenant.Of(ctx), id)
}

// replace replaces the stored versions of a location. Unchanged versions keep the time of
// their last change.
func replace(ctx context.Context, tx pgx.Tx, id int64, versions []timeline.Interval[version]) error {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM location_version WHERE tenant_id = $1 AND location_id = $2`, tenantID, id)
	for i, v := range versions {
		body, err := proto.MarshalOptions{Deterministic: true}.Marshal(v.Value.body)
		if err != nil {
			return fmt.Errorf("encode location: %w", err)
		}
		batch.Queue(`INSERT INTO location_version (tenant_id, location_id, from_date, to_date, parent_id, type_id, job_id,
				name, external_id, body, first_revision, last_revision, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce($13, now()))`,
			tenantID, id, v.Days.From, v.Days.To, v.Value.parentID, v.Value.typeID, v.Value.jobID,
			v.Value.name, v.Value.externalID, body, i == 0, i == len(versions)-1, v.Value.updatedAt)
	}
	return tx.SendBatch(ctx, batch).Close()
}

// columns are the columns that scan reads: from a location l, its version v and its place p,
// and the names of its references on the first day when v applies at p.
const columns = `l.id, l.persistent_id, v.from_date, v.to_date, v.first_revision, v.last_revision, v.parent_id, v.name,
	v.external_id, v.body, p.path, p.lineage, p.from_date, v.type_id, t.name, v.job_id,
	(SELECT j.name FROM job_version j WHERE j.tenant_id = $1 AND j.job_id = v.job_id
	   AND j.from_date <= greatest(v.from_date, p.from_date) AND j.to_date > greatest(v.from_date, p.from_date))`

// joins adds the versions that apply during a place p.
const joins = ` JOIN location_version v ON v.tenant_id = $1 AND v.location_id = p.location_id
	     AND v.from_date < p.to_date AND v.to_date > p.from_date
	JOIN location l ON l.tenant_id = $1 AND l.id = p.location_id
	LEFT JOIN location_type t ON t.tenant_id = $1 AND t.id = v.type_id `

// found is a location for a response, with further values that the response does not show.
type found struct {
	*commonsv1.Location
	lineage string
	// pathFrom is the first day of the path, and from the first day of the version.
	pathFrom time.Time
	from     civil.Date
}

func scan(row pgx.CollectableRow) (found, error) {
	f := found{Location: &commonsv1.Location{}}
	var from, to civil.Date
	var body []byte
	var id int64
	var parent, typeID, jobID *int64
	var name, persistentID, path string
	var typeName, jobName, externalID *string
	var first, last bool
	if err := row.Scan(&id, &persistentID, &from, &to, &first, &last, &parent, &name, &externalID, &body,
		&path, &f.lineage, &f.pathFrom, &typeID, &typeName, &jobID, &jobName); err != nil {
		return f, err
	}
	if err := proto.Unmarshal(body, f.Location); err != nil {
		return f, fmt.Errorf("decode location %d: %w", id, err)
	}
	f.NodeId, f.Name, f.PersistentId, f.OrgPath = &id, &name, persistentID, path
	f.from, f.EffectiveDate, f.ExpirationDate = from, from.String(), to.String()
	f.FirstRevision, f.LastRevision, f.ExternalId = &first, &last, externalID
	if f.ParentNodeRef = newRef(parent, parentPath(path, name)); parent == nil {
		f.ParentNodeRef = &commonv1.Ref{Id: new(int64(0)), Qualifier: new(topPath)}
	}
	f.OrgNodeTypeRef, f.GenericJobRef = newRef(typeID, typeName), newRef(jobID, jobName)
	f.ContextRef = &commonv1.Ref{Id: new(int64(1)), Qualifier: new("ORG")}
	if f.FullName == nil {
		f.FullName = &name
	}
	if f.Description == nil {
		f.Description = new("")
	}
	if f.Transferable == nil {
		f.Transferable = new(false)
	}
	return f, nil
}

// topPath is the name for the parent of top locations, in requests and responses.
const topPath = "/"

// isTop reports whether a reference to a parent stands for the top of the tree.
func isTop(ref *commonv1.Ref) bool {
	return ref != nil && ref.GetId() == 0 && (ref.GetQualifier() == topPath || ref.Id != nil && ref.GetQualifier() == "")
}

// parentPath returns a path without its last name, or nil at the top.
func parentPath(path, name string) *string {
	if len(path) <= len(name) {
		return nil
	}
	parent := path[:len(path)-len(name)-1]
	return &parent
}

// on returns a location on a day. It returns 404 if the location does not exist, and 400 if
// it does not exist on the day.
func on(ctx context.Context, db pg.Querier, id int64, day civil.Date) (*commonsv1.Location, error) {
	tenantID := tenant.Of(ctx)
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM location_path p`+joins+`
		WHERE p.tenant_id = $1 AND p.location_id = $2 AND p.from_date <= $3 AND p.to_date > $3
		  AND v.from_date <= $3 AND v.to_date > $3`, tenantID, id, day)
	if err != nil {
		return nil, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, scan)
	if !errors.Is(err, pgx.ErrNoRows) {
		return f.Location, err
	}
	var exists bool
	if err := db.QueryRow(ctx, `SELECT EXISTS (SELECT FROM location WHERE tenant_id = $1 AND id = $2)`, tenantID, id).Scan(&exists); err != nil {
		return nil, err
	}
	if !exists {
		return nil, fault.NotFound(structure.CodeUnknown, fmt.Sprintf("There is no location with the id %d.", id))
	}
	return nil, errNotOnDate(id, day)
}

func errNotOnDate(id int64, day civil.Date) *fault.Error {
	return fault.Invalid(structure.CodeNotOnDate, fmt.Sprintf("The location with the id %d does not exist on %s.", id, day))
}
