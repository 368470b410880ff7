// Package calculation calculates the timecards of employees on each read.
package calculation

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Limits of one read. All data of the employees on the days is in memory at the same time.
const (
	MaxEmployees = 500
	MaxDays      = 366
	// MaxEmployeeDays is the maximum of the number of employees times the number of days.
	MaxEmployeeDays = 30_000
)

// First and Last are the earliest and the latest day of timecards.
const (
	First = civil.Beginning + daysBack + daysBefore + aroundWeek
	Last  = civil.Forever - daysAfter - aroundWeek
)

// Reader calculates timecards.
type Reader struct {
	pool  *pg.Pool
	days  employeeday.Source
	zones civil.Zones
	now   func() time.Time
}

// NewReader returns a Reader of the database of the pool. It reads schedules, jobs and wages from
// the source.
func NewReader(pool *pg.Pool, days employeeday.Source, now func() time.Time) *Reader {
	return &Reader{pool: pool, days: days, now: now}
}

// Read calculates the timecards of employees, in the order of the ids. The stored data is from one
// snapshot; the schedule is not part of it. Read calls other services, so do not call it inside a
// transaction.
func (r *Reader) Read(ctx context.Context, ids []int64, w Window) ([]*Timecard, error) {
	known, err := r.ReadEmployeeDays(ctx, ids, w.Days, w.Wages)
	if err != nil {
		return nil, err
	}
	var timecards []*Timecard
	err = pg.InSnapshot(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		timecards, err = r.ReadIn(ctx, tx, ids, w, known)
		return err
	})
	return timecards, err
}

// ReadEmployeeDays reads the data of employees from other services.
func (r *Reader) ReadEmployeeDays(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]employeeday.Days, error) {
	if wages {
		days = civil.Range{From: days.From - aroundWeek, To: days.To + aroundWeek}
	}
	return r.days.Read(ctx, ids, Around(days), wages)
}

// Around returns the days whose schedule the calculation of some days needs.
func Around(days civil.Range) civil.Range {
	return civil.Range{From: days.From - daysBefore, To: days.To + daysAfter}
}

// ReadIn does the same as Read inside a transaction. The caller supplies the data of other
// services.
func (r *Reader) ReadIn(ctx context.Context, tx pgx.Tx, ids []int64, w Window, known map[int64]employeeday.Days) ([]*Timecard, error) {
	setup, err := paysetup.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	found, err := r.load(ctx, tx, ids, w, setup.Rules)
	if err != nil {
		return nil, err
	}
	now := r.Now(ctx).Unix()
	timecards := make([]*Timecard, len(ids))
	for i, id := range ids {
		e := found[id]
		e.of = known[id]
		e.of.Schedule = dayschedule.Replace(e.of.Schedule, e.rescheduled)
		timecards[i] = e.calculate(w, setup, now)
	}
	return timecards, nil
}

// Now returns the current time of the calculation, on the clock of the tenant.
func (r *Reader) Now(ctx context.Context) time.Time { return clock.OfTenant(ctx, r.now()) }

// Over returns an error unless all days of an employee are in the past.
func (r *Reader) Over(ctx context.Context, who person.Person, days civil.Range) error {
	clocks, err := who.Clocks(&r.zones)
	if err != nil {
		return err
	}
	last := days.To - 1
	if today := clocks.At(r.Now(ctx)).Date; last >= today {
		return fault.Invalid(timecardfault.CodeNotOver, last.String()+" is not over: today is "+today.String()+".")
	}
	return nil
}
