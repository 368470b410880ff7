// Package employeeday reads the inputs of timecards from other services: the schedules of employees
// from scheduling, and jobs, pay rules and wages from commons.
package employeeday

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Days holds the data of other services about an employee on some days. The zero value means that
// they have no data of the employee.
type Days struct {
	Pay      *commonsv1.PersonPay
	Schedule *schedulingv1.EmployeeDays
	// Holidays are the days that selected holidays overlap, ascending.
	Holidays []civil.Date
}

// PayRule returns the pay rule of the employee on a day: the rule of the employment term, or else
// the rule of the job assignment; nil without either.
func (d Days) PayRule(day civil.Date) *commonv1.Ref {
	for _, rule := range d.Schedule.GetPayRules() {
		if civil.Date(rule.GetFrom()) <= day && day < civil.Date(rule.GetTo()) {
			return rule.GetPayRule()
		}
	}
	for _, rule := range d.Pay.GetPayRules() {
		if civil.Date(rule.GetFrom()) <= day && day < civil.Date(rule.GetTo()) {
			return &commonv1.Ref{Qualifier: &rule.Text}
		}
	}
	return nil
}

// Source reads the days of employees.
type Source interface {
	// Read returns the days by employee; wages requests the wages too. Do not call it inside a
	// transaction.
	Read(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]Days, error)
	// ReadEdited returns, for up to 20,000 days of an employee, the shifts and the pay code edits
	// of the days that have a pay code edit. Do not call it inside a transaction.
	ReadEdited(ctx context.Context, id int64, days civil.Range) (Days, error)
}

// Reader reads the days of employees from the services that own the data.
type Reader struct {
	pay      commonsv1.PersonPayServiceClient
	schedule schedulingv1.EmployeeDayServiceClient
}

var _ Source = (*Reader)(nil)

// NewReader returns a Reader that calls these services.
func NewReader(pay commonsv1.PersonPayServiceClient, schedule schedulingv1.EmployeeDayServiceClient) *Reader {
	return &Reader{pay: pay, schedule: schedule}
}

// Read calls both services at the same time.
func (r *Reader) Read(ctx context.Context, ids []int64, days civil.Range, wages bool) (map[int64]Days, error) {
	from, to := int32(days.From), int32(days.To)
	var pay *commonsv1.ReadPersonPayResponse
	var schedule *schedulingv1.ReadEmployeeDaysResponse
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		pay, err = r.pay.ReadPersonPay(ctx, &commonsv1.ReadPersonPayRequest{PersonIds: ids, From: from, To: to, Wages: wages})
		if err != nil {
			return fmt.Errorf("read the pay of employees: %w", err)
		}
		return nil
	})
	group.Go(func() (err error) {
		schedule, err = r.schedule.ReadEmployeeDays(ctx, &schedulingv1.ReadEmployeeDaysRequest{EmployeeIds: ids, From: from, To: to})
		if err != nil {
			return fmt.Errorf("read the schedule of employees: %w", err)
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var holidays []civil.Date
	for _, day := range schedule.GetHolidays() {
		holidays = append(holidays, civil.Date(day))
	}
	out := make(map[int64]Days, len(ids))
	for _, id := range ids {
		out[id] = Days{Holidays: holidays}
	}
	for _, p := range pay.GetPersons() {
		out[p.GetPersonId()] = Days{Pay: p, Holidays: holidays}
	}
	for _, e := range schedule.GetEmployees() {
		out[e.GetEmployeeId()] = Days{Pay: out[e.GetEmployeeId()].Pay, Schedule: e, Holidays: holidays}
	}
	return out, nil
}

// ReadEdited calls scheduling.
func (r *Reader) ReadEdited(ctx context.Context, id int64, days civil.Range) (Days, error) {
	response, err := r.schedule.ReadEmployeeDays(ctx, &schedulingv1.ReadEmployeeDaysRequest{
		EmployeeIds: []int64{id}, From: int32(days.From), To: int32(days.To), OnlyEditedDays: true,
	})
	if err != nil {
		return Days{}, fmt.Errorf("read the pay code edits of an employee: %w", err)
	}
	for _, e := range response.GetEmployees() {
		if e.GetEmployeeId() == id {
			return Days{Schedule: e}, nil
		}
	}
	return Days{}, nil
}
