package calculation

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// scheduledTime is an entry of the schedule other than a shift, on one of its days: a pay code
// edit, or time of a leave edit.
type scheduledTime struct {
	day     civil.Date
	payCode worktime.PayCode
	job     string
	amount.Quantity
	leave, excused bool
	// halves is the time in half days. Pay codes of days keep this unit.
	halves int64
	inDays bool
	// unlessWorked drops the time if the employee worked on the day.
	unlessWorked bool
}

// bookTime adds a time to a timecard.
type bookTime func(day civil.Date, ref *commonv1.Ref, job string, b scheduledTime, e worktime.Edit)

// book adds the entries of the schedule other than shifts to the input, in the order of
// c.scheduledTimes.
func (c *Timecard) book() {
	c.input.Clocks = c.clocks
	add := func(day civil.Date, ref *commonv1.Ref, job string, b scheduledTime, e worktime.Edit) {
		code := c.setup.Find(ref)
		b.day, b.payCode, b.job = day, c.setup.PayCode(ref), c.job(job, day)
		b.excused, b.inDays = code.GetExcusedAbsence(), code.GetUnit() == amount.UnitDay
		e.Day, e.PayCode, e.Job = day, b.payCode, b.job
		c.scheduledTimes, c.input.Edits = append(c.scheduledTimes, b), append(c.input.Edits, e)
	}
	for _, edit := range c.of.Schedule.GetPayCodeEdits() {
		a, day := edit.GetAmount(), civil.Date(edit.GetDay())
		if !c.weeks.Contains(day) {
			continue
		}
		ref := &commonv1.Ref{Qualifier: proto.String(a.GetPayCode())}
		if a.GetPayCodeId() != 0 {
			ref.Id = proto.Int64(a.GetPayCodeId())
		}
		if edit.GetFree() {
			add(day, ref, a.GetJob(), scheduledTime{}, worktime.Edit{})
			continue
		}
		b := scheduledTime{Quantity: amount.Quantity{Days: amount.Amount(a.GetDays()), Money: amount.Amount(a.GetMoney())}, halves: int64(a.GetHalves())}
		add(day, ref, a.GetJob(), b, worktime.Edit{Seconds: a.GetSeconds(), Start: a.GetStartSecond(), End: a.GetEndSecond(), Halves: int64(a.GetHalves())})
	}
	for _, p := range c.leave {
		add(p.Day, p.PayCode, "", scheduledTime{leave: true}, worktime.Edit{Seconds: p.Seconds})
	}
	c.bookCredits(add)
}

// measure sets the lengths of scheduled times from the result. A part of a day without scheduled
// work has no length. Credits that depend on work are dropped on worked days.
func (c *Timecard) measure() {
	scheduled := map[civil.Date]bool{}
	for _, w := range c.input.Work {
		scheduled[w.Day] = scheduled[w.Day] || w.End > w.Start
	}
	for i := range c.scheduledTimes {
		b := &c.scheduledTimes[i]
		if b.halves != 0 && b.inDays {
			if scheduled[b.day] {
				b.Days = amount.Amount(b.halves) * amount.PerUnit / 2
			}
			continue
		}
		b.Seconds = c.result.Booked[i]
	}
	c.scheduledTimes = slices.DeleteFunc(c.scheduledTimes, func(b scheduledTime) bool {
		return b.unlessWorked && c.result.Days[b.day].All > 0
	})
}

func (b *scheduledTime) toProto() *timekeepingv1.SchedulePayCodeEdit {
	out := &timekeepingv1.SchedulePayCodeEdit{
		ApplyDate: b.day.String(), Paycode: paysetup.Ref(b.payCode), OrgJob: orgjob.Ref(b.job), Leave: proto.Bool(b.leave),
	}
	out.AmountType, out.DurationInHours, out.DurationInDays, out.MoneyAmount = b.Shown()
	return out
}

// excuses reports whether an edit on a day excuses an absence.
func (c *Timecard) excuses(day civil.Date) bool {
	for _, e := range c.edits {
		if e.Day == day && c.setup.Find(e.Body.GetPaycode()).GetExcusedAbsence() {
			return true
		}
	}
	for _, b := range c.scheduledTimes {
		if b.day == day && b.excused {
			return true
		}
	}
	return false
}
