package projection

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	deletePatterns = `DELETE FROM pattern_segment WHERE tenant_id = $1 AND pattern_id = ANY($2)`

	insertPatterns = `
INSERT INTO pattern_segment (tenant_id, pattern_id, cycle_day, ordinal, segment, job, start_second, end_second)
SELECT $1, u.* FROM unnest($2::bigint[], $3::int[], $4::smallint[], $5::smallint[], $6::text[], $7::int[], $8::int[]) AS u`

	deletePatternEdits = `DELETE FROM pattern_pay_code_edit WHERE tenant_id = $1 AND pattern_id = ANY($2)`

	insertPatternEdits = `
INSERT INTO pattern_pay_code_edit (tenant_id, pattern_id, cycle_day, ordinal, amount)
SELECT $1, u.* FROM unnest($2::bigint[], $3::int[], $4::smallint[], $5::bytea[]) AS u`
)

// applyPatterns stores the parts of patterns. With its first part a pattern begins
// anew.
func applyPatterns(ctx context.Context, tx pgx.Tx, tenantID int64, parts []replica.Change[*schedulingv1.PatternStored]) error {
	var begun, patterns []int64
	var days []int32
	var ordinals []int16
	var rows segments
	var edits cycleEdits
	for i, c := range parts {
		if c.Whole {
			begun = append(begun, c.Key)
		}
		again := func(later replica.Change[*schedulingv1.PatternStored]) bool { return later.Key == c.Key && later.Whole }
		if slices.ContainsFunc(parts[i+1:], again) {
			continue // It begins anew in the same transaction.
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
		if err := edits.add(c.State); err != nil {
			return err
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deletePatterns, tenantID, begun)
	batch.Queue(insertPatterns, tenantID, patterns, days, ordinals, rows.numbers, rows.jobs, rows.starts, rows.ends)
	batch.Queue(deletePatternEdits, tenantID, begun)
	batch.Queue(insertPatternEdits, tenantID, edits.patterns, edits.days, edits.ordinals, edits.amounts)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store patterns: %w", err)
	}
	return nil
}

// add adds the segments of a shift, numbered in their order.
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

// cycleEdits are rows of the pay code edits of patterns, in columns as the database
// takes them.
type cycleEdits struct {
	patterns []int64
	days     []int32
	ordinals []int16
	amounts  [][]byte
}

func (e *cycleEdits) add(part *schedulingv1.PatternStored) error {
	for _, edit := range part.GetPayCodeEdits() {
		amount, err := proto.Marshal(edit.GetAmount())
		if err != nil {
			return fmt.Errorf("projection: encode a pay code edit: %w", err)
		}
		e.patterns, e.days = append(e.patterns, part.GetPatternId()), append(e.days, edit.GetCycleDay())
		e.ordinals, e.amounts = append(e.ordinals, int16(edit.GetOrdinal())), append(e.amounts, amount)
	}
	return nil
}
