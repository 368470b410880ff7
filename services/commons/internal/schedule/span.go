package schedule

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// The heads lock the persons' spans, in ascending order.
	upsertSpanHeads = `
INSERT INTO schedule_head (tenant_id, person_id, spans_revision)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[]) AS u
ON CONFLICT (tenant_id, person_id) DO UPDATE SET spans_revision = excluded.spans_revision
WHERE excluded.spans_revision > schedule_head.spans_revision
RETURNING person_id`

	deleteSpans = `DELETE FROM schedule_span WHERE tenant_id = $1 AND person_id = ANY($2)`

	// Lists that are unnested beside each other need no table in between.
	insertSpans = `
INSERT INTO schedule_span (tenant_id, person_id, lane, from_date, to_date, pattern_id, position, day_count)
SELECT $1, unnest($2::bigint[]), unnest($3::smallint[]), '1970-01-01'::date + unnest($4::int[]),
    '1970-01-01'::date + unnest($5::int[]), unnest($6::bigint[]), unnest($7::int[]), unnest($8::int[])`
)

// spansOf are all spans of a person, as an event tells them.
type spansOf struct {
	revision int64
	spans    []*schedulingv1.SpanState
}

// applySpans replaces the spans of persons by those that are newer than what is
// known.
func applySpans(ctx context.Context, tx pgx.Tx, tenantID int64, events []*schedulingv1.SpansChanged) error {
	newest := map[int64]spansOf{}
	for _, e := range events {
		for _, g := range e.GetGroups() {
			for _, id := range g.GetEmployeeIds() {
				if e.GetRevision() > newest[id].revision {
					newest[id] = spansOf{e.GetRevision(), g.GetSpans()}
				}
			}
		}
	}
	ids := slices.Sorted(maps.Keys(newest))
	revisions := make([]int64, len(ids))
	for i, id := range ids {
		revisions[i] = newest[id].revision
	}
	accepted, err := acceptedBy(ctx, tx, upsertSpanHeads, tenantID, ids, revisions)
	if err != nil {
		return err
	}
	var persons, patterns []int64
	var lanes []int16
	var from, to, positions, dayCounts []int32
	for _, id := range accepted {
		for _, s := range newest[id].spans {
			persons, patterns, lanes = append(persons, id), append(patterns, s.GetPatternId()), append(lanes, int16(s.GetLane()))
			from, to = append(from, s.GetFrom()), append(to, s.GetTo())
			positions, dayCounts = append(positions, s.GetPosition()), append(dayCounts, s.GetDayCount())
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteSpans, tenantID, accepted)
	batch.Queue(insertSpans, tenantID, persons, lanes, from, to, patterns, positions, dayCounts)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("schedule: store spans: %w", err)
	}
	return nil
}

// acceptedBy answers the persons of whom a statement took the newer revision.
func acceptedBy(ctx context.Context, tx pgx.Tx, sql string, tenantID int64, ids, revisions []int64) ([]int64, error) {
	rows, err := tx.Query(ctx, sql, tenantID, ids, revisions)
	if err != nil {
		return nil, fmt.Errorf("schedule: store revisions: %w", err)
	}
	accepted, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("schedule: store revisions: %w", err)
	}
	return accepted, nil
}
