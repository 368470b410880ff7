// Package store reads and writes the rows of persons.
package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	"github.com/rotaloom/rotaloom/pkg/names"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// ErrStale reports that another request changed a person, or took a name or a badge, between
// the read and the write. The operation must start again.
var ErrStale = errors.New("somebody else was faster")

// NewIDs allocates ids for new persons. Unused ids are lost.
func NewIDs(ctx context.Context, db pg.Querier, n int) ([]int64, error) {
	ids, err := pg.Collect(ctx, db, pgx.RowTo[int64], `SELECT nextval('person_id') FROM generate_series(1, $1)`, n)
	if err != nil {
		return nil, fmt.Errorf("take person ids: %w", err)
	}
	return ids, nil
}

// PersonNumberOwners returns the ids of the persons with the numbers.
func PersonNumberOwners(ctx context.Context, db pg.Querier, numbers []string) (map[string]int64, error) {
	out := map[string]int64{}
	var number string
	var id int64
	if err := pg.ForEach(ctx, db, []any{&number, &id}, func() error {
		out[number] = id
		return nil
	}, personsByNumber, tenant.Of(ctx), numbers); err != nil {
		return nil, fmt.Errorf("look for person numbers: %w", err)
	}
	return out, nil
}

// Write stores new and changed persons. The number of statements does not depend on the
// number of persons. A conflict with another request is ErrStale.
func Write(ctx context.Context, tx pgx.Tx, persons []Change) error {
	tenantID := tenant.Of(ctx)
	if err := keepDeviceGroups(ctx, tx, persons); err != nil {
		return err
	}
	if err := lockUnchanged(ctx, tx, persons); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if err := queuePersons(batch, tenantID, persons); err != nil {
		return err
	}
	for _, l := range record.Tables() {
		var replaced []int64
		var fresh []personList
		for _, p := range persons {
			entries := l.DatedElements(p.Record)
			if p.Old != nil {
				if record.EqualElements(l.DatedElements(p.Old.Record), entries) {
					continue
				}
				replaced = append(replaced, p.ID)
			}
			fresh = append(fresh, personList{p.ID, entries})
		}
		if err := queueLists(l, batch, tenantID, replaced, fresh); err != nil {
			return err
		}
	}
	queueNewHires(batch, tenantID, persons)
	queueDeviceGroups(batch, tenantID, persons)
	err := tx.SendBatch(ctx, batch).Close()
	if pgerr.IsUnique(err, "") || pgerr.IsExclusion(err, "") {
		return errors.Join(ErrStale, err)
	}
	if err != nil {
		return fmt.Errorf("store persons: %w", err)
	}
	return nil
}

// lockUnchanged locks the existing persons in the order of their ids. A person who has
// changed since the read is ErrStale.
func lockUnchanged(ctx context.Context, tx pgx.Tx, persons []Change) error {
	versions := map[int64]int64{}
	var ids []int64
	for _, p := range persons {
		if p.Old != nil {
			versions[p.ID] = p.Old.Version
			ids = append(ids, p.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var id, version int64
	if err := pg.ForEach(ctx, tx, []any{&id, &version}, func() error {
		if versions[id] == version {
			delete(versions, id)
		}
		return nil
	}, `SELECT id, version FROM person
		WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`, tenant.Of(ctx), ids); err != nil {
		return fmt.Errorf("lock persons: %w", err)
	}
	if len(versions) > 0 {
		return ErrStale
	}
	return nil
}

// queuePersons queues the statements for the persons' own rows.
func queuePersons(batch *pgx.Batch, tenantID int64, persons []Change) error {
	var fresh, changed, renamed []Change
	for _, p := range persons {
		switch {
		case p.Old == nil:
			fresh = append(fresh, p)
			continue
		case p.Old.Number() != p.Number():
			renamed = append(renamed, p)
		}
		changed = append(changed, p)
	}
	queueFreedNumbers(batch, tenantID, renamed)
	for _, part := range []struct {
		persons []Change
		sql     func([]record.Column) string
	}{{fresh, insertPersonSQL}, {changed, updatePersonSQL}} {
		if len(part.persons) == 0 {
			continue
		}
		all := record.Columns()
		args, err := personColumns(tenantID, part.persons, all)
		if err != nil {
			return err
		}
		batch.Queue(part.sql(all), args...)
	}
	queueRenames(batch, tenantID, renamed)
	return nil
}

// queueFreedNumbers gives persons whose numbers other persons of the request get a number that no request
// can have, because a unique index compares each row on its own.
func queueFreedNumbers(batch *pgx.Batch, tenantID int64, renamed []Change) {
	before, after := map[string]int64{}, map[string]bool{}
	for _, p := range renamed {
		before[names.Key(p.Old.Number())], after[names.Key(p.Number())] = p.ID, true
	}
	var freed []int64
	for number, id := range before {
		if after[number] {
			freed = append(freed, id)
		}
	}
	if len(freed) > 0 {
		batch.Queue(`UPDATE person SET person_number = chr(1) || id WHERE tenant_id = $1 AND id = ANY($2)`, tenantID, freed)
	}
}

// queueRenames updates the manager number of persons whose manager got another number.
func queueRenames(batch *pgx.Batch, tenantID int64, renamed []Change) {
	if len(renamed) == 0 {
		return
	}
	var before, after []string
	for _, p := range renamed {
		before, after = append(before, p.Old.Number()), append(after, p.Number())
	}
	batch.Queue(`UPDATE person p SET supervisor_person_number = q.after, version = p.version + 1, updated_at = now()
		FROM unnest($2::text[], $3::text[]) AS q (before, after)
		WHERE p.tenant_id = $1 AND p.supervisor_person_number = q.before AND p.supervisor_person_number <> ''`,
		tenantID, before, after)
}

// personColumns returns the arguments of the insert and update statements.
func personColumns(tenantID int64, persons []Change, all []record.Column) ([]any, error) {
	var ids []int64
	var names, zones []string
	var bodies, dated [][]byte
	values := make([][]any, len(all))
	for _, p := range persons {
		for i, c := range all {
			value, err := c.Value(p.Message.ProtoReflect())
			if err != nil {
				return nil, err
			}
			values[i] = append(values[i], value)
		}
		body, err := p.Body()
		if err != nil {
			return nil, err
		}
		encoded, err := personzone.Encode(p.Zones)
		if err != nil {
			return nil, err
		}
		ids, bodies, dated = append(ids, p.ID), append(bodies, body), append(dated, encoded)
		names, zones = append(names, p.Details().GetFullName()), append(zones, p.Zone)
	}
	args := []any{tenantID, ids, names, zones, dated, bodies}
	for _, v := range values {
		args = append(args, v)
	}
	return args, nil
}

func insertPersonSQL(all []record.Column) string {
	names, arrays := "", ""
	for i, c := range all {
		names += ", " + c.Name
		arrays += fmt.Sprintf(", $%d::%s[]", i+7, c.Kind)
	}
	// Insert in the order of the numbers, so that two requests that store the same persons do
	// not deadlock.
	return fmt.Sprintf(`INSERT INTO person (tenant_id, id, full_name, time_zone, time_zones, body%[1]s)
		SELECT $1, q.* FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]%[2]s)
			AS q (id, full_name, time_zone, time_zones, body%[1]s)
		ORDER BY q.person_number`, names, arrays)
}

func updatePersonSQL(all []record.Column) string {
	names, arrays, sets := "", "", ""
	for i, c := range all {
		names += ", " + c.Name
		arrays += fmt.Sprintf(", $%d::%s[]", i+7, c.Kind)
		sets += fmt.Sprintf(", %[1]s = q.%[1]s", c.Name)
	}
	return fmt.Sprintf(`UPDATE person p SET version = p.version + 1, updated_at = now(),
			full_name = q.full_name, time_zone = q.time_zone, time_zones = q.time_zones, body = q.body%[3]s
		FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bytea[], $6::bytea[]%[2]s)
			AS q (id, full_name, time_zone, time_zones, body%[1]s)
		WHERE p.tenant_id = $1 AND p.id = q.id`, names, arrays, sets)
}
