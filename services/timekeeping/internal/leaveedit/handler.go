package leaveedit

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
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leaveday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Handler serves LeaveEditService. The interceptors before it ensure that the context has a tenant.
type Handler struct {
	timekeepingv1.UnsafeLeaveEditServiceServer
	pool    *pg.Pool
	persons *person.Directory
	days    schedulingv1.EmployeeDayServiceClient
	room    *leaveday.Reader
	zones   civil.Zones
	periods leavecase.Ranges
	report  *Reporter
}

// New returns a Handler. days reads the shifts of employees, room calculates how much leave their
// days can have, and the reporter sends leave to scheduling.
func New(pool *pg.Pool, persons *person.Directory, days schedulingv1.EmployeeDayServiceClient, room *leaveday.Reader, periods leavecase.Ranges, report *Reporter) *Handler {
	return &Handler{pool: pool, persons: persons, days: days, room: room, periods: periods, report: report}
}

// CreateLeaveEdits stores either all edits of a case or none.
func (h *Handler) CreateLeaveEdits(ctx context.Context, req *timekeepingv1.CreateLeaveEditsRequest) (*timekeepingv1.LeaveEditList, error) {
	if req.GetLeaveCase() == nil {
		return nil, fault.Invalid(leavecase.CodeCaseMissing, "leaveCase is missing.")
	}
	if len(req.GetLeaveEdits()) == 0 {
		return nil, fault.Invalid(CodeEditsEmpty, "leaveEdits is empty.")
	}
	var clock *civil.TimeOfDay
	if req.GetStartTime() != "" {
		at, err := civil.ParseTimeOfDay(req.GetStartTime())
		if err != nil {
			return nil, fault.Invalid(fault.CodeTime, "startTime: "+err.Error()+".")
		}
		clock = &at
	}
	return h.store(ctx, req.GetLeaveCase(), req.GetLeaveEdits(), clock)
}

// store writes new and changed edits of a case.
func (h *Handler) store(ctx context.Context, ref *commonv1.Ref, edits []*timekeepingv1.LeaveEdit, clock *civil.TimeOfDay) (*timekeepingv1.LeaveEditList, error) {
	plan, err := h.planEdits(ctx, ref, edits)
	if err != nil {
		return nil, err
	}
	days, err := h.readRoom(ctx, plan, clock)
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.LeaveEditList{}
	err = h.inCase(ctx, ref, func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		rows, err := h.rows(ctx, tx, c, plan.edits, clock)
		if err != nil {
			return err
		}
		resolve(rows, plan.work)
		if err := checkRoom(ctx, tx, days, rows); err != nil {
			return err
		}
		if err := storeRows(ctx, tx, c, rows); err != nil {
			return err
		}
		beside, err := untimedOn(ctx, tx, untimedDays(rows))
		if err != nil {
			return err
		}
		if err := h.setTimes(rows, beside, plan.work, func(row) string { return c.TimeZone() }); err != nil {
			return err
		}
		out.LeaveEdits = make([]*timekeepingv1.LeaveEdit, len(rows))
		for i, r := range rows {
			out.LeaveEdits[i] = r.toProto(c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// inCase runs a change of the edits of a case. The case must be open.
func (h *Handler) inCase(ctx context.Context, ref *commonv1.Ref, change func(context.Context, pgx.Tx, *leavecase.Case) error) error {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return err
	}
	var employeeID int64
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := leavecase.Find(ctx, tx, visible, []*commonv1.Ref{ref}, true)
		if err != nil {
			return err
		}
		if err := found[0].CheckOpen(); err != nil {
			return err
		}
		employeeID = found[0].EmployeeID
		return change(ctx, tx, found[0])
	})
	if err != nil {
		return err
	}
	return h.report.Report(ctx, employeeID)
}

// rows validates edits of a case, which the caller has locked, and converts them to rows.
func (h *Handler) rows(ctx context.Context, tx pgx.Tx, c *leavecase.Case, edits []*timekeepingv1.LeaveEdit, clock *civil.TimeOfDay) ([]row, error) {
	zone, err := h.zones.Get(c.TimeZone())
	if err != nil {
		return nil, err
	}
	drafts := make([]*draft, len(edits))
	var changed []int64
	fresh := 0
	for i, edit := range edits {
		if drafts[i], err = newDraft(edit, clock, c, zone); err != nil {
			return nil, err
		}
		if edit.Id != nil {
			changed = append(changed, edit.GetId())
		} else {
			fresh++
		}
	}
	if _, err := h.findInCase(ctx, tx, c, changed); err != nil {
		return nil, err
	}
	if err := checkMaxEdits(ctx, tx, c, fresh); err != nil {
		return nil, err
	}
	if err := number(ctx, tx, drafts); err != nil {
		return nil, err
	}
	rows := make([]row, len(drafts))
	for i, d := range drafts {
		rows[i] = row{id: d.id, caseID: c.ID, employeeID: c.EmployeeID, first: d.first, last: d.last, body: d.body}
	}
	return rows, nil
}

// findInCase returns the edits with the ids. They must belong to the case, without duplicates.
func (h *Handler) findInCase(ctx context.Context, db pg.Querier, c *leavecase.Case, ids []int64) (map[int64]row, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := byIDs(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	seen := make(map[int64]bool, len(ids))
	for _, id := range ids {
		r, ok := found[id]
		switch {
		case !ok:
			return nil, newUnknownError(id)
		case r.employeeID != c.EmployeeID: // The caller may not see this employee.
			return nil, newUnknownError(id)
		case r.caseID != c.ID:
			return nil, fault.Invalid(CodeOtherCase, fmt.Sprintf("Leave edit %d does not belong to leave case %s.", id, c.Code()))
		case seen[id]:
			return nil, fault.Invalid(fault.CodeInput, fmt.Sprintf("Leave edit %d is named twice.", id))
		}
		seen[id] = true
	}
	return found, nil
}

// checkMaxEdits returns an error if a case would have too many edits.
func checkMaxEdits(ctx context.Context, tx pgx.Tx, c *leavecase.Case, fresh int) error {
	if fresh == 0 {
		return nil
	}
	var have int
	err := tx.QueryRow(ctx, `SELECT count(*) FROM leave_edit WHERE tenant_id = $1 AND leave_case_id = $2`, tenant.Of(ctx), c.ID).Scan(&have)
	if err != nil {
		return fmt.Errorf("count leave edits: %w", err)
	}
	if have+fresh > MaxOfCase {
		return tooMuch("A leave case has at most %d leave edits.", MaxOfCase)
	}
	return nil
}

func newUnknownError(id int64) *fault.Error {
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no leave edit with the id %d.", id))
}

// find returns the edit with the id in the path, and its case.
func (h *Handler) find(ctx context.Context, id int64) (row, *leavecase.Case, error) {
	visible, err := h.persons.Visible(ctx)
	if err != nil {
		return row{}, nil, err
	}
	var found map[int64]row
	var cases map[int64]*leavecase.Case
	err = pg.InSnapshot(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if found, err = byIDs(ctx, tx, []int64{id}); err == nil && len(found) > 0 {
			cases, err = leavecase.ByIDs(ctx, tx, []int64{found[id].caseID})
		}
		return err
	})
	if err != nil {
		return row{}, nil, err
	}
	r, ok := found[id]
	if ok && !visible.Has(r.employeeID) {
		authn.NoteNotVisible(ctx)
		ok = false
	}
	if !ok {
		return row{}, nil, fault.NotFound(CodeUnknown, newUnknownError(id).Message)
	}
	if refused := visible.RefuseOwn(r.employeeID); refused != nil {
		return row{}, nil, refused
	}
	return r, cases[r.caseID], nil
}

// GetLeaveEdit returns the edit with the id in the path.
func (h *Handler) GetLeaveEdit(ctx context.Context, req *timekeepingv1.GetLeaveEditRequest) (*timekeepingv1.LeaveEdit, error) {
	r, c, err := h.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	rows := []row{r}
	beside, err := untimedOn(ctx, h.pool, untimedDays(rows))
	if err != nil {
		return nil, err
	}
	work, err := h.workOn(ctx, untimedDays(rows))
	if err != nil {
		return nil, err
	}
	if err := h.setTimes(rows, beside, work, func(row) string { return c.TimeZone() }); err != nil {
		return nil, err
	}
	deductions, err := Deductions(ctx, h.pool, []int64{c.ID})
	if err != nil {
		return nil, err
	}
	edit := r.toProto(c)
	edit.Takings = deductionsToProto(deductions[r.id])
	return edit, nil
}

// UpdateLeaveEdit replaces the edit with the id in the path.
func (h *Handler) UpdateLeaveEdit(ctx context.Context, req *timekeepingv1.UpdateLeaveEditRequest) (*timekeepingv1.LeaveEdit, error) {
	_, c, err := h.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	edit := req.GetLeaveEdit()
	if edit == nil {
		edit = &timekeepingv1.LeaveEdit{}
	}
	if edit.Id != nil && edit.GetId() != req.GetId() {
		return nil, fault.Invalid(fault.CodeInput, "The id in the body differs from the id in the path.")
	}
	edit.Id = &req.Id
	stored, err := h.store(ctx, c.Ref(), []*timekeepingv1.LeaveEdit{edit}, nil)
	if err != nil {
		return nil, err
	}
	return stored.GetLeaveEdits()[0], nil
}

// DeleteLeaveEdit deletes the edit with the id in the path.
func (h *Handler) DeleteLeaveEdit(ctx context.Context, req *timekeepingv1.DeleteLeaveEditRequest) (*emptypb.Empty, error) {
	_, c, err := h.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return h.delete(ctx, c.Ref(), func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) ([]int64, error) {
		_, err := h.findInCase(ctx, tx, c, []int64{req.GetId()})
		return []int64{req.GetId()}, err
	})
}

// delete deletes the edits of a case that choose returns.
func (h *Handler) delete(ctx context.Context, ref *commonv1.Ref, choose func(context.Context, pgx.Tx, *leavecase.Case) ([]int64, error)) (*emptypb.Empty, error) {
	err := h.inCase(ctx, ref, func(ctx context.Context, tx pgx.Tx, c *leavecase.Case) error {
		ids, err := choose(ctx, tx, c)
		if err != nil {
			return err
		}
		return remove(ctx, tx, c, ids)
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func isContinuous(c *leavecase.Case) bool { return c.FrequencyID() == leavesetup.FrequencyContinuous }
