package projection

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	deletePatterns = `DELETE FROM pattern_segment WHERE tenant_id = $1 AND pattern_id = ANY($2)`

	insertPatterns = `
INSERT INTO pattern_segment (tenant_id, pattern_id, cycle_day, ordinal, segment, job, start_second, end_second)
SELECT $1, u.* FROM unnest($2::bigint[], $3::int[], $4::smallint[], $5::smallint[], $6::text[], $7::int[], $8::int[]) AS u`
)

// applyPatterns stores the parts of patterns. The first part of a pattern replaces the stored
// pattern.
func applyPatterns(ctx context.Context, tx pgx.Tx, parts []replica.Change[*schedulingv1.PatternStored]) error {
	tenantID := tenant.Of(ctx)
	var begun, patterns []int64
	var days []int32
	var ordinals []int16
	var rows segments
	for i, c := range parts {
		if c.Whole {
			begun = append(begun, c.Key)
		}
		again := func(later replica.Change[*schedulingv1.PatternStored]) bool { return later.Key == c.Key && later.Whole }
		if slices.ContainsFunc(parts[i+1:], again) {
			continue // A later part in the same transaction replaces it.
		}
		for _, shift := range c.State.GetShifts() {
			if err := rows.add(c.State.GetJobs(), shift.GetSegments()); err != nil {
				return err
			}
			for range shift.GetSegments() {
				patterns, days = append(patterns, c.Key), append(days, shift.GetCycleDay())
				ordinals = append(ordinals, int16(shift.GetOrdinal()))
			}
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deletePatterns, tenantID, begun)
	batch.Queue(insertPatterns, tenantID, patterns, days, ordinals, rows.numbers, rows.jobs, rows.starts, rows.ends)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store patterns: %w", err)
	}
	return nil
}

// add adds the segments of a shift, numbered in order.
func (s *segments) add(jobs []string, list []*schedulingv1.JobSegment) error {
	for i, segment := range list {
		if int(segment.GetJob()) >= len(jobs) || segment.GetJob() < 0 {
			return errJob
		}
		s.jobs, s.numbers = append(s.jobs, jobs[segment.GetJob()]), append(s.numbers, int16(i))
		s.starts, s.ends = append(s.starts, segment.GetStartSecond()), append(s.ends, segment.GetEndSecond())
	}
	return nil
}
