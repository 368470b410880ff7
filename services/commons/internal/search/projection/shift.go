package projection

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// A digest of the published state of a shift; scheduling uses the same expression. Deleted
	// shifts that hide nothing have no row here.
	shiftFingerprints = `
SELECT id AS key, hashint8extended(CASE WHEN person_id IS NULL THEN -version ELSE version END, CASE WHEN hides_lane IS NULL THEN 0 ELSE
    hashint8extended(hides_person, (hides_day - ` + civil.EpochSQL + `)::bigint << 16 | hides_lane::bigint << 8 | hides_ordinal::bigint) END) AS mark
FROM entered_shift WHERE tenant_id = $1 AND id > $2 AND id <= $3`

	upsertShifts = `
INSERT INTO entered_shift (tenant_id, id, version, person_id, hides_person, hides_day, hides_lane, hides_ordinal)
SELECT $1, u.id, u.version, nullif(u.person_id, 0), u.hides_person, u.hides_day, u.hides_lane, u.hides_ordinal
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::smallint[], $8::smallint[])
    AS u (id, version, person_id, hides_person, hides_day, hides_lane, hides_ordinal)
ON CONFLICT (tenant_id, id) DO UPDATE SET version = excluded.version, person_id = excluded.person_id,
    hides_person = excluded.hides_person, hides_day = excluded.hides_day, hides_lane = excluded.hides_lane, hides_ordinal = excluded.hides_ordinal`

	deleteShifts = `DELETE FROM entered_shift WHERE tenant_id = $1 AND id = ANY($2)`

	deleteSegments = `DELETE FROM entered_shift_segment WHERE tenant_id = $1 AND shift_id = ANY($2)`

	insertSegments = `
INSERT INTO entered_shift_segment (tenant_id, shift_id, segment, person_id, day, job, start_second, end_second)
SELECT $1, unnest($2::bigint[]), unnest($3::smallint[]), unnest($4::bigint[]), unnest($5::date[]),
    unnest($6::text[]), unnest($7::int[]), unnest($8::int[])`
)

// shifts are rows of shifts, as database columns.
type shifts struct {
	ids, versions, persons []int64
	hidesPersons           []*int64
	hidesDays              []*civil.Date
	hidesLanes             []*int16
	hidesOrdinals          []*int16
}

func (r *shifts) add(s *schedulingv1.EnteredShift) {
	r.ids, r.versions, r.persons = append(r.ids, s.GetId()), append(r.versions, s.GetVersion()), append(r.persons, s.GetEmployeeId())
	h, none := s.GetHides(), s.GetHides() == nil
	r.hidesPersons = append(r.hidesPersons, unless(none, h.GetEmployeeId()))
	r.hidesDays = append(r.hidesDays, unless(none, civil.Date(h.GetDay())))
	r.hidesLanes = append(r.hidesLanes, unless(none, int16(h.GetLane())))
	r.hidesOrdinals = append(r.hidesOrdinals, unless(none, int16(h.GetOrdinal())))
}

// applyShifts stores shifts, and removes the deleted ones.
func applyShifts(ctx context.Context, tx pgx.Tx, changes []replica.Change[*schedulingv1.EnteredShift]) error {
	tenantID := tenant.Of(ctx)
	var all, gone, owners, workers []int64
	var days []civil.Date
	var rows shifts
	var placed segments
	for _, c := range changes {
		all = append(all, c.Key)
		if c.Deleted {
			gone = append(gone, c.Key)
			continue
		}
		rows.add(c.State)
		if c.State.GetEmployeeId() == 0 {
			continue
		}
		if err := placed.add(c.Event.(*schedulingv1.ShiftsEntered).GetJobs(), c.State.GetSegments()); err != nil {
			return err
		}
		for range c.State.GetSegments() {
			owners, workers, days = append(owners, c.Key), append(workers, c.State.GetEmployeeId()), append(days, civil.Date(c.State.GetDay()))
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteShifts, tenantID, gone)
	batch.Queue(upsertShifts, tenantID, rows.ids, rows.versions, rows.persons, rows.hidesPersons, rows.hidesDays, rows.hidesLanes, rows.hidesOrdinals)
	batch.Queue(deleteSegments, tenantID, all)
	batch.Queue(insertSegments, tenantID, owners, placed.numbers, workers, days, placed.jobs, placed.starts, placed.ends)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store shifts: %w", err)
	}
	return nil
}

// unless returns a pointer to a value, or nil if the value is absent.
func unless[T any](absent bool, value T) *T {
	if absent {
		return nil
	}
	return &value
}
