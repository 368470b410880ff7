// Package signoff signs off timecards, and records changes of signed-off days as corrections of
// later days.
package signoff

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Store keeps the sign-offs of timecards.
type Store struct {
	pool      *pg.Pool
	timecards *calculation.Reader
	zones     civil.Zones
}

// NewStore returns a Store for the timecards of a reader, in the database of the pool.
func NewStore(pool *pg.Pool, timecards *calculation.Reader) *Store {
	return &Store{pool: pool, timecards: timecards}
}

const (
	readEarliestLeave = `
SELECT min(from_day) FROM leave_edit WHERE tenant_id = $1 AND employee_id = $2 AND from_day >= $3 AND from_day < $4`

	readEarliest = `
SELECT least((SELECT min(at) FROM punch WHERE tenant_id = $1 AND employee_id = $2 AND at >= $3),
             (SELECT min(apply_date)::timestamptz FROM timecard_edit WHERE tenant_id = $1 AND employee_id = $2 AND apply_date >= $4))`

	insertSigned = `
INSERT INTO signed_day (tenant_id, employee_id, day, worked, week, body, schedule)
SELECT $1, $2, q.day, q.worked, q.week, q.body, q.schedule
FROM unnest($3::date[], $4::bigint[], $5::bigint[], $6::bytea[], $7::bytea[]) AS q (day, worked, week, body, schedule)`

	insertSignoff = `
INSERT INTO timecard_signoff (tenant_id, employee_id, through, open_from, signed_by, schedule_from) VALUES ($1, $2, $3, $4, $5, $6)`
)

// SignOff signs off the timecard of an employee through the last of the given days.
func (s *Store) SignOff(ctx context.Context, who person.Person, days civil.Range) error {
	if err := s.timecards.Over(ctx, who, days); err != nil {
		return err
	}
	through := days.To - 1
	before, err := signoffs(ctx, s.pool, []int64{who.ID})
	if err != nil {
		return err
	}
	last, signed := before[who.ID]
	if signed && last.through >= through {
		return fault.Invalid(timecardfault.CodeSigned, fmt.Sprintf("The timecard is signed off already, through %s.", last.through))
	}
	open := civil.Range{From: days.From, To: days.To}
	if signed {
		open.From = last.through + 1
	} else if open.From, err = s.earliest(ctx, who.ID, days.From); err != nil {
		return err
	}
	if open.Days() > calculation.MaxDays {
		return timecardfault.Invalid("The days from %s have not been signed off yet. Sign off at most %d days at once", open.From, calculation.MaxDays)
	}
	mark, err := leaveday.ReadMark(ctx, s.pool, who.ID)
	if err != nil {
		return err
	}
	parts := []civil.Range{open}
	if !signed {
		earlier, err := s.bookedBefore(ctx, who.ID, open.From)
		if err != nil {
			return err
		}
		parts = append(earlier, open)
	}
	all := make([]*known, len(parts))
	for i, days := range parts {
		if all[i], err = s.readKnown(ctx, who.ID, days); err != nil {
			return err
		}
	}
	by := ""
	if principal, ok := authn.From(ctx); ok {
		by = principal.Subject
	}
	return approval.InLock(ctx, s.pool, []int64{who.ID}, func(ctx context.Context, tx pgx.Tx) error {
		now, err := signoffs(ctx, tx, []int64{who.ID})
		if err != nil {
			return err
		}
		if !now[who.ID].closesSame(last) {
			return errSignedMeanwhile
		}
		// Leave of signed-off days is an error, so no leave may be stored at the same time.
		if err := leaveday.Lock(ctx, tx, who.ID); err != nil {
			return err
		}
		if under, err := leaveday.ReadMark(ctx, tx, who.ID); err != nil || under != mark {
			return cmp.Or(err, error(errSignedMeanwhile))
		}
		timecards, err := s.readOpen(ctx, tx, all)
		if err != nil {
			return err
		}
		// A run may have staged the days while they were open. The first sign-off also closes
		// earlier days from which everything was removed.
		noted := open
		if !signed {
			noted.From = civil.Beginning
		}
		if err := payledger.Note(ctx, tx, []payledger.Days{{EmployeeID: who.ID, Range: noted}}); err != nil {
			return err
		}
		if err := freeze(ctx, tx, all, timecards, by); err != nil {
			return err
		}
		if err := publish(ctx, tx, who.ID); err != nil {
			return err
		}
		// The schedule may have changed since it was read.
		return outbox.Append(ctx, tx, comparisons([]compared{{who.ID, civil.Range{From: parts[0].From, To: open.To}}})...)
	})
}

// earliest returns the first day of a timecard, or the given day if that is earlier.
func (s *Store) earliest(ctx context.Context, employeeID int64, day civil.Date) (civil.Date, error) {
	var first *time.Time
	from := calculation.First
	if err := s.pool.QueryRow(ctx, readEarliest, tenant.Of(ctx), employeeID, from.Time(), from).Scan(&first); err != nil {
		return 0, fmt.Errorf("read the first day of a timecard: %w", err)
	}
	if first != nil {
		day = min(day, civil.FromTime(first.UTC())-1)
	}
	return day, nil
}

// bookedBefore returns the days before a day from the first paid entry without a punch: a pay code
// edit of the schedule, or leave. The first sign-off closes these days too. They are divided into
// ranges that can be read at once.
func (s *Store) bookedBefore(ctx context.Context, employeeID int64, day civil.Date) ([]civil.Range, error) {
	days := civil.Range{From: calculation.First, To: day}
	first, err := s.timecards.FirstEdited(ctx, employeeID, days)
	if err != nil {
		return nil, err
	}
	var leave *civil.Date
	if err := s.pool.QueryRow(ctx, readEarliestLeave, tenant.Of(ctx), employeeID, days.From, days.To).Scan(&leave); err != nil {
		return nil, fmt.Errorf("read the first leave of an employee: %w", err)
	}
	if leave != nil {
		first = min(first, *leave)
	}
	var out []civil.Range
	for ; first < day; first += calculation.MaxDays {
		out = append(out, civil.Range{From: first, To: min(first+calculation.MaxDays, day)})
	}
	return out, nil
}

// readOpen calculates the timecards of ranges of open days. It returns an error if a shift is still
// running.
func (s *Store) readOpen(ctx context.Context, tx pgx.Tx, all []*known) ([]*calculation.Timecard, error) {
	out := make([]*calculation.Timecard, len(all))
	for i, k := range all {
		timecards, err := s.timecards.ReadIn(ctx, tx, []int64{k.id}, calculation.Window{Days: k.days, Bodies: true}, k.of)
		if err != nil {
			return nil, err
		}
		out[i] = timecards[0]
		if day, running := timecards[0].Running(); running {
			// The punch out would belong to the days after these, and the shift would be worth
			// nothing.
			return nil, fault.Invalid(timecardfault.CodeNotOver, fmt.Sprintf("%s is not over: the employee has not punched out of the shift that began then.", day))
		}
	}
	return out, nil
}

// freeze stores the current state of the days of timecards, ascending, and the schedule that they
// are paid by.
func freeze(ctx context.Context, tx pgx.Tx, all []*known, timecards []*calculation.Timecard, by string) error {
	for i, c := range timecards {
		if err := freezeDays(ctx, tx, c, all[i].schedule()); err != nil {
			return err
		}
	}
	last := timecards[len(timecards)-1]
	if _, err := tx.Exec(ctx, insertSignoff, tenant.Of(ctx), last.ID, last.Days.To-1, time.Unix(last.OpenFrom(), 0), by, timecards[0].Days.From); err != nil {
		return fmt.Errorf("store a sign-off: %w", err)
	}
	return nil
}

// freezeDays stores the current state of the days of a timecard. A day has a row if it has content
// or entries of the schedule.
func freezeDays(ctx context.Context, tx pgx.Tx, c *calculation.Timecard, schedule dayschedule.Days) error {
	bodies := map[civil.Date]*timekeepingv1.TimecardDay{}
	for _, d := range c.NonEmptyDays() {
		day, err := civil.ParseDate(d.GetDate())
		if err != nil {
			return err
		}
		for _, t := range d.GetTotals() {
			t.SignedOff = true
		}
		bodies[day] = d
	}
	type row struct {
		Day            civil.Date
		Worked, Week   int64
		Shown, Entries []byte
	}
	var rows []row
	for day := c.Days.From; day < c.Days.To; day++ {
		entry, err := proto.Marshal(schedule[day])
		if err != nil {
			return err
		}
		body := []byte{}
		if d := bodies[day]; d != nil {
			if body, err = proto.Marshal(d); err != nil {
				return err
			}
		}
		if len(body) == 0 && len(entry) == 0 {
			continue
		}
		rows = append(rows, row{day, bodies[day].GetWorkedSeconds(), bodies[day].GetWeekSeconds(), body, entry})
	}
	if _, err := tx.Exec(ctx, insertSigned, pg.Columns(rows, tenant.Of(ctx), c.ID)...); err != nil {
		return fmt.Errorf("store signed days: %w", err)
	}
	return nil
}

// Removing a sign-off also removes the data that results from it.
var removals = []string{
	`DELETE FROM historical_correction WHERE tenant_id = $1 AND employee_id = $2 AND historical_date > $3`,
	`DELETE FROM signed_day WHERE tenant_id = $1 AND employee_id = $2 AND day > $3`,
	`DELETE FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = $2 AND through > $3`,
}

// Reopen reopens a signed-off day of an employee and all later days. It removes each affected
// sign-off as a whole.
func (s *Store) Reopen(ctx context.Context, employeeID int64, from civil.Date) error {
	tenantID := tenant.Of(ctx)
	return approval.InLock(ctx, s.pool, []int64{employeeID}, func(ctx context.Context, tx pgx.Tx) error {
		var left, through *civil.Date
		err := tx.QueryRow(ctx, `SELECT max(through) FILTER (WHERE through < $3), max(through) FILTER (WHERE through >= $3)
			FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = $2`, tenantID, employeeID, from).Scan(&left, &through)
		if err != nil {
			return fmt.Errorf("read sign-offs: %w", err)
		}
		if through == nil {
			return fault.Invalid(timecardfault.CodeNotSigned, fmt.Sprintf("The timecard is not signed off on %s or later.", from))
		}
		last := civil.Beginning - 1
		if left != nil {
			last = *left
		}
		for _, sql := range removals {
			if _, err := tx.Exec(ctx, sql, tenantID, employeeID, last); err != nil {
				return fmt.Errorf("remove a sign-off: %w", err)
			}
		}
		if err := publish(ctx, tx, employeeID); err != nil {
			return err
		}
		return payledger.Note(ctx, tx, []payledger.Days{{EmployeeID: employeeID, Range: civil.Through(last+1, *through)}})
	})
}
