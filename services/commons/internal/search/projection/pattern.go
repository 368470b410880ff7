package projection

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
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
	type row struct {
		Pattern          int64
		CycleDay         int32
		Ordinal, Segment int16
		Job              string
		Start, End       int32
	}
	var begun []int64
	var rows []row
	for i, c := range parts {
		if c.Whole {
			begun = append(begun, c.Key)
		}
		again := func(later replica.Change[*schedulingv1.PatternStored]) bool { return later.Key == c.Key && later.Whole }
		if slices.ContainsFunc(parts[i+1:], again) {
			continue // A later part in the same transaction replaces it.
		}
		for _, shift := range c.State.GetShifts() {
			list, err := numberSegments(c.State.GetJobs(), shift.GetSegments())
			if err != nil {
				return err
			}
			for _, s := range list {
				rows = append(rows, row{c.Key, shift.GetCycleDay(), int16(shift.GetOrdinal()), s.number, s.job, s.start, s.end})
			}
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deletePatterns, tenantID, begun)
	batch.Queue(insertPatterns, pg.Columns(rows, tenantID)...)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store patterns: %w", err)
	}
	return nil
}

// numberSegments returns the segments of a shift, numbered in order.
func numberSegments(jobs []string, list []*schedulingv1.JobSegment) ([]segment, error) {
	out := make([]segment, len(list))
	for i, s := range list {
		if int(s.GetJob()) >= len(jobs) || s.GetJob() < 0 {
			return nil, errJob
		}
		out[i] = segment{int16(i), jobs[s.GetJob()], s.GetStartSecond(), s.GetEndSecond()}
	}
	return out, nil
}
