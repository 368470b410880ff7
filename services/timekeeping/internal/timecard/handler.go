// Package timecard serves timecards: it imports and reads punches, and reads and changes the
// timecards that are calculated from them.
package timecard

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// Timecards serves TimecardService.
type Timecards struct {
	timekeepingv1.UnsafeTimecardServiceServer
	pool      *pg.Pool
	timecards *calculation.Reader
	finder    *requested.Finder
	signoffs  *signoff.Store
	room      *leaveday.Reader
	jobs      *orgjob.Resolver
	accruals  *accrual.Reader
	zones     civil.Zones
}

var _ timekeepingv1.TimecardServiceServer = (*Timecards)(nil)

// NewTimecards returns a Timecards of the timecards of a reader and the database of the pool. room
// calculates how much leave days can have, jobs finds jobs, and accruals reads balances.
func NewTimecards(pool *pg.Pool, timecards *calculation.Reader, finder *requested.Finder, signoffs *signoff.Store, room *leaveday.Reader, jobs *orgjob.Resolver,
	accruals *accrual.Reader,
) *Timecards {
	return &Timecards{pool: pool, timecards: timecards, finder: finder, signoffs: signoffs, room: room, jobs: jobs, accruals: accruals}
}

// MultiReadTimecards returns the timecards of employees on some days.
func (h *Timecards) MultiReadTimecards(ctx context.Context, req *timekeepingv1.MultiReadTimecardsRequest) (*timekeepingv1.TimecardList, error) {
	set, path, err := requestedSet(req.GetWhere())
	if err != nil {
		return nil, err
	}
	options, err := parseOptions(req.GetMultiReadOptions())
	if err != nil {
		return nil, err
	}
	if err := warnMisspelt(ctx, req.GetSelect()); err != nil {
		return nil, err
	}
	wanted := selection(req.GetSelect())
	timecards, unknown, err := h.read(ctx, path, set, calculation.Window{Bodies: wanted("PUNCHES")})
	if err != nil {
		return nil, err
	}
	list := make([]*timekeepingv1.Timecard, len(timecards))
	for i, c := range timecards {
		list[i] = show(c, wanted, options)
	}
	if err := inLanguage(ctx, list...); err != nil {
		return nil, err
	}
	list, failure, err := rpc.PartialList(ctx, list, unknown)
	return &timekeepingv1.TimecardList{Timecards: list, Failure: failure}, err
}

// requestedSet returns the requested employees and days in either dialect, and their path in the request.
func requestedSet(where *timekeepingv1.TimecardsWhere) (*timekeepingv1.TimecardEmployeeSet, string, error) {
	set, path := &timekeepingv1.TimecardEmployeeSet{Employees: where.GetEmployees(), DateRange: where.GetDateRange(), HyperFind: where.GetHyperFind()}, "where"
	if where.GetEmployeeSet() != nil {
		if where.GetEmployees() != nil || where.GetDateRange() != nil || where.GetHyperFind() != nil {
			return nil, "", timecardfault.Invalid("where must have employees and dateRange, or employeeSet with both")
		}
		set, path = where.GetEmployeeSet(), "where.employeeSet"
	}
	return set, path, nil
}

// read reads the timecards that a request names, with the options of the window. It also returns
// the unknown employees.
func (h *Timecards) read(ctx context.Context, path string, named *timekeepingv1.TimecardEmployeeSet, w calculation.Window) ([]*calculation.Timecard, []rpc.UnknownEmployee, error) {
	set, err := h.finder.Set(ctx, path, named)
	if err != nil || len(set.IDs) == 0 {
		return nil, nil, err
	}
	w.Days = set.Days
	timecards, err := h.timecards.Read(ctx, set.IDs, w)
	return timecards, set.Unknown, err
}

// UpdateTimecard changes the timecard of one employee.
func (h *Timecards) UpdateTimecard(ctx context.Context, req *timekeepingv1.UpdateTimecardRequest) (*timekeepingv1.Timecard, error) {
	ref := req.GetWhere().GetEmployee()
	who, err := h.finder.Employee(rowvisibility.OnAnyDay(ctx), ref)
	if err != nil {
		return nil, err
	}
	return h.updateTimecard(ctx, who, req, updateDates(req), func(days []civil.Range) error { return h.finder.CheckDays(ctx, ref, who, days) })
}

// updateDates returns the days of the timecard that a change responds with.
func updateDates(req *timekeepingv1.UpdateTimecardRequest) requested.Dates {
	dates := req.GetWhere().GetDateRange()
	return requested.InRange("where.dateRange", &commonv1.DateRange{
		StartDate: dateOnly(dates.GetStartDate()), EndDate: dateOnly(dates.GetEndDate()), SymbolicPeriod: dates.GetSymbolicPeriod(),
	})
}

// updateTimecard changes the timecard of an employee, and returns the days of dates. check refuses days
// of the employee that the caller does not see.
func (h *Timecards) updateTimecard(ctx context.Context, who person.Person, req *timekeepingv1.UpdateTimecardRequest,
	dates requested.Dates, check func([]civil.Range) error,
) (*timekeepingv1.Timecard, error) {
	days, err := h.finder.Days(ctx, dates)
	if err != nil {
		return nil, err
	}
	if err := check([]civil.Range{days}); err != nil {
		return nil, err
	}
	if err := h.update(ctx, who, req.GetDo(), check); err != nil && !errors.Is(err, errOnlyValidated) {
		return nil, err
	}
	timecards, err := h.timecards.Read(ctx, []int64{who.ID}, calculation.Window{Days: days, Bodies: true})
	if err != nil {
		return nil, err
	}
	out := show(timecards[0], selection(nil), options{})
	return out, inLanguage(ctx, out)
}

// dateOnly removes the time from a date-time.
func dateOnly(text string) string {
	date, _, _ := strings.Cut(text, "T")
	return date
}

// errOnlyValidated rolls back a change that the request only validates.
var errOnlyValidated = errors.New("only validated")

// update applies the changes of a timecard in one transaction.
func (h *Timecards) update(ctx context.Context, who person.Person, do *timekeepingv1.TimecardChanges, check func([]civil.Range) error) error {
	plan := &plan{pool: h.pool, zones: &h.zones, who: who, days: signoff.ChangedDays{}, now: h.timecards.Now(ctx), room: h.room, jobs: h.jobs}
	if err := plan.read(ctx, do); err != nil {
		return err
	}
	if err := check(plan.days.Ranges(who.ID)); err != nil {
		return err
	}
	return h.signoffs.Change(ctx, plan.days, func(ctx context.Context, tx pgx.Tx) error {
		if err := plan.apply(ctx, tx); err != nil {
			return err
		}
		if do.GetOnlyValidate() {
			return errOnlyValidated
		}
		return nil
	})
}
