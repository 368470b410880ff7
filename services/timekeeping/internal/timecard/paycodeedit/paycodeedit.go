// Package paycodeedit parses pay code edits of timecards from requests, and stores them.
package paycodeedit

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// maxBytes is the maximum size of the stored body of a pay code edit, in bytes.
const maxBytes = 16_384

// Edit is a pay code edit as it is stored.
type Edit struct {
	ID   int64
	Day  civil.Date
	Body *timekeepingv1.TimecardPayCodeEdit
	// Quantity is the value of the edit.
	amount.Quantity
}

// Parse validates a pay code edit; path is its position in the request.
func Parse(path string, p *timekeepingv1.TimecardPayCodeEdit, s *paysetup.Setup) (*Edit, error) {
	e := &Edit{ID: p.GetId(), Body: proto.CloneOf(p)}
	var undated error
	day, err := civil.ParseDate(p.GetApplyDate())
	if err != nil {
		undated = timecardfault.Missing(path + ".applyDate")
	}
	e.Day = day
	ref := p.GetPaycode()
	if ref.GetQualifier() == "" && ref != nil && ref.Name != nil {
		// The examples of the reference product name pay codes in this way.
		ref = proto.CloneOf(ref)
		ref.Qualifier = ref.Name
	}
	code := s.Find(ref)
	if err := fault.Join(undated, e.checkAmount(path, ref, code)); err != nil {
		return nil, err
	}
	body := e.Body
	body.Id, body.Employee, body.ApplyDate, body.AmountType, body.SignOffChange = nil, nil, "", code.GetUnit(), ""
	paid := s.PayCode(ref)
	body.Paycode = paysetup.Ref(paid)
	if proto.Size(body) > maxBytes {
		return nil, timecardfault.InvalidAt(path, "must have at most %d bytes", maxBytes)
	}
	return e, nil
}

// checkAmount checks the pay code of an edit, and parses the value in its unit. The code is nil if it does not exist.
func (e *Edit) checkAmount(path string, ref *commonv1.Ref, code *timekeepingv1.PayCode) error {
	p := e.Body
	given := 0
	for _, v := range []bool{p.GetDurationInHours() != nil, p.GetDurationInDays() != nil, p.GetMoneyAmount() != nil} {
		if v {
			given++
		}
	}
	var several error
	if given > 1 {
		several = timecardfault.InvalidAt(path, "must have one of durationInHours, durationInDays and moneyAmount")
	}
	switch {
	case ref == nil:
		return fault.Join(timecardfault.Missing(path+".paycode"), several)
	case code == nil:
		return fault.Join(fault.Invalid(timecardfault.CodeReference, fmt.Sprintf("There is no such pay code (%s.paycode).", path)).WithMembers(path+".paycode"), several)
	case code.GetCombined():
		return fault.Join(timecardfault.InvalidAt(path+".paycode", "is a combined pay code, which nobody can enter"), several)
	case p.GetAmountType() != "" && !strings.EqualFold(p.GetAmountType(), code.GetUnit()):
		return fault.Join(timecardfault.InvalidAt(path+".amountType", "must be %s, the unit of the pay code", code.GetUnit()), several)
	case several != nil:
		return several
	}
	return e.amount(path, code.GetUnit())
}

// NamedJob returns the Name of the job of an employee's edit.
func (e *Edit) NamedJob(employee int64) orgjob.Name {
	return orgjob.NewName(employee, e.Day, e.Body.GetOrgJob())
}

// SetJob replaces the job of an employee's edit with its path. It returns an error if the job is
// unknown.
func (e *Edit) SetJob(employee int64, jobs orgjob.Jobs) error {
	path, err := jobs.Path(e.NamedJob(employee))
	e.Body.OrgJob = orgjob.Ref(path)
	return err
}

// amount parses the value of an edit in the unit of its pay code.
func (e *Edit) amount(path, unit string) (err error) {
	b := e.Body
	switch {
	case unit == amount.UnitHour && b.GetDurationInHours() != nil:
		e.Seconds, err = amount.ParseHours(path+".durationInHours", b.GetDurationInHours())
	case unit == amount.UnitDay && b.GetDurationInDays() != nil:
		e.Days, err = amount.Parse(path+".durationInDays", b.GetDurationInDays())
	case unit == amount.UnitMoney && b.GetMoneyAmount() != nil:
		e.Money, err = amount.Parse(path+".moneyAmount", b.GetMoneyAmount())
	default:
		name := map[string]string{amount.UnitHour: "durationInHours", amount.UnitDay: "durationInDays", amount.UnitMoney: "moneyAmount"}[unit]
		return timecardfault.Missing(path + "." + name)
	}
	return err
}

// ToProto returns a stored edit in the form of responses, with the current pay code.
func (e *Edit) ToProto(s *paysetup.Setup) *timekeepingv1.TimecardPayCodeEdit {
	out := proto.CloneOf(e.Body)
	out.Id, out.ApplyDate, out.Paycode = proto.Int64(e.ID), e.Day.String(), paysetup.Ref(s.PayCode(e.Body.GetPaycode()))
	out.DurationInHours, out.DurationInDays, out.MoneyAmount = nil, nil, nil
	switch out.GetAmountType() {
	case amount.UnitDay:
		out.DurationInDays = number(amount.Number(e.Days.String()))
	case amount.UnitMoney:
		out.MoneyAmount = number(amount.Number(e.Money.String()))
	default:
		out.DurationInHours = number(amount.Hours(e.Seconds))
	}
	return out
}

func number(n *float64) *structpb.Value {
	if n == nil {
		return nil
	}
	return structpb.NewNumberValue(*n)
}

// Job returns the name of the job of an edit, or "" without a job.
func (e *Edit) Job() string { return orgjob.Text(e.Body.GetOrgJob()) }

const (
	// ReadStored is the query for Scan: edits of employees, from a day to before another.
	ReadStored = `
SELECT t.employee_id, t.id, t.apply_date, t.seconds, t.days, t.money, t.body
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT * FROM timecard_edit WHERE tenant_id = $1 AND employee_id = e.id AND apply_date >= $3 AND apply_date < $4 OFFSET 0
) AS t ORDER BY t.employee_id, t.apply_date, t.id`

	insertEdit = `
INSERT INTO timecard_edit (tenant_id, employee_id, apply_date, seconds, days, money, body) VALUES ($1, $2, $3, $4, $5, $6, $7)`

	updateEdit = `
UPDATE timecard_edit SET apply_date = $4, seconds = $5, days = $6, money = $7, body = $8, updated_at = now()
WHERE tenant_id = $1 AND employee_id = $2 AND id = $3`

	deleteEdit = `DELETE FROM timecard_edit WHERE tenant_id = $1 AND employee_id = $2 AND id = $3`
)

// Scan reads the rows of ReadStored.
func Scan(rows pgx.Rows, add func(employeeID int64, e *Edit)) error {
	for rows.Next() {
		var id int64
		var body []byte
		e := &Edit{Body: &timekeepingv1.TimecardPayCodeEdit{}}
		if err := rows.Scan(&id, &e.ID, &e.Day, &e.Seconds, (*int64)(&e.Days), (*int64)(&e.Money), &body); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, e.Body); err != nil {
			return err
		}
		add(id, e)
	}
	return rows.Err()
}

// Store inserts an edit, or updates it if it has an id.
func Store(ctx context.Context, tx pgx.Tx, employeeID int64, e *Edit) error {
	tenantID := tenant.Of(ctx)
	body, err := proto.Marshal(e.Body)
	if err != nil {
		return err
	}
	if e.ID == 0 {
		_, err = tx.Exec(ctx, insertEdit, tenantID, employeeID, e.Day, e.Seconds, int64(e.Days), int64(e.Money), body)
		return err
	}
	tag, err := tx.Exec(ctx, updateEdit, tenantID, employeeID, e.ID, e.Day, e.Seconds, int64(e.Days), int64(e.Money), body)
	return checkFound(tag, err, e.ID)
}

// Delete deletes a pay code edit of an employee.
func Delete(ctx context.Context, tx pgx.Tx, employeeID, id int64) error {
	tag, err := tx.Exec(ctx, deleteEdit, tenant.Of(ctx), employeeID, id)
	return checkFound(tag, err, id)
}

// checkFound returns an error if a statement found no pay code edit.
func checkFound(tag pgconn.CommandTag, err error, id int64) error {
	if err == nil && tag.RowsAffected() == 0 {
		return fault.Invalid(timecardfault.CodeUnknown, fmt.Sprintf("The timecard has no pay code edit with the id %d.", id))
	}
	return err
}
