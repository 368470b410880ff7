package leavecasepolicy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Grants serves LeaveGrantService.
type Grants struct {
	timekeepingv1.UnsafeLeaveGrantServiceServer
	pool    *pg.Pool
	persons *person.Directory
}

// NewGrants returns the grants of cases in the database of the pool.
func NewGrants(pool *pg.Pool, persons *person.Directory) *Grants {
	return &Grants{pool: pool, persons: persons}
}

// GrantLeave grants a case an amount of a leave type.
func (h *Grants) GrantLeave(ctx context.Context, req *timekeepingv1.LeaveGrant) (*emptypb.Empty, error) {
	switch {
	case req.GetLeaveType() == nil:
		return nil, fault.Invalid(leavepolicy.CodeMissing, "leaveType is missing.")
	case req.Amount == nil:
		return nil, fault.Invalid(leavecase.CodeGrantMissing, "amount is missing: the days that are granted.")
	}
	by := ""
	if p, ok := authn.From(ctx); ok {
		by = p.Subject
	}
	err := changeCase(ctx, h.pool, h.persons, req.GetLeaveCase(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		if err := c.CheckOpen(); err != nil {
			return err
		}
		t, err := leavepolicy.TypeOfCase(ctx, tx, c.EmployeeID, c.Body().GetCategory().GetId(), req.GetLeaveType())
		if errors.Is(err, leavepolicy.ErrClosed) {
			return fault.Invalid(CodeNotInProfile, "The leave type is not enabled, or not one of the category in the leave profile of the employee.")
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO leave_grant (tenant_id, leave_case_id, leave_type_id, amount, granted_by) VALUES ($1, $2, $3, $4::float8::numeric, $5)
			ON CONFLICT (tenant_id, leave_case_id, leave_type_id)
			DO UPDATE SET amount = excluded.amount, granted_by = excluded.granted_by, granted_at = now()`,
			tenant.Of(ctx), c.ID, t.GetId(), req.GetAmount(), by)
		if err != nil {
			return fmt.Errorf("store a grant of leave: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// GetLeaveGrantData returns the leave types that a case may be granted, and its grants.
func (h *Grants) GetLeaveGrantData(ctx context.Context, req *timekeepingv1.GetLeaveGrantDataRequest) (*timekeepingv1.LeaveGrantData, error) {
	out := &timekeepingv1.LeaveGrantData{}
	err := inCase(ctx, h.pool, h.persons, req.LeaveCaseId, req.GetCode(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		out.LeaveCase, out.LeaveTypes = c.Ref(), nil
		_, _, totals, err := sumDeductions(ctx, tx, c)
		if err != nil {
			return err
		}
		byType := map[int64]int64{}
		for _, t := range totals {
			byType[t.GetLeaveType().GetId()] = t.GetAmountInSeconds()
		}
		granted, err := readGrants(ctx, tx, c)
		if err != nil {
			return err
		}
		types, err := leavepolicy.Types().All(ctx, tx)
		if err != nil {
			return err
		}
		_, category, err := leavepolicy.Of(ctx, tx, c.EmployeeID, c.Body().GetCategory().GetId())
		if err != nil {
			return err
		}
		for _, t := range types {
			item := granted[t.GetId()]
			if item == nil {
				if !isOpen(t, category) {
					continue
				}
				item = &timekeepingv1.GrantedLeaveType{}
			}
			item.LeaveType = &commonv1.Ref{Id: t.Id, Qualifier: proto.String(t.GetName()), Name: proto.String(t.GetName())}
			item.TakenInSeconds = proto.Int64(byType[t.GetId()])
			if item.Amount != nil {
				left := max(0, int64(math.Round(item.GetAmount()*leaveedit.GrantDay))-item.GetTakenInSeconds())
				item.LeftInSeconds = &left
			}
			out.LeaveTypes = append(out.LeaveTypes, item)
		}
		slices.SortFunc(out.LeaveTypes, func(a, b *timekeepingv1.GrantedLeaveType) int {
			return strings.Compare(a.GetLeaveType().GetQualifier(), b.GetLeaveType().GetQualifier())
		})
		return nil
	})
	return out, err
}

// isOpen reports whether a case may be granted a leave type; category is the category of the case
// in the leave profile, or nil.
func isOpen(t *timekeepingv1.LeaveType, category *timekeepingv1.LeaveProfileCategory) bool {
	types := category.GetLeaveProfileCategoryType()
	return t.GetEnabled() && (len(types) == 0 || slices.ContainsFunc(types, func(ref *commonv1.Ref) bool { return ref.GetId() == t.GetId() }))
}

func readGrants(ctx context.Context, db pg.Querier, c *leavecase.Case) (map[int64]*timekeepingv1.GrantedLeaveType, error) {
	rows, err := db.Query(ctx, `SELECT leave_type_id, amount::float8, granted_by, granted_at FROM leave_grant
		WHERE tenant_id = $1 AND leave_case_id = $2`, tenant.Of(ctx), c.ID)
	if err != nil {
		return nil, err
	}
	out := map[int64]*timekeepingv1.GrantedLeaveType{}
	var id int64
	var amount float64
	var by string
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&id, &amount, &by, &at}, func() error {
		out[id] = &timekeepingv1.GrantedLeaveType{Amount: proto.Float64(amount), GrantedBy: by, GrantedOn: at.UTC().Format("2006-01-02T15:04:05.000")}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read grants of leave: %w", err)
	}
	return out, nil
}

// GetLeaveTotalTaking returns the total deductions of a case.
func (h *Grants) GetLeaveTotalTaking(ctx context.Context, req *timekeepingv1.GetLeaveTotalTakingRequest) (*timekeepingv1.LeaveTotalTaking, error) {
	out := &timekeepingv1.LeaveTotalTaking{}
	err := inCase(ctx, h.pool, h.persons, req.LeaveCaseId, req.GetCode(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		paid, tracking, totals, err := sumDeductions(ctx, tx, c)
		out.LeaveCase, out.PaidTakings, out.TrackingTakings, out.LeaveTypeTotals = c.Ref(), &paid, &tracking, totals
		return err
	})
	return out, err
}

func sumDeductions(ctx context.Context, db pg.Querier, c *leavecase.Case) (paid, tracking int64, totals []*timekeepingv1.LeaveTypeTotal, err error) {
	deductions, err := leaveedit.Deductions(ctx, db, []int64{c.ID})
	if err != nil {
		return 0, 0, nil, err
	}
	var all []leaveedit.Deduction
	for _, list := range deductions {
		all = append(all, list...)
	}
	paid, tracking, totals = leaveedit.Sum(all)
	return paid, tracking, totals, nil
}
