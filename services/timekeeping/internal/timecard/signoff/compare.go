package signoff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
)

// countComparison counts each comparison, also one that finds no difference: another one may have read an older
// schedule before it.
const countComparison = `
UPDATE timecard_signoff SET version = version + 1 WHERE tenant_id = $1 AND employee_id = $2 AND through = $3`

// compareTries is the maximum number of attempts if other comparisons of the same employee end first.
const compareTries = 10

// Compare compares the schedule that signed-off days of employees were paid by with the present
// schedule. It pays the differences as corrections of the first open day. Employees and days that are not
// signed off are ignored. An error of one employee does not keep the others from being compared.
func (s *Store) Compare(ctx context.Context, ids []int64, days civil.Range) error {
	var failed error
	for range compareTries {
		again, err := s.tryCompare(ctx, ids, days)
		if failed = errors.Join(failed, err); len(again) == 0 {
			return failed
		}
		ids = again
	}
	return errors.Join(failed, errSignedMeanwhile)
}

// tryCompare compares the days of employees. It returns the employees who were signed off or compared
// meanwhile.
func (s *Store) tryCompare(ctx context.Context, ids []int64, days civil.Range) (again []int64, err error) {
	before, err := signoffs(ctx, s.pool, ids)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(before, func(_ int64, signed signoff) bool { return signed.through < days.From })
	signed, next := slices.Sorted(maps.Keys(before)), days.From
	for _, id := range signed {
		next = max(next, min(days.To, before[id].through+1))
	}
	if len(signed) == 0 {
		return nil, nil
	}
	of, err := s.timecards.ReadEmployeeDays(ctx, signed, civil.Range{From: days.From - daysBefore, To: next + daysAfter}, false)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, id := range signed {
		compared := civil.Range{From: days.From, To: min(next, before[id].through+1)}
		switch err := s.compareOne(ctx, &known{id: id, days: compared, of: of}, before[id]); {
		case errors.Is(err, errSignedMeanwhile):
			again = append(again, id)
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("compare the schedule of employee %d: %w", id, err))
		}
	}
	return again, failed
}

// compareOne compares signed-off days of one employee with the present schedule.
func (s *Store) compareOne(ctx context.Context, k *known, signed signoff) error {
	return approval.InLock(ctx, s.pool, []int64{k.id}, func(ctx context.Context, tx pgx.Tx) error {
		now, err := signoffs(ctx, tx, []int64{k.id})
		if err != nil {
			return err
		}
		if !now[k.id].equal(signed) {
			return errSignedMeanwhile
		}
		around := calculation.Around(civil.Range{From: k.days.From - daysBefore, To: k.days.To + daysAfter})
		paid, assumed, err := readPaidSchedule(ctx, tx, k, around)
		if err != nil {
			return err
		}
		present, changed := k.schedule(), ChangedDays{}
		maps.DeleteFunc(present, func(day civil.Date, entries *schedulingv1.EmployeeDays) bool {
			if !dayschedule.Equal(paid[day], entries) {
				changed.Add(k.id, day)
				return false
			}
			return assumed[day] == nil
		})
		if err := s.paySchedule(ctx, tx, k, changed, paid, signed); err != nil {
			return err
		}
		if err := keep(ctx, tx, k.id, present, changed[k.id]); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, countComparison, tenant.Of(ctx), k.id, signed.through); err != nil {
			return fmt.Errorf("count a comparison: %w", err)
		}
		return nil
	})
}

// paySchedule corrects the signed-off days whose totals differ because the schedule of some days has
// changed. It uses the present rules for both schedules, so that a change of a rule corrects nothing.
func (s *Store) paySchedule(ctx context.Context, tx pgx.Tx, of *known, changed ChangedDays, paid dayschedule.Days, signed signoff) error {
	all := changed.inSigned(map[int64]signoff{of.id: signed})
	for _, k := range all {
		k.of = of.of
		old, err := s.historical(ctx, tx, k.replaceSchedule(paid))
		if err != nil {
			return err
		}
		unchanged := maps.Clone(paid)
		maps.DeleteFunc(unchanged, func(day civil.Date, _ *schedulingv1.EmployeeDays) bool { return changed[k.id][day] })
		now := k.replaceSchedule(unchanged)
		present, err := s.historical(ctx, tx, now)
		if err != nil {
			return err
		}
		if err := s.moveEnd(ctx, tx, now, signed); err != nil {
			return err
		}
		if err := pay(ctx, tx, signed.through+1, old, present); err != nil {
			return err
		}
	}
	return payledger.Note(ctx, tx, changedDays(all))
}
