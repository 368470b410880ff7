package employeeschedulepattern

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// toOwner converts an assignment for package patternassignment. It returns nil for nil.
func toOwner(p *schedulingv1.EmployeeSchedulePattern) *schedulingv1.GroupSchedulePattern {
	if p == nil {
		return nil
	}
	return &schedulingv1.GroupSchedulePattern{
		Id: p.Id, GroupRef: p.EmployeeRef, StartDate: p.StartDate, EndDate: p.EndDate, StartDateOffset: p.StartDateOffset,
		PopulatedThroughDate: p.PopulatedThroughDate, SchedulePattern: p.SchedulePattern,
	}
}

// toEmployee is the inverse of toOwner.
func toEmployee(p *schedulingv1.GroupSchedulePattern) *schedulingv1.EmployeeSchedulePattern {
	if p == nil {
		return nil
	}
	return &schedulingv1.EmployeeSchedulePattern{
		Id: p.Id, EmployeeRef: p.GroupRef, StartDate: p.StartDate, EndDate: p.EndDate, StartDateOffset: p.StartDateOffset,
		PopulatedThroughDate: p.PopulatedThroughDate, SchedulePattern: p.SchedulePattern,
	}
}

func toIDs(where *schedulingv1.EmployeeSchedulePatternIds) *schedulingv1.GroupSchedulePatternIds {
	return &schedulingv1.GroupSchedulePatternIds{GroupSchedulePatternIds: where.GetEmployeeSchedulePatternIds()}
}

// toUpdate returns a request with the same blocks.
func toUpdate(body *schedulingv1.ApplyUpdateEmployeeSchedulePatterns) *schedulingv1.ApplyUpdateGroupSchedulePatterns {
	out := &schedulingv1.ApplyUpdateGroupSchedulePatterns{}
	if b := body.GetRecreate(); b != nil {
		out.Recreate = &schedulingv1.RecreateGroupSchedulePatterns{Where: toIDs(b.GetWhere()), Do: &schedulingv1.RecreateGroupSchedulePattern{
			GroupSchedulePattern: toOwner(b.GetDo().GetEmployeeSchedulePattern()),
		}}
	}
	if b := body.GetUpdateAsOfDate(); b != nil {
		out.UpdateAsOfDate = &schedulingv1.UpdateGroupSchedulePatternsAsOfDate{Where: toIDs(b.GetWhere()), Do: &schedulingv1.UpdateGroupSchedulePatternAsOfDate{
			Date: b.GetDo().GetDate(), GroupSchedulePattern: toOwner(b.GetDo().GetEmployeeSchedulePattern()),
		}}
	}
	if b := body.GetUpdateEndDate(); b != nil {
		out.UpdateEndDate = &schedulingv1.UpdateGroupSchedulePatternsEndDate{Where: toIDs(b.GetWhere()), Do: b.GetDo()}
	}
	if b := body.GetRemove(); b != nil {
		out.Remove = &schedulingv1.RemoveGroupSchedulePatterns{Where: toIDs(b.GetWhere()), Do: b.GetDo()}
	}
	if b := body.GetRemoveByEmployees(); b != nil {
		out.RemoveByGroups = &schedulingv1.RemoveGroupSchedulePatternsByGroups{
			Where: &schedulingv1.GroupRefs{GroupRefs: b.GetWhere().GetEmployeeRefs()}, Do: b.GetDo(),
		}
	}
	return out
}

func toResult(r *schedulingv1.GroupSchedulePatternResult) *schedulingv1.EmployeeSchedulePatternResult {
	return &schedulingv1.EmployeeSchedulePatternResult{
		Status: r.Status, EmployeeSchedulePattern: toEmployee(r.GetGroupSchedulePattern()), Exceptions: r.GetExceptions(),
		EmployeeSchedulePatternHistories: convertList(r.GetGroupSchedulePatternHistories(), toHistory),
		HiddenDays: convertList(r.GetHiddenDays(), func(d *schedulingv1.HiddenPatternDays) *schedulingv1.HiddenEmployeePatternDays {
			return &schedulingv1.HiddenEmployeePatternDays{
				EmployeeSchedulePatternId: d.GroupSchedulePatternId, HiddenById: d.HiddenById, StartDate: d.StartDate, EndDate: d.EndDate,
			}
		}),
		ScheduleWarnings: r.GetScheduleWarnings(),
	}
}

func toResults(list *schedulingv1.GroupSchedulePatternResults) *schedulingv1.EmployeeSchedulePatternResults {
	return &schedulingv1.EmployeeSchedulePatternResults{Results: convertList(list.GetResults(), toResult)}
}

func toHistory(h *schedulingv1.GroupSchedulePatternHistory) *schedulingv1.EmployeeSchedulePatternHistory {
	return &schedulingv1.EmployeeSchedulePatternHistory{
		Id: h.Id, EmployeeId: h.GroupId, EmployeeSchedulePatternId: h.GroupSchedulePatternId, DataSourceId: h.DataSourceId,
		Error: h.Error, Report: h.Report, ReportDate: h.ReportDate, TransactionDateTime: h.TransactionDateTime,
	}
}

func convertList[A, B any](list []A, one func(A) B) []B {
	if list == nil {
		return nil
	}
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = one(a)
	}
	return out
}

func unchangedInput[I proto.Message](_ int, input I) I { return input }

// convert returns an outcome with converted inputs and successes.
func convert[I, J, R, S proto.Message](from *bulk.Outcome[I, R], input func(i int, in I) J, success func(R) S) *bulk.Outcome[J, S] {
	to := &bulk.Outcome[J, S]{}
	for i, r := range from.Results {
		if r.Err != nil {
			to.Fail(input(i, r.Input), r.Err)
			continue
		}
		to.Succeed(input(i, r.Input), success(r.Success))
	}
	return to
}
