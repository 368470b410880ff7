package itemchange

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleviolation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
)

// Warnings are the violations of schedule rules that a change added, by the ids of their shifts.
type Warnings map[int64][]*schedulingv1.ScheduleRuleViolation

// NewWarnings returns the warnings of added violations. It passes an error on, so that it can take
// the results of [ruleviolation.Check.After].
func NewWarnings(added []*schedulingv1.ScheduleRuleViolation, err error) (Warnings, error) {
	if err != nil || len(added) == 0 {
		return nil, err
	}
	out := Warnings{}
	for _, v := range added {
		for _, shift := range v.GetShifts() {
			out[shift.GetId()] = append(out[shift.GetId()], v)
		}
	}
	return out, nil
}

// warn adds the warnings of an entry to it.
func (f *Editor[M]) warn(m M, warnings Warnings) {
	if f.Warn != nil && len(warnings) > 0 {
		f.Warn(m, warnings[m.GetId()])
	}
}

// prepareCheck returns the check of the schedule rules for drafts, or nil if no rule applies. Drafts
// of entries that failed are nil.
func (f *Editor[M]) prepareCheck(ctx context.Context, drafts []*itemdraft.Draft) (*ruleviolation.Check, error) {
	if f.Warn == nil || f.Rules == nil {
		return nil, nil
	}
	var written []ruleviolation.Written
	for _, d := range drafts {
		if d != nil && d.Employee != nil {
			written = append(written, ruleviolation.Written{Employee: d.Employee, Days: civil.Through(d.From, d.To)})
		}
	}
	return f.Rules.Prepare(ctx, written)
}

// employeeIDs returns the employees of drafts. Drafts of entries that failed are nil.
func employeeIDs(drafts []*itemdraft.Draft) []int64 {
	var ids []int64
	for _, d := range drafts {
		if d != nil && d.Employee != nil {
			ids = append(ids, d.EmployeeID())
		}
	}
	return ids
}

// isForbidden reports whether a schedule rule forbids a change.
func isForbidden(err error) bool {
	return err != nil && fault.FromError(err).Code == ruleviolation.CodeForbidden
}

// oneByOne applies a change to each entry in a transaction of its own, so that a schedule rule
// refuses only the entries that would break it. failed has the entries that failed already.
func (f *Editor[M]) oneByOne(
	ctx context.Context, sent []M, failed []error, change func(context.Context, []M, bool) (*bulk.Outcome[M, M], error),
) (*bulk.Outcome[M, M], error) {
	return bulk.Run(sent, true, func(i int, m M) (M, error) {
		var zero M
		if failed[i] != nil {
			return zero, failed[i]
		}
		out, err := change(ctx, []M{m}, false)
		if err != nil {
			return zero, err
		}
		return out.Successes()[0], nil
	})
}
