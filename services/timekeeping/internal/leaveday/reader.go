package leaveday

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
)

// maxDays is the maximum number of days that one call reads from the schedule.
const maxDays = 366

// Reader reads the data of days that limits leave.
type Reader struct {
	pool *pg.Pool
	days employeeday.Source
}

// NewReader returns a Reader of the setup in the database of the pool. The source reads the
// schedule.
func NewReader(pool *pg.Pool, days employeeday.Source) *Reader {
	return &Reader{pool: pool, days: days}
}

// Days holds the data of days of an employee.
type Days struct {
	employeeID int64
	codes      *Codes
	known      map[civil.Date]*dayState
}

// dayState is the data of one day.
type dayState struct {
	length   int64
	work     []interval
	standing []Deduction // on the schedule, without time off
	holiday  bool
}

type interval struct{ start, end int32 }

// Read reads the data of days of an employee. It calls other services, so do not call it inside a
// transaction.
func (r *Reader) Read(ctx context.Context, employeeID int64, days []civil.Date) (*Days, error) {
	out := &Days{employeeID: employeeID, known: map[civil.Date]*dayState{}}
	err := pg.InSnapshot(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		out.codes, err = ReadCodes(ctx, tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	days = slices.Compact(slices.Sorted(slices.Values(days)))
	for len(days) > 0 {
		n := 0
		for n < len(days) && days[n] < days[0]+maxDays {
			out.known[days[n]] = &dayState{}
			n++
		}
		found, err := r.days.Read(ctx, []int64{employeeID}, civil.Range{From: days[0], To: days[n-1] + 1}, false)
		if err != nil {
			return nil, err
		}
		out.add(found[employeeID].Schedule)
		for _, day := range days[:n] {
			state := out.known[day]
			state.holiday = slices.Contains(found[employeeID].Holidays, day)
			for _, work := range state.work {
				state.length += int64(work.end - work.start)
			}
			if state.length == 0 {
				state.length = out.codes.setup.Rules.FullDay(found[employeeID].PayRule(day), day)
			}
		}
		days = days[n:]
	}
	return out, nil
}

func (d *Days) add(schedule *schedulingv1.EmployeeDays) {
	for _, shift := range schedule.GetShifts() {
		if state := d.known[civil.Date(shift.GetDay())]; state != nil {
			for _, s := range shift.GetSegments() {
				state.work = append(state.work, interval{s.GetStartSecond(), s.GetEndSecond()})
			}
		}
	}
	for _, edit := range schedule.GetPayCodeEdits() {
		day, a := civil.Date(edit.GetDay()), edit.GetAmount()
		state := d.known[day]
		if state == nil || edit.GetTimeOff() {
			continue // Time off is read with the requests.
		}
		ref := &commonv1.Ref{Qualifier: proto.String(a.GetPayCode())}
		if a.GetPayCodeId() != 0 {
			ref.Id = proto.Int64(a.GetPayCodeId())
		}
		if d.codes.AreLeave(ref) {
			state.standing = append(state.standing, ofScheduleEdit(day, a))
		}
	}
}

// workBetween returns how much work of a day lies between two times. On a day without work it
// returns the rest of an amount, at most a full day.
func (d *Days) workBetween(day civil.Date, start, end int32, left int64) int64 {
	state := d.known[day]
	if state == nil {
		return 0
	}
	if len(state.work) == 0 {
		return max(0, min(int64(end-start), state.length, left))
	}
	var sum int64
	for _, w := range state.work {
		sum += int64(max(0, min(end, w.end)-max(start, w.start)))
	}
	return sum
}

// Check returns an error if the days of deductions have no room for them. The deductions replace the
// entries in except. The transaction must hold the employee's [Lock].
func (d *Days) Check(ctx context.Context, tx pgx.Tx, added []Deduction, except ...Source) error {
	if len(added) == 0 {
		return nil
	}
	byDay := map[civil.Date][]Deduction{}
	days := civil.Range{From: added[0].Day, To: added[0].Day + 1}
	for _, t := range added {
		if d.known[t.Day] == nil {
			return fault.Conflict(fault.CodeStale, "Another request has changed the days of the leave. Send the request again.")
		}
		byDay[t.Day] = append(byDay[t.Day], t)
		days.From, days.To = min(days.From, t.Day), max(days.To, t.Day+1)
	}
	standing, err := d.standing(ctx, tx, days, except)
	if err != nil {
		return fmt.Errorf("read the leave of days: %w", err)
	}
	for day := days.From; day < days.To; day++ {
		if len(byDay[day]) == 0 {
			continue
		}
		if err := check(day, d.known[day].length, append(standing[day], d.known[day].standing...), byDay[day]); err != nil {
			return err
		}
	}
	return nil
}

// Cost returns the cost of a deduction under its current pay code. A part of a day without work costs
// nothing. A free deduction on a holiday costs nothing either. The pay code is nil if it is not set
// up.
func (d *Days) Cost(t Deduction) (*timekeepingv1.PayCode, amount.Quantity) {
	code, state := d.codes.setup.Find(t.PayCode), d.known[t.Day]
	switch {
	case t.FreeOnHolidays && state != nil && state.holiday:
		return code, amount.Quantity{}
	case t.Parts == 0:
		return code, amount.Quantity{Seconds: t.Seconds}
	case state == nil || len(state.work) == 0:
		return code, amount.Quantity{}
	case code.GetUnit() == amount.UnitDay:
		return code, amount.Quantity{Days: amount.Amount(t.Parts)}
	}
	return code, amount.Quantity{Seconds: t.Parts * state.length / amount.PerUnit}
}

// AreLeave does the same as [Codes.AreLeave].
func (d *Days) AreLeave(ref *commonv1.Ref) bool { return d.codes.AreLeave(ref) }

// Codes holds the pay codes of a tenant, and marks those of leave.
type Codes struct {
	setup *paysetup.Setup
	ids   map[int64]bool
}

// ReadCodes reads the pay codes of a tenant.
func ReadCodes(ctx context.Context, tx pgx.Tx) (*Codes, error) {
	setup, err := paysetup.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	out := &Codes{setup: setup, ids: map[int64]bool{}}
	refs, err := accrual.DeductedPayCodes(ctx, tx)
	if err != nil {
		return nil, err
	}
	types, err := leavepolicy.Types().All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		if t.GetPayCode() != nil {
			refs = append(refs, t.GetPayCode())
		}
	}
	for _, ref := range refs {
		if code := setup.Find(ref); code != nil {
			out.ids[code.GetId()] = true
		}
	}
	return out, nil
}

// AreLeave reports whether hours under a pay code are leave: the pay code excuses an absence, an
// accrual code deducts it, or a leave type is paid under it.
func (c *Codes) AreLeave(ref *commonv1.Ref) bool {
	code := c.setup.Find(ref)
	return code != nil && (code.GetExcusedAbsence() || c.ids[code.GetId()])
}
