package schedule

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/replica"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// A digest of what is told of a person, the same expression as in scheduling.
	spanMarks = `
SELECT person_id AS key, bit_xor(hashint8extended(pattern_id, hashint8extended((from_date - '1970-01-01'::date)::bigint << 32 | (to_date - '1970-01-01'::date)::bigint,
    hashint8extended(position::bigint << 32 | day_count::bigint, lane::bigint)))) AS mark
FROM schedule_span WHERE tenant_id = $1 AND person_id > $2 AND person_id <= $3 GROUP BY person_id`

	deleteSpans = `DELETE FROM schedule_span WHERE tenant_id = $1 AND person_id = ANY($2)`

	// Lists that are unnested beside each other need no table in between.
	insertSpans = `
INSERT INTO schedule_span (tenant_id, person_id, lane, from_date, to_date, pattern_id, position, day_count)
SELECT $1, unnest($2::bigint[]), unnest($3::smallint[]), '1970-01-01'::date + unnest($4::int[]),
    '1970-01-01'::date + unnest($5::int[]), unnest($6::bigint[]), unnest($7::int[]), unnest($8::int[])`
)

// applySpans replaces the spans of persons.
func applySpans(ctx context.Context, tx pgx.Tx, tenantID int64, changes []replica.Change[*schedulingv1.EqualSpans]) error {
	ids := make([]int64, len(changes))
	var persons, patterns []int64
	var lanes []int16
	var from, to, positions, dayCounts []int32
	for i, c := range changes {
		ids[i] = c.Key
		for _, s := range c.State.GetSpans() {
			persons, patterns, lanes = append(persons, c.Key), append(patterns, s.GetPatternId()), append(lanes, int16(s.GetLane()))
			from, to = append(from, s.GetFrom()), append(to, s.GetTo())
			positions, dayCounts = append(positions, s.GetPosition()), append(dayCounts, s.GetDayCount())
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteSpans, tenantID, ids)
	batch.Queue(insertSpans, tenantID, persons, lanes, from, to, patterns, positions, dayCounts)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("schedule: store spans: %w", err)
	}
	return nil
}
