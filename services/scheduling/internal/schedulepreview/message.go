package schedulepreview

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
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

func (t *totals) warnings() []*schedulingv1.PreviewWarning {
	var out []*schedulingv1.PreviewWarning
	if t.changed == 0 {
		out = append(out, &schedulingv1.PreviewWarning{Code: "EMPTY_CHANGE", Employees: proto.Int64(0)})
	}
	if t.detached > 0 {
		out = append(out, &schedulingv1.PreviewWarning{Code: "HIDES_HAND_ENTRY", Employees: proto.Int64(t.detached)})
	}
	return out
}
