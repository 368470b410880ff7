package scheduleitem

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/daylock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// maxEdited limits the entries that one request creates, changes and deletes.
var editedLimit = policy.FindLimit[*schedulingv1.ScheduleEdit]("entries")

// ScheduleEdits serves ScheduleEditService.
type ScheduleEdits struct {
	schedulingv1.UnsafeScheduleEditServiceServer

	Deps
	shifts *itemchange.Editor[*schedulingv1.Shift]
	edits  *itemchange.Editor[*schedulingv1.PayCodeEdit]
	tags   *itemchange.Editor[*schedulingv1.ScheduleTag]
}

var _ schedulingv1.ScheduleEditServiceServer = (*ScheduleEdits)(nil)

// NewScheduleEdits returns the handler of ScheduleEditService.
func NewScheduleEdits(deps Deps) *ScheduleEdits {
	return &ScheduleEdits{Deps: deps, shifts: NewShifts(deps).shifts, edits: NewPayCodeEdits(deps).edits, tags: NewScheduleTags(deps).tags}
}

// EditSchedule applies one edit, all of it or nothing.
func (h *ScheduleEdits) EditSchedule(ctx context.Context, req *schedulingv1.ScheduleEdit) (*schedulingv1.ScheduleEditResultList, error) {
	return h.edit(ctx, []*schedulingv1.ScheduleEdit{req}, false)
}

// MultiUpdateSchedule applies several edits: all or none or, with partial success, each one
// entirely or not at all.
func (h *ScheduleEdits) MultiUpdateSchedule(ctx context.Context, req *schedulingv1.MultiUpdateScheduleRequest) (*schedulingv1.ScheduleEditResultList, error) {
	if len(req.GetBody().GetEdits()) == 0 {
		return nil, fault.Invalid(itemfault.CodeMissing, "The request has no edits. Send at least one.")
	}
	return h.edit(ctx, req.GetBody().GetEdits(), req.GetPartialSuccess())
}

func (h *ScheduleEdits) edit(ctx context.Context, list []*schedulingv1.ScheduleEdit, partial bool) (*schedulingv1.ScheduleEditResultList, error) {
	entries := 0
	for i, e := range list {
		itemdraft.ResolveEmployeeIDs(e.GetShifts().GetCreate()...)
		itemdraft.ResolveEmployeeIDs(e.GetShifts().GetUpdate()...)
		n := itemchange.Count(e.GetShifts()) + itemchange.Count(e.GetPayCodeEdits()) + itemchange.Count(e.GetScheduleTags()) + itemchange.Count(e.GetDayLocks())
		if n == 0 {
			return nil, fault.Invalid(itemfault.CodeMissing, fmt.Sprintf(
				"The edit [%d] changes nothing. Give it shifts, payCodeEdits, scheduleTags or dayLocks with create, update or delete.", i))
		}
		entries += n
	}
	if err := editedLimit.Check(entries); err != nil {
		return nil, err
	}
	// Usually all edits are valid, and are applied in one transaction. Otherwise each one is tried
	// separately.
	results, err := h.apply(ctx, list)
	switch {
	case err == nil:
		return &schedulingv1.ScheduleEditResultList{Results: results}, nil
	case !partial || !itemchange.ConcernsItem(err):
		return nil, err
	}
	outcome, err := bulk.Run(list, true, func(_ int, e *schedulingv1.ScheduleEdit) (*schedulingv1.ScheduleEditResult, error) {
		results, err := h.apply(ctx, []*schedulingv1.ScheduleEdit{e})
		if err != nil {
			return nil, err
		}
		return results[0], nil
	})
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, outcome)
	return &schedulingv1.ScheduleEditResultList{Results: done, Failure: failure}, err
}

// apply applies edits in one transaction.
func (h *ScheduleEdits) apply(ctx context.Context, list []*schedulingv1.ScheduleEdit) ([]*schedulingv1.ScheduleEditResult, error) {
	visible, err := h.shifts.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	todo := h.collect(list)
	for _, part := range todo.batches() {
		if err := part.Prepare(ctx, visible); err != nil {
			return nil, err
		}
	}
	if err := todo.locks.prepare(ctx, visible); err != nil {
		return nil, err
	}
	check, err := todo.shifts.Check(ctx)
	if err != nil {
		return nil, err
	}
	var propagationID int64
	var warnings itemchange.Warnings
	err = h.shifts.InTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		employees := todo.locks.employees()
		for _, part := range todo.batches() {
			employees = append(employees, part.Employees()...)
		}
		if err := employeelock.Lock(ctx, tx, employees); err != nil {
			return err
		}
		if err := check.Before(ctx, tx); err != nil {
			return err
		}
		if err := todo.locks.unlock(ctx, tx); err != nil {
			return err
		}
		for _, part := range todo.batches() {
			if err := part.Apply(ctx, tx, visible); err != nil {
				return err
			}
		}
		if err := todo.locks.lock(ctx, tx); err != nil {
			return err
		}
		if warnings, err = itemchange.NewWarnings(check.After(ctx, tx)); err != nil {
			return err
		}
		propagationID, err = daylock.Propagate(ctx, tx, todo.locks.unlocked)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := propagation.SetLocation(ctx, propagationID); err != nil {
		return nil, err
	}
	results, err := todo.results(list, warnings)
	if err != nil {
		return nil, err
	}
	return results, setupref.Show(ctx, h.Pool, results...)
}

// edits are the changes of a request, by kind.
type edits struct {
	shifts *itemchange.Batch[*schedulingv1.Shift]
	edits  *itemchange.Batch[*schedulingv1.PayCodeEdit]
	tags   *itemchange.Batch[*schedulingv1.ScheduleTag]
	locks  *lockWork
}

// entries are the changes of one kind of entries.
type entryBatch interface {
	Prepare(ctx context.Context, visible rowvisibility.Set) error
	Employees() []int64
	Apply(ctx context.Context, tx pgx.Tx, visible rowvisibility.Set) error
}

func (e *edits) batches() []entryBatch { return []entryBatch{e.shifts, e.edits, e.tags} }

// collect collects the changes of all edits. Created entries without an employee get the employee
// of their edit.
func (h *ScheduleEdits) collect(list []*schedulingv1.ScheduleEdit) *edits {
	todo := &edits{
		shifts: h.shifts.Batch(), edits: h.edits.Batch(),
		tags: h.tags.Batch(), locks: &lockWork{deps: h.Deps},
	}
	for i, e := range list {
		employee := e.GetEmployeeRef()
		todo.shifts.Add(i, e.GetShifts(), func(m *schedulingv1.Shift) { m.Employee = cmp.Or(m.GetEmployee(), employee) })
		todo.edits.Add(i, e.GetPayCodeEdits(), func(m *schedulingv1.PayCodeEdit) { m.Employee = cmp.Or(m.GetEmployee(), employee) })
		todo.tags.Add(i, e.GetScheduleTags(), func(m *schedulingv1.ScheduleTag) { m.Employee = cmp.Or(m.GetEmployee(), employee) })
		todo.locks.add(i, e)
	}
	return todo
}

// results returns the created and changed entries of each edit.
func (e *edits) results(list []*schedulingv1.ScheduleEdit, warnings itemchange.Warnings) ([]*schedulingv1.ScheduleEditResult, error) {
	out := make([]*schedulingv1.ScheduleEditResult, len(list))
	for i, edit := range list {
		out[i] = &schedulingv1.ScheduleEditResult{
			EmployeeRef: edit.GetEmployeeRef(), Shifts: &schedulingv1.ShiftList{}, PayCodeEdits: &schedulingv1.PayCodeEditList{},
			ScheduleTags: &schedulingv1.ScheduleTagList{}, DayLocks: &schedulingv1.DayLockList{},
		}
	}
	err := e.shifts.Results(warnings, func(i int, m *schedulingv1.Shift) { out[i].Shifts.Shifts = append(out[i].Shifts.Shifts, m) })
	if err == nil {
		err = e.edits.Results(nil, func(i int, m *schedulingv1.PayCodeEdit) {
			out[i].PayCodeEdits.PayCodeEdits = append(out[i].PayCodeEdits.PayCodeEdits, m)
		})
	}
	if err == nil {
		err = e.tags.Results(nil, func(i int, m *schedulingv1.ScheduleTag) {
			out[i].ScheduleTags.ScheduleTags = append(out[i].ScheduleTags.ScheduleTags, m)
		})
	}
	e.locks.results(func(i int, l *schedulingv1.DayLock) { out[i].DayLocks.Locks = append(out[i].DayLocks.Locks, l) })
	return out, err
}
