package schedule

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// The order keeps transactions with the same patterns from waiting for each
// other in a circle.
const insertPatterns = `
INSERT INTO pattern_segment (tenant_id, pattern_id, cycle_day, ordinal, segment, place, start_second, end_second)
SELECT $1, u.* FROM unnest($2::bigint[], $3::int[], $4::smallint[], $5::smallint[], $6::text[], $7::int[], $8::int[])
    AS u (pattern_id, cycle_day, ordinal, segment, place, start_second, end_second)
ORDER BY pattern_id, cycle_day, ordinal, segment
ON CONFLICT DO NOTHING`

func applyPatterns(ctx context.Context, tx pgx.Tx, tenantID int64, events []*schedulingv1.PatternStored) error {
	var patterns []int64
	var days []int32
	var ordinals []int16
	var rows segments
	for _, e := range events {
		for _, shift := range e.GetShifts() {
			if err := rows.add(e.GetPlaces(), shift.GetSegments()); err != nil {
				return err
			}
			for range shift.GetSegments() {
				patterns, days = append(patterns, e.GetPatternId()), append(days, shift.GetCycleDay())
				ordinals = append(ordinals, int16(shift.GetOrdinal()))
			}
		}
	}
	_, err := tx.Exec(ctx, insertPatterns, tenantID, patterns, days, ordinals, rows.numbers, rows.places, rows.starts, rows.ends)
	if err != nil {
		return fmt.Errorf("schedule: store patterns: %w", err)
	}
	return nil
}

// add adds the segments of a shift, numbered in their order.
func (s *segments) add(places []string, list []*schedulingv1.PlacedSegment) error {
	for i, segment := range list {
		if int(segment.GetPlace()) >= len(places) || segment.GetPlace() < 0 {
			return errPlace
		}
		s.places, s.numbers = append(s.places, places[segment.GetPlace()]), append(s.numbers, int16(i))
		s.starts, s.ends = append(s.starts, segment.GetStartSecond()), append(s.ends, segment.GetEndSecond())
	}
	return nil
}
