package schedulepreview

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
)

// message returns the preview for responses, without its state.
func (r *row) message() (*schedulingv1.SchedulePreview, error) {
	m := &schedulingv1.SchedulePreview{}
	if err := proto.Unmarshal(r.effect, m); err != nil {
		return nil, fmt.Errorf("schedulepreview: decode preview %d: %w", r.id, err)
	}
	m.Id, m.ExpiresAt, m.Window, m.PropagationId = r.id, formatTime(r.expiresAt), windowMessage(r.basis.days), r.propagationID
	return m, nil
}

// message returns the change for callers. The id is absent if the caller does not see the employee.
func (c *laterChange) message(visible rowvisibility.Set) *schedulingv1.LaterChange {
	m := &schedulingv1.LaterChange{Type: c.kind, PropagationId: c.propagationID}
	if c.employeeID == 0 || visible.Has(c.employeeID) {
		m.Id = proto.Int64(c.id)
	}
	if c.at != nil {
		m.DateTime = formatTime(*c.at)
	}
	return m
}

func (t *totals) summary() *schedulingv1.PreviewSummary {
	return &schedulingv1.PreviewSummary{
		EmployeesTotal: &t.employees, EmployeesChanged: &t.changed, SpansAdded: &t.added, SpansRemoved: &t.removed,
		ShiftsAdded: &t.shifts.added, ShiftsRemoved: &t.shifts.removed, ShiftsChanged: &t.shifts.changed,
		SecondsBefore: &t.secondsBefore, SecondsAfter: &t.secondsAfter,
	}
}

func (t *totals) listSkipped() []*schedulingv1.SkippedDays {
	var out []*schedulingv1.SkippedDays
	if t.locked > 0 {
		out = append(out, &schedulingv1.SkippedDays{Reason: "LOCKED_DAYS", Employees: t.locked})
	}
	if t.detached > 0 {
		out = append(out, &schedulingv1.SkippedDays{Reason: "CUT_LOOSE_ENTRIES", Employees: t.detached})
	}
	return out
}

// listWarnings returns the warnings. Their persons have no numbers yet.
func (t *totals) listWarnings() []*schedulingv1.ScheduleWarning {
	list := t.warnings.List()
	if t.employees == 0 {
		list = append(list, schedulewarning.Summary{Code: schedulewarning.EmptyChange})
	}
	out := make([]*schedulingv1.ScheduleWarning, len(list))
	for i := range list {
		out[i] = &schedulingv1.ScheduleWarning{Code: string(list[i].Code), Employees: list[i].Employees}
		if id := list[i].AssignmentID; id > 0 { // The change creates the others.
			out[i].AssignmentId = &id
		}
		for _, p := range list[i].Persons {
			person := &schedulingv1.WarnedPerson{Employee: &commonv1.Ref{Id: &p.EmployeeID}, Text: p.Text}
			for _, day := range p.Dates {
				person.Dates = append(person.Dates, day.String())
			}
			out[i].Persons = append(out[i].Persons, person)
		}
	}
	return out
}
