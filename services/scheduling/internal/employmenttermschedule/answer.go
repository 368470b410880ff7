package employmenttermschedule

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// counter counts the entries of a response.
type counter int

func (c *counter) add(n int) error {
	*c += counter(n)
	return entries.Check(int(*c))
}

// response builds the selected parts of the response.
func (h *Handler) response(ctx context.Context, selected selection, terms []term, days civil.Range) (*schedulingv1.EmploymentTermSchedules, error) {
	groups, memberships := &schedulingv1.ScheduledGroupList{}, &schedulingv1.GroupMembershipList{}
	shifts, edits := &schedulingv1.GroupShiftList{}, &schedulingv1.GroupPayCodeEditList{}
	var count counter
	for i := range terms {
		t := &terms[i]
		ref := &commonv1.Ref{Id: proto.Int64(t.id), Qualifier: proto.String(t.name)}
		groups.Groups = append(groups.Groups, t.message())
		if selected.memberships {
			if err := count.add(len(t.members)); err != nil {
				return nil, err
			}
			for _, m := range t.members {
				memberships.Memberships = append(memberships.Memberships, m.message(ref))
			}
		}
		if !selected.shifts && !selected.edits {
			continue
		}
		err := h.forEachPlanned(ctx, t, days, selected, func(p reading.Planned) error {
			if p.Shift != nil {
				shifts.GroupShifts = append(shifts.GroupShifts, groupShift(ref, p.Shift))
			} else {
				edits.GroupPayCodeEdits = append(edits.GroupPayCodeEdits, groupPayCodeEdit(ref, p.PayCodeEdit))
			}
			return count.add(1)
		})
		if err != nil {
			return nil, err
		}
	}
	out := &schedulingv1.EmploymentTermSchedules{}
	if selected.groups {
		out.Groups = groups
	}
	if selected.memberships {
		out.Memberships = memberships
	}
	if selected.shifts {
		out.GroupShifts = shifts
	}
	if selected.edits {
		out.GroupPayCodeEdits = edits
	}
	return out, setupref.Show(ctx, h.deps.Pool, out)
}

// forEachPlanned calls add for the entries that the patterns of a term generate on days, even if
// the term does not pass them on.
func (h *Handler) forEachPlanned(ctx context.Context, t *term, days civil.Range, selected selection, add func(reading.Planned) error) error {
	spans, err := span.Resolve(span.Input{
		Assignments: t.assignments, Memberships: []span.Membership{{TermID: t.id, Days: days, Inherits: true}},
	})
	if err != nil {
		return fmt.Errorf("employmenttermschedule: term %d: %w", t.id, err)
	}
	var kinds []rotation.Kind
	if selected.shifts {
		kinds = append(kinds, rotation.Shift)
	}
	if selected.edits {
		kinds = append(kinds, rotation.PayCodeEdit)
	}
	return h.deps.Reader.ForEachPlanned(ctx, spans, days, kinds, add)
}

func (t *term) message() *schedulingv1.ScheduledGroup {
	return &schedulingv1.ScheduledGroup{
		Id: proto.Int64(t.id), Name: t.name, Active: proto.Bool(true), Inheritance: proto.Bool(t.inherits), Contract: proto.Bool(true),
		EmploymentTerm: proto.Bool(true), Deleted: proto.Bool(false), Version: proto.Int64(t.version),
	}
}

func (m *member) message(group *commonv1.Ref) *schedulingv1.GroupMembership {
	out := &schedulingv1.GroupMembership{
		Group: group, Employee: &commonv1.Ref{Id: proto.Int64(m.employeeID), Qualifier: proto.String(m.number)}, StartDate: m.days.From.String(),
	}
	if m.days.To < civil.Forever {
		out.EndDate = m.days.To.AddDays(-1).String()
	}
	return out
}

func groupShift(group *commonv1.Ref, s *schedulingv1.Shift) *schedulingv1.GroupShift {
	return &schedulingv1.GroupShift{
		Group: group, StartDateTime: s.StartDateTime, EndDateTime: s.EndDateTime, Label: s.Label, Generated: s.Generated,
		Segments: s.Segments, Relations: s.Relations, CommentNotes: s.GetCommentNotes().GetCommentNotes(),
	}
}

func groupPayCodeEdit(group *commonv1.Ref, e *schedulingv1.PayCodeEdit) *schedulingv1.GroupPayCodeEdit {
	return &schedulingv1.GroupPayCodeEdit{
		Group: group, PayCodeRef: e.PayCodeRef, StartDate: e.StartDate, EndDate: e.EndDate, StartTime: e.StartTime, EndTime: e.EndTime,
		DurationInTime: e.DurationInTime, DurationInDays: e.DurationInDays, MoneyAmount: e.MoneyAmount, OrgJobRef: e.OrgJobRef,
		Generated: e.Generated, Relations: e.Relations, CommentNotes: e.CommentNotes,
	}
}
