package locationset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

const (
	// maxSets limits the sets of a response.
	maxSets = 1000
	// maxLocations limits the locations of a set, and of all sets in a response.
	maxLocations = 10_000
	// maxText limits descriptions, in characters.
	maxText = 1000
)

const columns = `id, name, description, type_id, include_all_enabled, persistent_id, version, updated_at`

func scan(row pgx.CollectableRow) (*commonsv1.LocationSet, error) {
	s := &commonsv1.LocationSet{
		Id: new(int64), TypeId: new(int32), IncludeAllEnabled: new(bool), GoldData: new(bool), VersionCount: new(int64),
	}
	var updated time.Time
	err := row.Scan(s.Id, &s.Name, &s.Description, s.TypeId, s.IncludeAllEnabled, &s.PersistentId, s.VersionCount, &updated)
	s.UpdateDateTime = updated.UTC().Format("2006-01-02T15:04:05")
	return s, err
}

func check(c *commonsv1.LocationSetChange) error {
	if err := structure.CheckName("name", c.GetName()); err != nil {
		return err
	}
	if utf8.RuneCountInString(c.GetDescription()) > maxText {
		return structure.Invalid("description", "must have at most %d characters", maxText)
	}
	return checkType(c.GetTypeId())
}

func insert(ctx context.Context, tx pgx.Tx, c *commonsv1.LocationSetChange, persistentID string) (id int64, err error) {
	if err := check(c); err != nil {
		return 0, err
	}
	if utf8.RuneCountInString(persistentID) > structure.MaxName {
		return 0, structure.Invalid("persistentId", "must have at most %d characters", structure.MaxName)
	}
	err = tx.QueryRow(ctx, `INSERT INTO location_set (tenant_id, name, description, type_id, include_all_enabled, persistent_id)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`, tenant.Of(ctx), c.GetName(), c.GetDescription(), c.GetTypeId(),
		c.GetIncludeAllEnabled(), cmp.Or(persistentID, structure.NewPersistentID())).Scan(&id)
	return id, nameTakenError(err, c.GetName())
}

func nameTakenError(err error, name string) error {
	if pgerr.IsUnique(err, "location_set_name") {
		return fault.Invalid(structure.CodeTaken, fmt.Sprintf("There is a location set of this type with the name %q already.", name))
	}
	if pgerr.IsUnique(err, "location_set_persistent_id") {
		return fault.Invalid(structure.CodeTaken, "Another location set has this persistentId.")
	}
	return err
}

// same returns the id of the set to change, or 0 if it does not exist. It locks the set until
// the transaction ends.
func same(ctx context.Context, tx pgx.Tx, c *commonsv1.LocationSetChange) (id int64, err error) {
	err = tx.QueryRow(ctx, `SELECT id FROM location_set WHERE tenant_id = $1
		AND (id = $2 OR $2 IS NULL AND name = $3 AND type_id = $4) FOR UPDATE`, tenant.Of(ctx), c.Id, c.GetName(), c.GetTypeId()).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return id, err
}

// replace changes the sent properties of an existing set. If the request has a version, it
// must equal the stored one.
func replace(ctx context.Context, tx pgx.Tx, id int64, c *commonsv1.LocationSetChange) error {
	if err := check(c); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `UPDATE location_set SET name = $3, type_id = $4, description = coalesce($5, description),
			include_all_enabled = coalesce($6, include_all_enabled), version = version + 1, updated_at = now()
		WHERE tenant_id = $1 AND id = $2 AND version = coalesce($7, version)`,
		tenant.Of(ctx), id, c.GetName(), c.GetTypeId(), c.Description, c.IncludeAllEnabled, c.VersionCount)
	if err == nil && tag.RowsAffected() == 0 {
		return fault.Conflict(fault.CodeStale, "The location set was changed since it was read. Read it again.")
	}
	return nameTakenError(err, c.GetName())
}

func notFound(id int64) *fault.Error {
	return fault.NotFound(structure.CodeUnknown, fmt.Sprintf("There is no location set with the id %d.", id))
}

// get returns one set with its locations on a day, or 404.
func get(ctx context.Context, db pg.Querier, id int64, day civil.Date) (*commonsv1.LocationSet, error) {
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM location_set WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id)
	if err != nil {
		return nil, err
	}
	set, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, notFound(id)
	}
	if err != nil {
		return nil, err
	}
	return set, fill(ctx, db, []*commonsv1.LocationSet{set}, day)
}

// fill adds the locations to sets, with their paths on a day. It leaves out locations that do
// not exist on the day.
func fill(ctx context.Context, db pg.Querier, sets []*commonsv1.LocationSet, day civil.Date) error {
	byID := make(map[int64]*commonsv1.LocationSet, len(sets))
	ids := make([]int64, len(sets))
	for i, s := range sets {
		byID[s.GetId()], ids[i] = s, s.GetId()
		s.NodeJobs = &commonsv1.LocationSetJobsList{}
	}
	rows, err := db.Query(ctx, `SELECT s.set_id, s.location_id, p.path FROM location_set_location s
		JOIN location_path p ON p.tenant_id = $1 AND p.location_id = s.location_id AND p.from_date <= $3 AND p.to_date > $3
		WHERE s.tenant_id = $1 AND s.set_id = ANY($2) ORDER BY p.path LIMIT $4`, tenant.Of(ctx), ids, day, maxLocations+1)
	if err != nil {
		return err
	}
	var setID, locationID int64
	var path string
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&setID, &locationID, &path}, func() error {
		s := byID[setID]
		s.NodeRefs = append(s.NodeRefs, &commonv1.Ref{Id: new(locationID), Qualifier: new(path)})
		n++
		return nil
	})
	if err == nil && n > maxLocations {
		err = structure.TooMany("locations", n, maxLocations)
	}
	return err
}

// expandJobs adds the jobs at the locations of a set: the jobs of their direct children.
func expandJobs(ctx context.Context, db pg.Querier, set *commonsv1.LocationSet, day civil.Date) error {
	ids := make([]int64, len(set.GetNodeRefs()))
	at := make(map[int64]*commonsv1.LocationSetJobs, len(ids))
	for i, ref := range set.GetNodeRefs() {
		ids[i], at[ref.GetId()] = ref.GetId(), &commonsv1.LocationSetJobs{Node: ref}
		set.NodeJobs.Nodes = append(set.NodeJobs.Nodes, at[ref.GetId()])
	}
	rows, err := db.Query(ctx, `SELECT v.parent_id, v.location_id, `+locationpath.PathSQL("$1", "v.location_id", "$3")+`
		FROM location_version v WHERE v.tenant_id = $1 AND v.parent_id = ANY($2) AND v.job_id IS NOT NULL
		  AND v.from_date <= $3 AND v.to_date > $3 ORDER BY v.location_id LIMIT $4`, tenant.Of(ctx), ids, day, maxLocations+1)
	if err != nil {
		return err
	}
	var parent, id int64
	var path string
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&parent, &id, &path}, func() error {
		at[parent].Jobs = append(at[parent].Jobs, &commonv1.Ref{Id: new(id), Qualifier: proto.String(path)})
		n++
		return nil
	})
	if err == nil && n > maxLocations {
		err = structure.TooMany("jobs", n, maxLocations)
	}
	return err
}
