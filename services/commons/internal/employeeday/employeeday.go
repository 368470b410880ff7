// Package employeeday serves to timekeeping what timecards follow from: primary jobs, pay
// rules, scheduled shifts and pay code edits from day to day.
package employeeday

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

// What one call may ask for.
const (
	maxEmployees = 500
	maxDays      = 400
)

// Handler serves EmployeeDayService.
type Handler struct {
	commonsv1.UnsafeEmployeeDayServiceServer
	pool *pg.Pool
}

var _ commonsv1.EmployeeDayServiceServer = (*Handler)(nil)

// New returns a Handler that reads the database of the pool.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

const readPrimaryJobs = `
SELECT person_id, from_date, to_date, organization_path FROM primary_labor_account
WHERE tenant_id = $1 AND person_id = ANY($2) AND from_date < $4 AND to_date > $3 ORDER BY person_id, from_date`

const readPayRules = `
SELECT person_id, from_date, to_date, pay_rule_name FROM pay_rule_assignment
WHERE tenant_id = $1 AND person_id = ANY($2) AND from_date < $4 AND to_date > $3 ORDER BY person_id, from_date`

// ReadEmployeeDays returns what holds of employees on some days.
func (h *Handler) ReadEmployeeDays(ctx context.Context, req *commonsv1.ReadEmployeeDaysRequest) (*commonsv1.ReadEmployeeDaysResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	days := civil.Range{From: civil.Date(req.GetFrom()), To: civil.Date(req.GetTo())}
	if n := len(req.GetEmployeeIds()); n > maxEmployees || days.Empty() || days.Days() > maxDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d, or none.", n, days.Days(), maxEmployees, maxDays))
	}
	found := make(map[int64]*commonsv1.EmployeeDays, len(req.GetEmployeeIds()))
	of := func(id int64) *commonsv1.EmployeeDays {
		if found[id] == nil {
			found[id] = &commonsv1.EmployeeDays{EmployeeId: id}
		}
		return found[id]
	}
	texts := func(list func(*commonsv1.EmployeeDays) *[]*commonsv1.EmployeeDayText) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			for rows.Next() {
				var id int64
				text := &commonsv1.EmployeeDayText{}
				if err := rows.Scan(&id, (*civil.Date)(&text.From), (*civil.Date)(&text.To), &text.Text); err != nil {
					return err
				}
				to := list(of(id))
				*to = append(*to, text)
			}
			return rows.Err()
		}
	}
	var snapshot pg.Snapshot
	args := []any{tenantID, req.GetEmployeeIds(), days.From, days.To}
	snapshot.Queue(texts(func(e *commonsv1.EmployeeDays) *[]*commonsv1.EmployeeDayText { return &e.PrimaryJobs }), readPrimaryJobs, args...)
	snapshot.Queue(texts(func(e *commonsv1.EmployeeDays) *[]*commonsv1.EmployeeDayText { return &e.PayRules }), readPayRules, args...)
	snapshot.Queue(func(rows pgx.Rows) error { return scanShifts(rows, of) }, search.ShiftsSQL(), args...)
	snapshot.Queue(func(rows pgx.Rows) error { return scanEdits(rows, of) }, search.PayCodeEditsSQL(), args...)
	if req.GetAccrualProfile() {
		snapshot.Queue(func(rows pgx.Rows) error { return scanAccrualProfiles(rows, of) }, readPersons, tenantID, req.GetEmployeeIds())
	}
	if req.GetWages() {
		snapshot.Queue(func(rows pgx.Rows) error { return scanWages(rows, of) }, readWages, tenantID, req.GetEmployeeIds())
	}
	if err := snapshot.Read(ctx, h.pool); err != nil {
		return nil, fmt.Errorf("read days of employees: %w", err)
	}
	out := &commonsv1.ReadEmployeeDaysResponse{}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		slices.SortStableFunc(found[id].Shifts, byStart)
		out.Employees = append(out.Employees, found[id])
	}
	return out, nil
}

func byStart(a, b *commonsv1.EmployeeShift) int {
	if a.GetDay() != b.GetDay() {
		return int(a.GetDay() - b.GetDay())
	}
	return int(a.GetSegments()[0].GetStartSecond() - b.GetSegments()[0].GetStartSecond())
}

func scanShifts(rows pgx.Rows, of func(int64) *commonsv1.EmployeeDays) error {
	var last struct {
		id, shift int64
		day       int32
	}
	for rows.Next() {
		var id, shift int64
		var day int32
		var number int16
		segment := &commonsv1.EmployeeShiftSegment{}
		if err := rows.Scan(&id, (*civil.Date)(&day), &shift, &number, &segment.StartSecond, &segment.EndSecond, &segment.Job, &segment.Taken); err != nil {
			return err
		}
		e := of(id)
		if len(e.Shifts) == 0 || last.id != id || last.day != day || last.shift != shift {
			e.Shifts = append(e.Shifts, &commonsv1.EmployeeShift{Day: day})
			last.id, last.day, last.shift = id, day, shift
		}
		s := e.Shifts[len(e.Shifts)-1]
		s.Segments = append(s.Segments, segment)
	}
	return rows.Err()
}

func scanEdits(rows pgx.Rows, of func(int64) *commonsv1.EmployeeDays) error {
	for rows.Next() {
		var id int64
		var amount []byte
		edit := &commonsv1.EmployeePayCodeEdit{Amount: &schedulingv1.PayCodeAmount{}}
		if err := rows.Scan(&id, (*civil.Date)(&edit.Day), &amount); err != nil {
			return err
		}
		if err := proto.Unmarshal(amount, edit.GetAmount()); err != nil {
			return err
		}
		e := of(id)
		e.PayCodeEdits = append(e.PayCodeEdits, edit)
	}
	return rows.Err()
}
