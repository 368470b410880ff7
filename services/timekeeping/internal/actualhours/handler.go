// Package actualhours evaluates schedule rules on actual hours: it adds worked shifts to the
// evaluation requests of clients, and forwards them to scheduling.
package actualhours

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// readTimecards is the permission that callers need to see actual hours, in addition to the
// permission of the operation.
const readTimecards = "timekeeping.timecard.read"

const (
	// maxEmployeeDays is the maximum number of employee days that one read and one call cover.
	maxEmployeeDays = 15_000
	// maxPartBytes is the maximum size of the worked shifts in one call: half of the largest
	// request.
	maxPartBytes = 4 << 20
	// attempts is the maximum number of times that an evaluation restarts because rule sets
	// changed.
	attempts = 3
)

// Source reads the shifts that employees worked; [calculation.Reader] implements it.
type Source interface {
	WorkedShifts(ctx context.Context, ids []int64, days civil.Range) ([]*schedulingv1.EmployeeWorkedShifts, error)
}

var _ Source = (*calculation.Reader)(nil)

// Handler serves ScheduleRuleEvaluationService.
type Handler struct {
	timekeepingv1.UnsafeScheduleRuleEvaluationServiceServer
	rules  schedulingv1.ScheduleRuleEvaluationServiceClient
	worked Source
}

var _ timekeepingv1.ScheduleRuleEvaluationServiceServer = (*Handler)(nil)

// New returns a Handler that forwards evaluations to scheduling.
func New(rules schedulingv1.ScheduleRuleEvaluationServiceClient, worked Source) *Handler {
	return &Handler{rules: rules, worked: worked}
}

// EvaluateScheduleRules returns the rule violations in the schedules of employees.
func (h *Handler) EvaluateScheduleRules(ctx context.Context, req *schedulingv1.EvaluateScheduleRulesRequest) (*schedulingv1.ScheduleRuleViolations, error) {
	for range attempts {
		response, err := h.rules.EvaluateRules(ctx, &schedulingv1.EvaluateRulesRequest{Evaluation: req})
		if err != nil || response.GetNeeded() == nil {
			return response.GetResult(), err
		}
		if err := checkPermission(ctx, response.GetNeeded().GetRuleSet()); err != nil {
			return nil, err
		}
		result, err := h.evaluateWorked(ctx, req, response.GetNeeded())
		if err != nil || result != nil {
			return result, err
		}
	}
	return nil, fault.Unavailable("Rule sets changed while they were evaluated. Send the request again.", time.Second)
}

// checkPermission returns an error if the caller may not read timecards.
func checkPermission(ctx context.Context, ruleSet string) error {
	caller, ok := authn.From(ctx)
	if !ok || caller.IsService() || caller.Has(readTimecards) {
		return nil
	}
	return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf("The rule set %.100q uses actual hours: it needs the permission %s. "+
		"Ask an administrator for it, or name other rule sets.", ruleSet, readTimecards))
}

// evaluateWorked evaluates a request with worked shifts, for a part of the employees at a time. It
// returns nil if rule sets have changed and need more days than before.
func (h *Handler) evaluateWorked(ctx context.Context, req *schedulingv1.EvaluateScheduleRulesRequest, need *schedulingv1.WorkedShiftsNeeded) (*schedulingv1.ScheduleRuleViolations, error) {
	days := civil.Range{From: civil.Date(need.GetFrom()), To: civil.Date(need.GetTo())}
	out := &schedulingv1.ScheduleRuleViolations{}
	for ids := range slices.Chunk(need.GetEmployeeIds(), employeesAtOnce(days)) {
		worked, err := h.read(ctx, ids, days)
		if err != nil {
			return nil, err
		}
		parts, err := divide(ids, worked)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			response, err := h.rules.EvaluateRules(ctx, &schedulingv1.EvaluateRulesRequest{
				Evaluation:       ofEmployees(req, p.ids),
				Worked:           &schedulingv1.WorkedShifts{From: need.GetFrom(), To: need.GetTo(), Employees: p.worked},
				ViolationsBefore: int32(len(out.GetViolations())),
			})
			if err != nil || response.GetNeeded() != nil {
				return nil, err
			}
			out.Violations = append(out.Violations, response.GetResult().GetViolations()...)
		}
	}
	return out, nil
}

// employeesAtOnce returns the number of employees to read at once for a range of days.
func employeesAtOnce(days civil.Range) int {
	return min(calculation.MaxEmployees, max(1, maxEmployeeDays/max(1, days.Days())))
}

// read returns the worked shifts on a range of days, by employee.
func (h *Handler) read(ctx context.Context, ids []int64, days civil.Range) (map[int64]*schedulingv1.EmployeeWorkedShifts, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	out := make(map[int64]*schedulingv1.EmployeeWorkedShifts, len(ids))
	for from := days.From; from < days.To; from += calculation.MaxDays {
		found, err := h.worked.WorkedShifts(ctx, ids, civil.Range{From: from, To: min(from+calculation.MaxDays, days.To)})
		if err != nil {
			return nil, fmt.Errorf("read what was worked: %w", err)
		}
		for _, e := range found {
			if known := out[e.GetEmployeeId()]; known != nil {
				known.Shifts = append(known.Shifts, e.GetShifts()...)
			} else {
				out[e.GetEmployeeId()] = e
			}
		}
	}
	return out, nil
}

// part is the input of one call.
type part struct {
	ids    []int64
	worked []*schedulingv1.EmployeeWorkedShifts
}

// divide splits employees, in their order, into parts. The worked shifts of each part fit into one
// call.
func divide(ids []int64, worked map[int64]*schedulingv1.EmployeeWorkedShifts) ([]part, error) {
	var out []part
	size := maxPartBytes + 1
	for _, id := range ids {
		of := worked[id]
		bytes := proto.Size(of)
		if bytes > maxPartBytes {
			return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("The employee %d has more worked shifts on these days than can be evaluated at once. Name fewer days.", id))
		}
		if size+bytes > maxPartBytes {
			out, size = append(out, part{}), 0
		}
		last := &out[len(out)-1]
		last.ids, size = append(last.ids, id), size+bytes
		if of != nil {
			last.worked = append(last.worked, of)
		}
	}
	return out, nil
}

// ofEmployees returns a copy of a request that covers only some of its employees.
func ofEmployees(req *schedulingv1.EvaluateScheduleRulesRequest, ids []int64) *schedulingv1.EvaluateScheduleRulesRequest {
	where := req.GetWhere()
	return &schedulingv1.EvaluateScheduleRulesRequest{Where: &schedulingv1.ScheduleRuleEvaluationWhere{
		Employees: &commonv1.RefList{Ids: ids}, DateRange: where.GetDateRange(), RuleSets: where.GetRuleSets(),
		MinimumSeverity: where.GetMinimumSeverity(), Context: where.GetContext(),
	}}
}
