package schedule

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// A state from before everything was told adds nothing: what it tells was
	// told as well, unless it was gone by then.
	upsertShifts = `
INSERT INTO entered_shift (tenant_id, id, revision, person_id, hides_person, hides_day, hides_lane, hides_ordinal)
SELECT $1, u.id, u.revision, nullif(u.person_id, 0), u.hides_person, u.hides_day, u.hides_lane, u.hides_ordinal
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::date[], $7::smallint[], $8::smallint[])
    AS u (id, revision, person_id, hides_person, hides_day, hides_lane, hides_ordinal)
WHERE NOT EXISTS (SELECT FROM schedule_head h WHERE h.tenant_id = $1 AND h.person_id = u.person_id AND h.shifts_revision > u.revision)
ORDER BY u.id
ON CONFLICT (tenant_id, id) DO UPDATE SET revision = excluded.revision, person_id = excluded.person_id,
    hides_person = excluded.hides_person, hides_day = excluded.hides_day, hides_lane = excluded.hides_lane, hides_ordinal = excluded.hides_ordinal
WHERE excluded.revision > entered_shift.revision
RETURNING id`

	deleteSegments = `DELETE FROM entered_shift_segment WHERE tenant_id = $1 AND shift_id = ANY($2)`

	insertSegments = `
INSERT INTO entered_shift_segment (tenant_id, shift_id, segment, person_id, day, place, start_second, end_second)
SELECT $1, unnest($2::bigint[]), unnest($3::smallint[]), unnest($4::bigint[]), '1970-01-01'::date + unnest($5::int[]),
    unnest($6::text[]), unnest($7::int[]), unnest($8::int[])`

	// The heads lock the persons' shifts, in ascending order: otherwise two
	// replicas could store an old state, and forget it, without seeing each other.
	upsertShiftHeads = `
INSERT INTO schedule_head (tenant_id, person_id, shifts_revision)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[]) AS u
ON CONFLICT (tenant_id, person_id) DO UPDATE SET shifts_revision = greatest(excluded.shifts_revision, schedule_head.shifts_revision)`

	// What was not told of persons of whom everything was.
	forgetShifts = `
WITH gone AS (
    UPDATE entered_shift s SET person_id = NULL FROM unnest($2::bigint[], $3::bigint[]) AS u (person_id, revision)
    WHERE s.tenant_id = $1 AND s.person_id = u.person_id AND s.revision < u.revision
    RETURNING s.id
)
DELETE FROM entered_shift_segment WHERE tenant_id = $1 AND shift_id IN (SELECT id FROM gone)`
)

// shiftOf is the state of a shift, as an event tells it.
type shiftOf struct {
	*schedulingv1.EnteredShift
	revision int64
	places   []string
}

// applyShifts stores the states of shifts that are newer than what is known, and
// forgets what is not there any more.
func applyShifts(ctx context.Context, tx pgx.Tx, tenantID int64, events []*schedulingv1.ShiftsEntered) error {
	newest := map[int64]shiftOf{}
	// complete are the persons whom the events concern, with the revision up to
	// which everything is told of them; 0 for none.
	complete := map[int64]int64{}
	for _, e := range events {
		for _, s := range e.GetShifts() {
			if e.GetRevision() > newest[s.GetId()].revision {
				newest[s.GetId()] = shiftOf{s, e.GetRevision(), e.GetPlaces()}
			}
			if id := s.GetEmployeeId(); id != 0 {
				complete[id] = max(complete[id], 0)
			}
		}
		for _, id := range e.GetCompleteEmployeeIds() {
			complete[id] = max(complete[id], e.GetRevision())
		}
	}
	persons := slices.Sorted(maps.Keys(complete))
	revisions := make([]int64, len(persons))
	for i, id := range persons {
		revisions[i] = complete[id]
	}
	if _, err := tx.Exec(ctx, upsertShiftHeads, tenantID, persons, revisions); err != nil {
		return fmt.Errorf("schedule: store revisions: %w", err)
	}
	if err := putShifts(ctx, tx, tenantID, newest); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, forgetShifts, tenantID, persons, revisions); err != nil {
		return fmt.Errorf("schedule: forget shifts: %w", err)
	}
	return nil
}

func putShifts(ctx context.Context, tx pgx.Tx, tenantID int64, newest map[int64]shiftOf) error {
	sorted := slices.SortedFunc(maps.Values(newest), func(a, b shiftOf) int { return cmp.Compare(a.GetId(), b.GetId()) })
	var ids, revisions, persons []int64
	var hidesPersons []*int64
	var hidesDays []*time.Time
	var hidesLanes, hidesOrdinals []*int16
	for _, s := range sorted {
		ids, revisions, persons = append(ids, s.GetId()), append(revisions, s.revision), append(persons, s.GetEmployeeId())
		h := s.GetHides()
		if h == nil {
			h = &schedulingv1.HiddenShift{}
		}
		day := civil.Date(h.GetDay()).Time()
		hidesPersons, hidesDays = append(hidesPersons, unless(s.Hides == nil, h.GetEmployeeId())), append(hidesDays, unless(s.Hides == nil, day))
		hidesLanes = append(hidesLanes, unless(s.Hides == nil, int16(h.GetLane())))
		hidesOrdinals = append(hidesOrdinals, unless(s.Hides == nil, int16(h.GetOrdinal())))
	}
	rows, err := tx.Query(ctx, upsertShifts, tenantID, ids, revisions, persons, hidesPersons, hidesDays, hidesLanes, hidesOrdinals)
	if err != nil {
		return fmt.Errorf("schedule: store shifts: %w", err)
	}
	accepted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("schedule: store shifts: %w", err)
	}
	var owners, workers []int64
	var days []int32
	var placed segments
	for _, id := range accepted {
		s := newest[id]
		if s.GetEmployeeId() == 0 {
			continue
		}
		if err := placed.add(s.places, s.GetSegments()); err != nil {
			return err
		}
		for range s.GetSegments() {
			owners, workers, days = append(owners, id), append(workers, s.GetEmployeeId()), append(days, s.GetDay())
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteSegments, tenantID, accepted)
	batch.Queue(insertSegments, tenantID, owners, placed.numbers, workers, days, placed.places, placed.starts, placed.ends)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("schedule: store segments: %w", err)
	}
	return nil
}

// unless answers a pointer to a value, nil when there is none.
func unless[T any](absent bool, value T) *T {
	if absent {
		return nil
	}
	return &value
}
