package signoff

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

const (
	insertCorrections = `
INSERT INTO historical_correction (tenant_id, employee_id, historical_date, apply_date, pay_code_id, pay_code, job, seconds, days, money)
SELECT $1, $2, q.day, $3, q.code_id, q.code, q.job, q.seconds, q.days, q.money
FROM unnest($4::date[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[]) AS q (day, code_id, code, job, seconds, days, money)`

	// A day that was signed off empty has no row. It must still be shown as empty, so its body is
	// empty.
	setWorked = `
INSERT INTO signed_day (tenant_id, employee_id, day, worked, week, body)
SELECT $1, $2, q.day, q.worked, q.week, '' FROM unnest($3::date[], $4::bigint[], $5::bigint[]) AS q (day, worked, week)
ON CONFLICT (tenant_id, employee_id, day) DO UPDATE SET worked = excluded.worked, week = excluded.week`
)

// errSignedMeanwhile is the error if a timecard was signed off or reopened while a change of it was
// prepared.
var errSignedMeanwhile = fault.Conflict(fault.CodeStale, "Another request has signed off or opened the timecard, or changed its leave. Try again.")

// tries is the maximum number of attempts if a timecard is signed off while a change is prepared.
const tries = 3

// Change runs a change of timecards in a transaction that locks them. It records the effect on
// signed-off days as corrections of the first open day.
func (s *Store) Change(ctx context.Context, days ChangedDays, fn func(context.Context, pgx.Tx) error) error {
	var err error
	for range tries {
		if err = s.tryChange(ctx, days, fn); !errors.Is(err, errSignedMeanwhile) {
			return err
		}
	}
	return err
}

func (s *Store) tryChange(ctx context.Context, days ChangedDays, fn func(context.Context, pgx.Tx) error) error {
	ids := slices.Sorted(maps.Keys(days))
	before, err := signoffs(ctx, s.pool, ids)
	if err != nil {
		return err
	}
	all := days.inSigned(before)
	if err := s.readInGroups(ctx, all); err != nil {
		return err
	}
	return approval.InLock(ctx, s.pool, ids, func(ctx context.Context, tx pgx.Tx) error {
		now, err := signoffs(ctx, tx, ids)
		if err != nil {
			return err
		}
		if !maps.EqualFunc(before, now, signoff.closesSame) {
			return errSignedMeanwhile
		}
		old := make([]*calculation.Timecard, len(all))
		paid := make([]*known, len(all))
		for i, k := range all {
			if paid[i], err = keepPaid(ctx, tx, k); err != nil {
				return err
			}
			if old[i], err = s.historical(ctx, tx, paid[i]); err != nil {
				return err
			}
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if err := approval.Drop(ctx, tx, days); err != nil {
			return err
		}
		for i, k := range paid {
			if err := s.moveEnd(ctx, tx, k, now[k.id]); err != nil {
				return err
			}
			changed, err := s.historical(ctx, tx, k)
			if err != nil {
				return err
			}
			if err := pay(ctx, tx, now[k.id].through+1, old[i], changed); err != nil {
				return err
			}
		}
		return payledger.Note(ctx, tx, changedDays(all))
	})
}

// pay stores the effect of a change on signed-off days: the corrections, and the work of the days.
func pay(ctx context.Context, tx pgx.Tx, apply civil.Date, old, changed *calculation.Timecard) error {
	if err := correctChanged(ctx, tx, old.ID, apply, old.Sums(), changed.Sums()); err != nil {
		return err
	}
	return countSince(ctx, tx, old, changed)
}

// changedDays returns the changed days for payroll.
func changedDays(all []*known) []payledger.Days {
	out := make([]payledger.Days, len(all))
	for i, k := range all {
		out[i] = payledger.Days{EmployeeID: k.id, Range: k.days}
	}
	return out
}

// moveEnd determines again which punches belong to the signed-off days, if the change affects the
// last of these days: a late punch may end or begin a shift of the last night.
func (s *Store) moveEnd(ctx context.Context, tx pgx.Tx, k *known, signed signoff) error {
	if k.days.To <= signed.through {
		return nil
	}
	timecards, err := s.timecards.ReadIn(ctx, tx, []int64{k.id}, calculation.Window{Days: civil.Through(signed.through, signed.through), Signed: true, Across: true}, k.of)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE timecard_signoff SET open_from = $4 WHERE tenant_id = $1 AND employee_id = $2 AND through = $3`,
		tenant.Of(ctx), k.id, signed.through, time.Unix(timecards[0].OpenFrom(), 0)); err != nil {
		return fmt.Errorf("move the end of a sign-off: %w", err)
	}
	return nil
}

// historical calculates signed-off days as if they were open. It also reads the punches after these
// days, because the sign-off took them into account.
func (s *Store) historical(ctx context.Context, tx pgx.Tx, k *known) (*calculation.Timecard, error) {
	timecards, err := s.timecards.ReadIn(ctx, tx, []int64{k.id}, calculation.Window{Days: k.days, Signed: true, Across: true}, k.of)
	if err != nil {
		return nil, err
	}
	return timecards[0], nil
}

// countSince stores the present work of signed-off days that a change affects. It is the overtime basis of
// the open days of their week.
func countSince(ctx context.Context, tx pgx.Tx, old, changed *calculation.Timecard) error {
	type row struct {
		Day          civil.Date
		Worked, Week int64
	}
	var rows []row
	for day := old.Days.From; day < old.Days.To; day++ {
		now, then := changed.Worked(day), old.Worked(day)
		if now == then {
			continue
		}
		rows = append(rows, row{day, now.All, now.Week})
	}
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, setWorked, pg.Columns(rows, tenant.Of(ctx), changed.ID)...); err != nil {
		return fmt.Errorf("store what was worked on signed days: %w", err)
	}
	return nil
}

// correctChanged corrects the days whose totals a change affects. The correction is the difference
// between the present totals and what the sign-off and earlier corrections recorded: rules or schedules
// may have changed since the sign-off, so the difference of two present calculations would be wrong.
// Other days are not touched.
func correctChanged(ctx context.Context, tx pgx.Tx, employeeID int64, apply civil.Date, before, after map[worktime.Key]amount.Quantity) error {
	affected := map[civil.Date]bool{}
	for key, w := range after {
		affected[key.Day] = affected[key.Day] || w != before[key]
	}
	for key, w := range before {
		affected[key.Day] = affected[key.Day] || w != after[key]
	}
	maps.DeleteFunc(affected, func(_ civil.Date, changed bool) bool { return !changed })
	if len(affected) == 0 {
		return nil
	}
	paid, err := calculation.ReadPaid(ctx, tx, employeeID, slices.Sorted(maps.Keys(affected)))
	if err != nil {
		return err
	}
	present := maps.Clone(after)
	maps.DeleteFunc(present, func(key worktime.Key, _ amount.Quantity) bool { return !affected[key.Day] })
	return correct(ctx, tx, employeeID, apply, paid, present)
}

// correct records the changes of the totals of days.
func correct(ctx context.Context, tx pgx.Tx, employeeID int64, apply civil.Date, before, after map[worktime.Key]amount.Quantity) error {
	diff := maps.Clone(after)
	for key, w := range before {
		diff[key] = diff[key].Sub(w)
	}
	type row struct {
		Day                  civil.Date
		PayCodeID            int64
		PayCode, Job         string
		Seconds, Days, Money int64
	}
	var rows []row
	for key, w := range diff {
		if w == (amount.Quantity{}) {
			continue
		}
		rows = append(rows, row{key.Day, key.PayCode.ID, key.PayCode.Name, key.Job, w.Seconds, int64(w.Days), int64(w.Money)})
	}
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, insertCorrections, pg.Columns(rows, tenant.Of(ctx), employeeID, apply)...); err != nil {
		return fmt.Errorf("store historical corrections: %w", err)
	}
	return nil
}

// AddPunches stores punches.
func (s *Store) AddPunches(ctx context.Context, list []*punch.Entry) error {
	return s.AddPunchesThen(ctx, list, func(context.Context, pgx.Tx) error { return nil })
}

// AddPunchesThen stores punches, sets their ids, and calls then in the same transaction. It may call
// then again if a timecard was signed off meanwhile.
func (s *Store) AddPunchesThen(ctx context.Context, list []*punch.Entry, then func(context.Context, pgx.Tx) error) error {
	days := ChangedDays{}
	for _, e := range list {
		days.Add(e.Employee.ID, e.Local(e.At).Date)
	}
	return s.Change(ctx, days, func(ctx context.Context, tx pgx.Tx) error {
		if err := punch.Insert(ctx, tx, &s.zones, list); err != nil {
			return err
		}
		return then(ctx, tx)
	})
}
