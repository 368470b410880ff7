package schedule

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	upsertLeaveHeads = `
INSERT INTO schedule_head (tenant_id, person_id, leave_revision)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[]) AS u
ON CONFLICT (tenant_id, person_id) DO UPDATE SET leave_revision = excluded.leave_revision
WHERE excluded.leave_revision > schedule_head.leave_revision
RETURNING person_id`

	deleteLeave = `DELETE FROM leave_stretch WHERE tenant_id = $1 AND person_id = ANY($2)`

	insertLeave = `
INSERT INTO leave_stretch (tenant_id, person_id, from_day, to_day, start_second, end_second)
SELECT $1, unnest($2::bigint[]), '1970-01-01'::date + unnest($3::int[]), '1970-01-01'::date + unnest($4::int[]),
    unnest($5::int[]), unnest($6::int[])`
)

// leaveOf is all leave of a person, as an event tells it.
type leaveOf struct {
	revision  int64
	stretches []*schedulingv1.LeaveStretch
}

// applyLeave replaces the leave of persons by what is newer than what is known.
func applyLeave(ctx context.Context, tx pgx.Tx, tenantID int64, events []*schedulingv1.LeaveTaken) error {
	newest := map[int64]leaveOf{}
	for _, e := range events {
		for _, l := range e.GetEmployees() {
			if e.GetRevision() > newest[l.GetEmployeeId()].revision {
				newest[l.GetEmployeeId()] = leaveOf{e.GetRevision(), l.GetStretches()}
			}
		}
	}
	ids := slices.Sorted(maps.Keys(newest))
	revisions := make([]int64, len(ids))
	for i, id := range ids {
		revisions[i] = newest[id].revision
	}
	accepted, err := acceptedBy(ctx, tx, upsertLeaveHeads, tenantID, ids, revisions)
	if err != nil {
		return err
	}
	var persons []int64
	var from, to, starts, ends []int32
	for _, id := range accepted {
		for _, s := range newest[id].stretches {
			persons, from = append(persons, id), append(from, s.GetDay())
			to = append(to, s.GetDay()+max(0, s.GetEndSecond()-1)/civil.SecondsPerDay)
			starts, ends = append(starts, s.GetStartSecond()), append(ends, s.GetEndSecond())
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteLeave, tenantID, accepted)
	batch.Queue(insertLeave, tenantID, persons, from, to, starts, ends)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("schedule: store leave: %w", err)
	}
	return nil
}
