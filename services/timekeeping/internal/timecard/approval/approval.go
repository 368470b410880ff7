// Package approval keeps the approvals of timecard days by employees and managers, and locks
// timecards for changes that keep or remove approvals.
package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// The roles of approvers.
const (
	byEmployee = "EMPLOYEE"
	byManager  = "MANAGER"
)

const (
	deleteApprovals = `
DELETE FROM timecard_approval WHERE tenant_id = $1 AND employee_id = $2 AND approver = $3 AND from_day < $5 AND to_day >= $4`

	insertApproval = `
INSERT INTO timecard_approval (tenant_id, employee_id, approver, from_day, to_day, approved_by) VALUES ($1, $2, $3, $4, $5, $6)`

	readApprovals = `
SELECT from_day, to_day, approver, approved_by, created_at FROM timecard_approval
WHERE tenant_id = $1 AND employee_id = $2 AND from_day < $4 AND to_day >= $3 ORDER BY from_day, approver`

	// An approval applies to the days as they were, so a change removes it.
	dropApprovals = `
DELETE FROM timecard_approval a USING unnest($2::bigint[], $3::date[], $4::date[]) AS t (employee_id, from_day, to_day)
WHERE a.tenant_id = $1 AND a.employee_id = t.employee_id AND a.from_day < t.to_day AND a.to_day >= t.from_day`
)

// Handler serves TimecardApprovalService.
type Handler struct {
	timekeepingv1.UnsafeTimecardApprovalServiceServer
	pool      *pg.Pool
	timecards *calculation.Reader
	finder    *requested.Finder
	zones     civil.Zones
}

var _ timekeepingv1.TimecardApprovalServiceServer = (*Handler)(nil)

// New returns a Handler of the approvals in the database of the pool.
func New(pool *pg.Pool, timecards *calculation.Reader, finder *requested.Finder) *Handler {
	return &Handler{pool: pool, timecards: timecards, finder: finder}
}

// ApproveTimecard approves days of another employee's timecard.
func (h *Handler) ApproveTimecard(ctx context.Context, req *timekeepingv1.TimecardApprovalRequest) (*emptypb.Empty, error) {
	return done(ctx, req, h.ofOther, h.approve)
}

// ApproveEmployeeTimecard approves days of the caller's timecard.
func (h *Handler) ApproveEmployeeTimecard(ctx context.Context, req *timekeepingv1.EmployeeTimecardApprovalRequest) (*emptypb.Empty, error) {
	return done(ctx, req, h.ofSelf, h.approve)
}

// RemoveTimecardApproval removes approvals by managers.
func (h *Handler) RemoveTimecardApproval(ctx context.Context, req *timekeepingv1.TimecardApprovalRequest) (*emptypb.Empty, error) {
	return done(ctx, req, h.ofOther, h.remove)
}

// RemoveEmployeeTimecardApproval removes approvals by the caller.
func (h *Handler) RemoveEmployeeTimecardApproval(ctx context.Context, req *timekeepingv1.EmployeeTimecardApprovalRequest) (*emptypb.Empty, error) {
	return done(ctx, req, h.ofSelf, h.remove)
}

// ListTimecardApprovals returns the approvals of an employee's days.
func (h *Handler) ListTimecardApprovals(ctx context.Context, req *timekeepingv1.ListTimecardApprovalsRequest) (*timekeepingv1.TimecardApprovalList, error) {
	days, err := h.finder.Days(ctx, requested.InQuery(req))
	if err != nil {
		return nil, err
	}
	who, err := h.finder.EmployeeOn(ctx, &commonv1.Ref{Id: req.EmployeeId, Qualifier: req.PersonNumber}, days)
	if err != nil {
		return nil, err
	}
	return h.list(ctx, subject{who: who, days: days})
}

// ListEmployeeTimecardApprovals returns the approvals of the caller's days.
func (h *Handler) ListEmployeeTimecardApprovals(ctx context.Context, req *timekeepingv1.EmployeeTimecardApprovalRequest) (*timekeepingv1.TimecardApprovalList, error) {
	s, err := h.ofSelf(ctx, req)
	if err != nil {
		return nil, err
	}
	return h.list(ctx, s)
}

// subject is the target of an approval: the approver's role, the days, and the employee.
type subject struct {
	who      person.Person
	approver string
	days     civil.Range
}

// done finds the target of a request, and changes its approvals.
func done[R any](ctx context.Context, req R, find func(context.Context, R) (subject, error), change func(context.Context, subject) error) (*emptypb.Empty, error) {
	s, err := find(ctx, req)
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, change(ctx, s)
}

// ofSelf returns a target in which the caller approves as an employee.
func (h *Handler) ofSelf(ctx context.Context, req *timekeepingv1.EmployeeTimecardApprovalRequest) (subject, error) {
	who, err := h.finder.Self(ctx)
	if err != nil {
		return subject{}, err
	}
	days, err := h.finder.Days(ctx, requested.InQuery(req).Own())
	return subject{who, byEmployee, days}, err
}

// ofOther returns a target in which a manager approves days of an employee.
func (h *Handler) ofOther(ctx context.Context, req *timekeepingv1.TimecardApprovalRequest) (subject, error) {
	ref, dates, err := approvalSubject(req)
	if err != nil {
		return subject{}, err
	}
	days, err := h.finder.Days(ctx, dates)
	if err != nil {
		return subject{}, err
	}
	who, err := h.finder.EmployeeOn(ctx, ref, days)
	return subject{who, byManager, days}, err
}

// approvalSubject returns the employee and the days of a request. The employee is the body itself or a
// property of it. The days are in the body or in the query.
func approvalSubject(req *timekeepingv1.TimecardApprovalRequest) (*commonv1.Ref, requested.Dates, error) {
	body, dates := req.GetEmployee(), requested.InQuery(req)
	ref := body.GetEmployee()
	switch named := body != nil && (body.Id != nil || body.Qualifier != nil); {
	case named && ref != nil:
		return nil, dates, timecardfault.Invalid("the body must be an employee, or have one in employee, not both")
	case named:
		ref = &commonv1.Ref{Id: body.Id, Qualifier: body.Qualifier}
	}
	if body.GetDateRange() != nil {
		if !dates.None() {
			return nil, dates, timecardfault.Invalid("the days must be in dateRange or in the query, not both")
		}
		dates = requested.InRange("dateRange", body.GetDateRange())
	}
	return ref, dates, nil
}

func (h *Handler) approve(ctx context.Context, s subject) error {
	if err := h.timecards.Over(ctx, s.who, s.days); err != nil {
		return err
	}
	by := ""
	if principal, ok := authn.From(ctx); ok {
		by = principal.Subject
	}
	return InLock(ctx, h.pool, []int64{s.who.ID}, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, deleteApprovals, tenant.Of(ctx), s.who.ID, s.approver, s.days.From, s.days.To); err != nil {
			return fmt.Errorf("replace approvals: %w", err)
		}
		if _, err := tx.Exec(ctx, insertApproval, tenant.Of(ctx), s.who.ID, s.approver, s.days.From, s.days.To-1, by); err != nil {
			return fmt.Errorf("store an approval: %w", err)
		}
		return nil
	})
}

func (h *Handler) remove(ctx context.Context, s subject) error {
	return InLock(ctx, h.pool, []int64{s.who.ID}, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, deleteApprovals, tenant.Of(ctx), s.who.ID, s.approver, s.days.From, s.days.To)
		if err != nil {
			return fmt.Errorf("remove approvals: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return fault.Invalid(timecardfault.CodeNotApproved, fmt.Sprintf("No day from %s to %s is approved.", s.days.From, s.days.To-1))
		}
		return nil
	})
}

func (h *Handler) list(ctx context.Context, s subject) (*timekeepingv1.TimecardApprovalList, error) {
	clocks, err := s.who.Clocks(&h.zones)
	if err != nil {
		return nil, err
	}
	rows, err := h.pool.Query(ctx, readApprovals, tenant.Of(ctx), s.who.ID, s.days.From, s.days.To)
	if err != nil {
		return nil, fmt.Errorf("read approvals: %w", err)
	}
	out := &timekeepingv1.TimecardApprovalList{}
	var first, last civil.Date
	var approver, by string
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&first, &last, &approver, &by, &at}, func() error {
		out.Approvals = append(out.Approvals, &timekeepingv1.TimecardApproval{
			Employee: &commonv1.Ref{Id: &s.who.ID, Qualifier: &s.who.Number}, StartDate: first.String(), EndDate: last.String(),
			Approver: approver, ApprovedBy: by, ApprovedOnDateTime: clocks.At(at).String(),
		})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read approvals: %w", err)
	}
	return out, nil
}

// Drop deletes the approvals of changed days. A change can also affect a shift of the day before.
func Drop(ctx context.Context, tx pgx.Tx, changed map[int64]map[civil.Date]bool) error {
	var ids []int64
	var from, to []civil.Date
	for id, days := range changed {
		for day := range days {
			ids, from, to = append(ids, id), append(from, day-1), append(to, day+1)
		}
	}
	if _, err := tx.Exec(ctx, dropApprovals, tenant.Of(ctx), ids, from, to); err != nil {
		return fmt.Errorf("delete approvals: %w", err)
	}
	return nil
}
