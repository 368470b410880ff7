package projection

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
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

// shiftRow is a row of entered_shift.
type shiftRow struct {
	ID, Version, Person     int64
	HidesPerson             *int64
	HidesDay                *civil.Date
	HidesLane, HidesOrdinal *int16
}

func newShiftRow(s *schedulingv1.EnteredShift) shiftRow {
	row := shiftRow{ID: s.GetId(), Version: s.GetVersion(), Person: s.GetEmployeeId()}
	if h := s.GetHides(); h != nil {
		person, day, lane, ordinal := h.GetEmployeeId(), civil.Date(h.GetDay()), int16(h.GetLane()), int16(h.GetOrdinal())
		row.HidesPerson, row.HidesDay, row.HidesLane, row.HidesOrdinal = &person, &day, &lane, &ordinal
	}
	return row
}

// segmentRow is a row of entered_shift_segment.
type segmentRow struct {
	Shift      int64
	Segment    int16
	Person     int64
	Day        civil.Date
	Job        string
	Start, End int32
}

// applyShifts stores shifts, and removes the deleted ones.
func applyShifts(ctx context.Context, tx pgx.Tx, changes []replica.Change[*schedulingv1.EnteredShift]) error {
	tenantID := tenant.Of(ctx)
	var all, gone []int64
	var rows []shiftRow
	var segments []segmentRow
	for _, c := range changes {
		all = append(all, c.Key)
		if c.Deleted {
			gone = append(gone, c.Key)
			continue
		}
		rows = append(rows, newShiftRow(c.State))
		if c.State.GetEmployeeId() == 0 {
			continue
		}
		list, err := numberSegments(c.Event.(*schedulingv1.ShiftsEntered).GetJobs(), c.State.GetSegments())
		if err != nil {
			return err
		}
		for _, s := range list {
			segments = append(segments, segmentRow{c.Key, s.number, c.State.GetEmployeeId(), civil.Date(c.State.GetDay()), s.job, s.start, s.end})
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteShifts, tenantID, gone)
	batch.Queue(upsertShifts, pg.Columns(rows, tenantID)...)
	batch.Queue(deleteSegments, tenantID, all)
	batch.Queue(insertSegments, pg.Columns(segments, tenantID)...)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store shifts: %w", err)
	}
	return nil
}
