package leaveedit

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
)

// Ways to select edits.
const (
	byCaseDates      = "BY_START_AND_END_DATES"
	byRetrievalDates = "BY_RETRIEVAL_DATES"
	byEditDates      = "BY_LEAVE_EDIT_DATES"
	byAllOfCase      = "BY_LEAVE_CASE_DATES"
)

// MultiDeleteLeaveEdits deletes edits of one case: by ids, on given dates, or from a date on.
func (h *Handler) MultiDeleteLeaveEdits(ctx context.Context, req *timekeepingv1.MultiDeleteLeaveEditsRequest) (*emptypb.Empty, error) {
	if req.GetLeaveCase() == nil {
		return nil, fault.Invalid(leavecase.CodeCaseMissing, "leaveCase is missing.")
	}
	if err := fault.OneOf(CodeEditsEmpty, fault.CodeInput, "The request", "leaveEditIds, dates and startDate",
		len(req.GetLeaveEditIds()) > 0, len(req.GetDates()) > 0, req.GetStartDate() != ""); err != nil {
		return nil, err
	}
	return h.delete(ctx, req.GetLeaveCase(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) ([]int64, error) {
		if ids := req.GetLeaveEditIds(); len(ids) > 0 {
			_, err := h.findInCase(ctx, tx, c, ids)
			return ids, err
		}
		return findOnDates(ctx, tx, c, req)
	})
}

// findOnDates returns the edits of a case on the dates of a request, or from its date on.
func findOnDates(ctx context.Context, tx pgx.Tx, c *leavecase.Case, req *timekeepingv1.MultiDeleteLeaveEditsRequest) ([]int64, error) {
	var dates []civil.Date
	for _, text := range req.GetDates() {
		day, err := civil.ParseDate(text)
		if err != nil {
			return nil, fault.Invalid(fault.CodeDate, "dates: "+err.Error()+".")
		}
		dates = append(dates, day)
	}
	from := civil.Forever
	if req.GetStartDate() != "" {
		var err error
		if from, err = civil.ParseDate(req.GetStartDate()); err != nil {
			return nil, fault.Invalid(fault.CodeDate, "startDate: "+err.Error()+".")
		}
	}
	rows, err := tx.Query(ctx, `SELECT id FROM leave_edit
		WHERE tenant_id = $1 AND leave_case_id = $2 AND (from_day = ANY($3) OR from_day >= $4) ORDER BY id`,
		tenant.Of(ctx), c.ID, dates, from)
	if err != nil {
		return nil, fmt.Errorf("find leave edits: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("find leave edits: %w", err)
	}
	return ids, nil
}

// MultiReadLeaveEdits returns the edits of employees with totals.
func (h *Handler) MultiReadLeaveEdits(ctx context.Context, req *timekeepingv1.MultiReadLeaveEditsRequest) (*timekeepingv1.LeaveEditsRead, error) {
	if err := checkEnum("leaveCaseSearchType", req.GetLeaveCaseSearchType(), byCaseDates, byRetrievalDates); err != nil {
		return nil, err
	}
	if err := checkEnum("leaveEditSearchTypeEnum", req.GetLeaveEditSearchTypeEnum(), byEditDates, byAllOfCase); err != nil {
		return nil, err
	}
	employees, unknown, err := leavecase.Employees(ctx, h.persons, req.GetEmployees())
	if err != nil {
		return nil, err
	}
	days, err := h.periods.Days(ctx, "Leave Edits", len(employees), req.GetDateRange())
	if err != nil {
		return nil, err
	}
	var rows []row
	var cases map[int64]*leavecase.Case
	var deductions map[int64][]Deduction
	var beside map[employeeDay][]row
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if rows, err = search(ctx, tx, req, employees, days); err == nil {
			cases, err = leavecase.ByIDs(ctx, tx, caseIDs(rows))
		}
		if err == nil {
			deductions, err = Deductions(ctx, tx, caseIDs(rows))
		}
		if err == nil {
			beside, err = untimedOn(ctx, tx, untimedDays(rows))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	work, err := h.workOn(ctx, untimedDays(rows))
	if err != nil {
		return nil, err
	}
	if err := h.setTimes(rows, beside, work, zoneOfCase(cases)); err != nil {
		return nil, err
	}
	list, failure, err := rpc.PartialList(ctx, []*timekeepingv1.LeaveEditsRead{read(rows, cases, deductions)}, unknown)
	if failure != nil || err != nil {
		return &timekeepingv1.LeaveEditsRead{Failure: failure}, err
	}
	return list[0], nil
}

// search returns the edits that match a request. Every edit lies within its case, so an edit in the
// range always belongs to a case that overlaps the range.
func search(ctx context.Context, db pg.Querier, req *timekeepingv1.MultiReadLeaveEditsRequest, employees []int64, days civil.Range) ([]row, error) {
	all := req.GetLeaveEditSearchTypeEnum() == byAllOfCase
	var rows []row
	var err error
	if !all || req.GetLeaveCaseSearchType() == byRetrievalDates {
		if rows, err = ofEmployees(ctx, db, employees, days, leavecase.MaxRead+1); err != nil {
			return nil, err
		}
	}
	if all {
		ids := caseIDs(rows)
		if req.GetLeaveCaseSearchType() != byRetrievalDates {
			cases, err := leavecase.OfEmployees(ctx, db, employees, days, leavecase.MaxRead+1)
			if err != nil {
				return nil, err
			}
			for _, c := range cases {
				ids = append(ids, c.ID)
			}
		}
		if rows, err = ofCases(ctx, db, ids, leavecase.MaxRead+1); err != nil {
			return nil, err
		}
	}
	return rows, checkCount(rows)
}

var errTooMany = fault.New(fault.CodeItemLimit, http.StatusRequestEntityTooLarge,
	fmt.Sprintf("There are more than %d leave edits. Ask for fewer employees or days.", leavecase.MaxRead))

func checkCount(rows []row) error {
	if len(rows) <= leavecase.MaxRead {
		return nil
	}
	return errTooMany
}

func checkEnum(name, value string, allowed ...string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return fault.Invalid(fault.CodeValue, suggest.NotOneOf(name, value, allowed...))
}

func caseIDs(rows []row) []int64 {
	ids := make([]int64, len(rows))
	for i, r := range rows {
		ids[i] = r.caseID
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// read builds a response. The totals of cases are in the order of the edits.
func read(rows []row, cases map[int64]*leavecase.Case, deductions map[int64][]Deduction) *timekeepingv1.LeaveEditsRead {
	out := &timekeepingv1.LeaveEditsRead{
		Totals:          noTotals(),
		LeaveCaseTotals: &timekeepingv1.LeaveCaseTotalsList{},
		LeaveEdits:      &timekeepingv1.LeaveEditList{},
		Metadata:        &timekeepingv1.LeaveEditsMetadata{PaidLabel: "Paid", TrackingLabel: "Tracking"},
	}
	byCase := map[int64]*timekeepingv1.LeaveTotals{}
	taken, all := map[int64][]Deduction{}, []Deduction{}
	for _, r := range rows {
		c := cases[r.caseID]
		totals := byCase[c.ID]
		if totals == nil {
			totals = noTotals()
			byCase[c.ID] = totals
			out.LeaveCaseTotals.LeaveCaseTotals = append(out.LeaveCaseTotals.LeaveCaseTotals,
				&timekeepingv1.LeaveCaseTotals{LeaveCase: c.Ref(), Totals: totals})
		}
		count(totals, r, c)
		count(out.Totals, r, c)
		edit := r.toProto(c)
		edit.Takings = deductionsToProto(deductions[r.id])
		taken[c.ID], all = append(taken[c.ID], deductions[r.id]...), append(all, deductions[r.id]...)
		out.LeaveEdits.LeaveEdits = append(out.LeaveEdits.LeaveEdits, edit)
	}
	for id, totals := range byCase {
		addDeductions(totals, taken[id])
	}
	addDeductions(out.Totals, all)
	return out
}

func noTotals() *timekeepingv1.LeaveTotals {
	zero := func() *int64 { return proto.Int64(0) }
	return &timekeepingv1.LeaveTotals{
		PaidEdits: zero(), PaidContinuousEdits: zero(), PaidIntermittentEdits: zero(),
		TrackingEdits: zero(), TrackingContinuousEdits: zero(), TrackingIntermittentEdits: zero(),
	}
}

func addDeductions(t *timekeepingv1.LeaveTotals, deductions []Deduction) {
	paid, tracking, totals := Sum(deductions)
	t.PaidTakings, t.TrackingTakings, t.LeaveTypeTotals = &paid, &tracking, &timekeepingv1.LeaveTypeTotals{Items: totals}
}

// count adds an edit's amounts to totals.
func count(t *timekeepingv1.LeaveTotals, r row, c *leavecase.Case) {
	paid, tracked := r.body.GetPaidSegment().GetAmountInSeconds(), r.body.GetTrackingSegment().GetAmountInSeconds()
	*t.PaidEdits += paid
	*t.TrackingEdits += tracked
	switch c.FrequencyID() {
	case leavesetup.FrequencyContinuous:
		*t.PaidContinuousEdits += paid
		*t.TrackingContinuousEdits += tracked
	case leavesetup.FrequencyIntermittent:
		*t.PaidIntermittentEdits += paid
		*t.TrackingIntermittentEdits += tracked
	}
}
