package timecard

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/jobname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// edit is a pay code edit as it is stored.
type edit struct {
	id   int64
	day  civil.Date
	body *timekeepingv1.TimecardPayCodeEdit
	// The quantity is what it is worth.
	amount.Quantity
}

// newEdit checks a pay code edit.
func newEdit(path string, p *timekeepingv1.TimecardPayCodeEdit, s *paysetup.Setup) (*edit, error) {
	e := &edit{id: p.GetId(), body: proto.CloneOf(p)}
	day, err := civil.ParseDate(p.GetApplyDate())
	if err != nil {
		return nil, timecardfault.Missing(path + ".applyDate")
	}
	e.day = day
	ref := p.GetPaycode()
	if ref.GetQualifier() == "" && ref != nil && ref.Name != nil {
		// The reference product's own examples name pay codes so.
		ref = proto.CloneOf(ref)
		ref.Qualifier = ref.Name
	}
	code := s.Find(ref)
	switch {
	case ref == nil:
		return nil, timecardfault.Missing(path + ".paycode")
	case code == nil:
		return nil, fault.Invalid(timecardfault.CodeReference, fmt.Sprintf("There is no such pay code (%s.paycode).", path))
	case code.GetCombined():
		return nil, timecardfault.Invalid("%s.paycode is a combined pay code, which nobody can enter", path)
	case p.GetAmountType() != "" && !strings.EqualFold(p.GetAmountType(), code.GetUnit()):
		return nil, timecardfault.Invalid("%s.amountType must be %s, the unit of the pay code", path, code.GetUnit())
	}
	given := 0
	for _, v := range []bool{p.GetDurationInHours() != nil, p.GetDurationInDays() != nil, p.GetMoneyAmount() != nil} {
		if v {
			given++
		}
	}
	if given > 1 {
		return nil, timecardfault.Invalid("%s must have one of durationInHours, durationInDays and moneyAmount", path)
	}
	if err := e.amount(path, code.GetUnit()); err != nil {
		return nil, err
	}
	body := e.body
	body.Id, body.Employee, body.ApplyDate, body.AmountType = nil, nil, "", code.GetUnit()
	paid := s.PayCode(ref)
	body.Paycode = paysetup.Ref(paid)
	if job := body.GetOrgJob(); job != nil {
		body.OrgJob = jobname.Ref(jobname.Of(job))
	}
	if proto.Size(body) > maxPunch {
		return nil, timecardfault.Invalid("%s must have at most %d bytes", path, maxPunch)
	}
	return e, nil
}

// amount reads what an edit is worth in the unit of its pay code.
func (e *edit) amount(path, unit string) (err error) {
	b := e.body
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

// toProto returns a stored edit as callers see it.
func (e *edit) toProto(c *card) *timekeepingv1.TimecardPayCodeEdit {
	out := proto.CloneOf(e.body)
	out.Id, out.ApplyDate, out.Paycode = proto.Int64(e.id), e.day.String(), paysetup.Ref(c.setup.PayCode(e.body.GetPaycode()))
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

// jobOf returns the job of an edit: the primary job of its day when it names none.
func (e *edit) jobOf(c *card) string {
	return c.job(jobname.Of(e.body.GetOrgJob()), e.day)
}

// excuses says whether somebody whose timecard has an edit on a day may be absent.
func (c *card) excuses(day civil.Date) bool {
	for _, e := range c.edits {
		if e.day == day && c.setup.Find(e.body.GetPaycode()).GetExcusedAbsence() {
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

// totalKey is what totals are distinguished by.
type totalKey struct {
	worktime.Key
	kind       timekeepingv1.TotalKind
	historical civil.Date
}

const (
	readEdits = `
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

func scanEdits(rows pgx.Rows, found map[int64]*employee) error {
	for rows.Next() {
		var id int64
		var body []byte
		e := &edit{body: &timekeepingv1.TimecardPayCodeEdit{}}
		if err := rows.Scan(&id, &e.id, &e.day, &e.Seconds, (*int64)(&e.Days), (*int64)(&e.Money), &body); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, e.body); err != nil {
			return err
		}
		found[id].edits = append(found[id].edits, e)
	}
	return rows.Err()
}

// storeEdit writes an edit: a new one, or one that has an id.
func storeEdit(ctx context.Context, tx pgx.Tx, tenantID, employeeID int64, e *edit) error {
	body, err := proto.Marshal(e.body)
	if err != nil {
		return err
	}
	if e.id == 0 {
		_, err = tx.Exec(ctx, insertEdit, tenantID, employeeID, e.day, e.Seconds, int64(e.Days), int64(e.Money), body)
		return err
	}
	return one(unknownEdit(e.id))(tx.Exec(ctx, updateEdit, tenantID, employeeID, e.id, e.day, e.Seconds, int64(e.Days), int64(e.Money), body))
}

func unknownEdit(id int64) *fault.Error {
	return fault.Invalid(timecardfault.CodeUnknown, fmt.Sprintf("The timecard has no pay code edit with the id %d.", id))
}

func unknownPunch(id int64) *fault.Error {
	return fault.Invalid(timecardfault.CodeUnknown, fmt.Sprintf("The timecard has no punch with the id %d.", id))
}
