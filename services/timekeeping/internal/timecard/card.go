package timecard

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// card is the timecard of an employee on some days.
type card struct {
	*employee
	days  civil.Range
	setup *paysetup.Setup
	// historical says that days which are signed off are calculated all the same.
	historical bool

	input  *worktime.Input
	result *worktime.Result
	// shifts are those of input.Schedule, and scheduledTimes what stands beside them.
	shifts         []*commonsv1.EmployeeShift
	scheduledTimes []scheduledTime
}

// read calculates the timecards of employees, in the order of the ids. What is stored
// is that of one moment, but for the schedule. It calls commons, so that it has no
// place in a transaction.
func (r *Reader) read(ctx context.Context, tenantID int64, ids []int64, w window) ([]*card, error) {
	known, err := r.ask(ctx, ids, w.days, w.wages)
	if err != nil {
		return nil, err
	}
	var cards []*card
	err = pg.InSnapshot(ctx, r.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		cards, err = r.readIn(ctx, tx, tenantID, ids, w, known)
		return err
	})
	return cards, err
}

// ask asks commons what it knows of employees.
func (r *Reader) ask(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]*commonsv1.EmployeeDays, error) {
	response, err := r.days.ReadEmployeeDays(ctx, &commonsv1.ReadEmployeeDaysRequest{
		EmployeeIds: ids, From: int32(days.From - daysBefore), To: int32(days.To + daysAfter), Wages: wages,
	})
	if err != nil {
		return nil, fmt.Errorf("read the schedule of employees: %w", err)
	}
	known := make(map[int64]*commonsv1.EmployeeDays, len(response.GetEmployees()))
	for _, e := range response.GetEmployees() {
		known[e.GetEmployeeId()] = e
	}
	return known, nil
}

func (r *Reader) readIn(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64, w window, known map[int64]*commonsv1.EmployeeDays) ([]*card, error) {
	setup, err := paysetup.Load(ctx, tx, tenantID)
	if err != nil {
		return nil, err
	}
	found, err := r.load(ctx, tx, tenantID, ids, w, setup.Rules.MaxShift())
	if err != nil {
		return nil, err
	}
	now := r.now().Unix()
	cards := make([]*card, len(ids))
	for i, id := range ids {
		e := found[id]
		e.of = known[id]
		cards[i] = e.calculate(w, setup, now)
	}
	return cards, nil
}

// calculate calculates the timecard of an employee.
func (e *employee) calculate(w window, s *paysetup.Setup, now int64) *card {
	c := &card{employee: e, days: w.days, setup: s, historical: w.signed, input: &worktime.Input{Now: now, Before: e.before}}
	c.input.Excused = c.excuses
	rules := map[civil.Date]*worktime.Rule{}
	c.input.Rule = func(day civil.Date) *worktime.Rule {
		rule, ok := rules[day]
		if !ok {
			_, rule = s.Rules.On(e.payRule(day), day)
			rules[day] = rule
		}
		return rule
	}
	c.input.Punches = make([]worktime.Punch, len(e.punches))
	for i := range e.punches {
		c.input.Punches[i] = e.punches[i].Punch
		c.input.Punches[i].PayCode = s.Booked(e.punches[i].workRuleID, e.punches[i].workRule)
	}
	c.schedule()
	c.book()
	c.result = worktime.Calculate(c.input)
	c.measure()
	return c
}

// schedule adds the shifts of the schedule, without what leave takes of them.
func (c *card) schedule() {
	cursor := c.zone.Cursor()
	for _, shift := range c.of.GetShifts() {
		day := civil.Date(shift.GetDay())
		left := &commonsv1.EmployeeShift{Day: shift.GetDay()}
		var start, end int32
		for _, segment := range shift.GetSegments() {
			c.input.Work = append(c.input.Work, worktime.Interval{Day: day, Start: segment.GetStartSecond(), End: segment.GetEndSecond()})
			if segment.GetTaken() {
				continue
			}
			if len(left.GetSegments()) == 0 {
				start = segment.GetStartSecond()
			}
			start, end = min(start, segment.GetStartSecond()), max(end, segment.GetEndSecond())
			left.Segments = append(left.Segments, segment)
		}
		if len(left.GetSegments()) == 0 {
			continue
		}
		from, to := cursor.Interval(day, start, end)
		c.input.Schedule = append(c.input.Schedule, worktime.Scheduled{Day: day, Start: from, End: to})
		c.shifts = append(c.shifts, left)
	}
}

// payRule returns the pay rule of an employee on a day: that of the employment term,
// or else the one of the job assignment.
func (e *employee) payRule(day civil.Date) *commonv1.Ref {
	for _, span := range e.terms {
		if !span.days.Contains(day) {
			continue
		}
		for _, v := range span.term.GetVersions().GetEmploymentTermVersion() {
			from, err := civil.ParseDate(v.GetStartDate())
			to, errTo := civil.ParseDate(v.GetEndDate())
			if err == nil && from <= day && (errTo != nil || day < to) && v.GetPayRule() != nil {
				return v.GetPayRule()
			}
		}
	}
	for _, rule := range e.of.GetPayRules() {
		if civil.Date(rule.GetFrom()) <= day && day < civil.Date(rule.GetTo()) {
			return &commonv1.Ref{Qualifier: &rule.Text}
		}
	}
	return nil
}

// job returns the job of a part of a timecard: the primary job of the day when it
// names none.
func (e *employee) job(job string, day civil.Date) string {
	if job != "" {
		return job
	}
	for _, primary := range e.of.GetPrimaryJobs() {
		if civil.Date(primary.GetFrom()) <= day && day < civil.Date(primary.GetTo()) {
			return primary.GetText()
		}
	}
	return ""
}

// shows says whether a day is one that was asked for, and is calculated.
func (c *card) shows(day civil.Date) bool {
	return c.days.Contains(day) && (c.historical || c.through == nil || day > *c.through)
}
