package employeeschedulepattern

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patternassignment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
)

// codeNoEnd (400): the days to restore have no end. Send an endDate.
const codeNoEnd = "WFS-100608"

// Schedules restores entries, like [scheduleitem.Deps].
type Schedules interface {
	Restore(ctx context.Context, employeeIDs []int64, days civil.Range) (map[int64]*scheduleitem.RestoreResult, error)
}

// restore restores the changed and deleted entries of employees. It returns one result for each
// requested employee.
func (h *Handler) restore(ctx context.Context, body *schedulingv1.ApplyUpdateEmployeeSchedulePatterns, partial bool) (*schedulingv1.EmployeeSchedulePatternResults, error) {
	if err := fault.ExactlyOne(patterndefinition.CodeOnlyOne, "The request", "recreate, updateAsOfDate, updateEndDate, remove, removeByEmployees and restore",
		body.GetRecreate() != nil, body.GetUpdateAsOfDate() != nil, body.GetUpdateEndDate() != nil, body.GetRemove() != nil,
		body.GetRemoveByEmployees() != nil, body.GetRestore() != nil); err != nil {
		return nil, err
	}
	where := body.GetRestore().GetWhere()
	refs := where.GetEmployeeRefs()
	if len(refs) == 0 || slices.ContainsFunc(refs, func(ref *commonv1.Ref) bool { return !patterndefinition.Named(ref) }) {
		return nil, patterndefinition.Missing("restore.where.employeeRefs")
	}
	days, err := h.assignments.Days("restore.where", where.GetStartDate(), where.GetEndDate())
	if err != nil {
		return nil, err
	}
	if where.GetEndDate() == "" {
		return nil, fault.Invalid(codeNoEnd, "restore.where.endDate is missing.")
	}
	owners, errs, err := h.assignments.FindOwners(rowvisibility.OnDays(ctx, days), refs, partial)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for i, owner := range owners {
		if errs[i] == nil {
			ids = append(ids, owner.ID)
		}
	}
	slices.Sort(ids)
	restored, err := h.schedules.Restore(ctx, slices.Compact(ids), days)
	if err != nil {
		return nil, err
	}
	outcome := &bulk.Outcome[*commonv1.Ref, *schedulingv1.EmployeeSchedulePatternResult]{}
	for i, ref := range refs {
		if errs[i] != nil {
			outcome.Fail(ref, fault.FromError(errs[i]))
			continue
		}
		outcome.Succeed(ref, restoreResult(owners[i], restored[owners[i].ID]))
	}
	out := &schedulingv1.EmployeeSchedulePatternResults{}
	out.Results, out.Failure, err = patternassignment.BulkResult(ctx, outcome, body.GetOptions().GetDetailedPartialSuccess())
	return out, err
}

func restoreResult(owner patternassignment.Owner, r *scheduleitem.RestoreResult) *schedulingv1.EmployeeSchedulePatternResult {
	out := &schedulingv1.EmployeeSchedulePatternResult{
		Status: proto.Bool(true),
		EmployeeSchedulePattern: &schedulingv1.EmployeeSchedulePattern{
			EmployeeRef: &commonv1.Ref{Id: proto.Int64(owner.ID), Qualifier: proto.String(owner.Name)},
		},
	}
	say := func(format string, args ...any) {
		out.Exceptions = append(out.Exceptions, fmt.Sprintf(format, args...))
	}
	switch {
	case r.Entries > 0:
		say("Entries that are as the schedule pattern has them again: %d.", r.Entries)
	case !r.Patterned:
		say("The employee has no schedule pattern to restore on these days.")
	default:
		say("Nothing had to be restored.")
	}
	if r.Locked > 0 {
		say("Entries of locked days that are left alone: %d.", r.Locked)
	}
	if r.Moved > 0 {
		say("Entries that are on the schedule of somebody else and stay there: %d.", r.Moved)
	}
	return out
}
