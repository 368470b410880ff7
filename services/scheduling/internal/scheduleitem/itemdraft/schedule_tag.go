package itemdraft

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
)

// ScheduleTag checks a schedule tag that was completed from its definitions, and converts it to its
// stored form.
func ScheduleTag(completed *schedulingv1.ScheduleTag, employee *projection.Employee) (*Draft, error) {
	tag := proto.CloneOf(completed)
	if employee == nil {
		return nil, fault.Invalid(itemfault.CodeEmployeeMissing, "employee is missing.")
	}
	sent, err := ReadPeriod("", tag.GetStartDateTime(), tag.GetEndDateTime())
	if err != nil {
		return nil, err
	}
	forward, err := moveForward(sent, employee.Zone)
	if err != nil {
		return nil, err
	}
	whole := Period{forward.Start, forward.End}
	from, last := whole.Start.Date, lastDay(whole)
	if days := (civil.Range{From: from, To: last + 1}).Days(); days > storedrows.MaxItemDays {
		return nil, itemfault.InvalidShift("endDateTime", "must not be more than %d days after startDateTime", storedrows.MaxItemDays)
	}
	onCall := false
	for i, s := range tag.GetSegments() {
		s.SegmentType = cmp.Or(s.GetSegmentType(), window.TagTypes[0])
		if !slices.Contains(window.TagTypes, s.GetSegmentType()) {
			return nil, itemfault.InvalidShift(fmt.Sprintf("segments[%d].segmentType", i), "must be one of %s", strings.Join(window.TagTypes, ", "))
		}
		onCall = onCall || s.GetSegmentType() == window.OnCallShift
	}
	tag.StartDateTime, tag.EndDateTime = whole.Start.String(), whole.End.String()
	tag.Id, tag.Employee, tag.Version = nil, nil, nil
	tag.Generated, tag.Deleted = proto.Bool(false), proto.Bool(false)
	tag.Posted, tag.OnCall = proto.Bool(tag.GetPosted()), proto.Bool(onCall)
	tag.Relations = withoutPatternRelations(tag.GetRelations())
	if _, err := Encode(tag); err != nil {
		return nil, err
	}
	return &Draft{
		Employee: employee, From: from, To: last, Segmented: tag,
		Occupies: civil.Range{From: from, To: from + 1}, // It belongs to the day when it starts.
	}, nil
}

// CompleteScheduleTags returns a function that fills in values from the definitions of tags.
func CompleteScheduleTags(pool *pg.Pool) func(context.Context, []*schedulingv1.ScheduleTag, []error) ([]*schedulingv1.ScheduleTag, error) {
	return func(ctx context.Context, sent []*schedulingv1.ScheduleTag, failed []error) ([]*schedulingv1.ScheduleTag, error) {
		return completeAll(ctx, pool, sent, failed)
	}
}

func completeAll(ctx context.Context, pool *pg.Pool, sent []*schedulingv1.ScheduleTag, failed []error) ([]*schedulingv1.ScheduleTag, error) {
	var refs []*commonv1.Ref
	for _, tag := range sent {
		for _, s := range tag.GetSegments() {
			refs = append(refs, s.GetTagDefinitionRef())
		}
	}
	found, err := tagdefinition.Find(ctx, pool, refs)
	if err != nil {
		return nil, err
	}
	out := make([]*schedulingv1.ScheduleTag, len(sent))
	for i, tag := range sent {
		out[i] = proto.CloneOf(tag)
		if failed[i] == nil {
			failed[i] = completeScheduleTag(out[i], found)
		}
	}
	return out, nil
}

// completeScheduleTag checks a tag against its definitions, and fills in values from them.
func completeScheduleTag(tag *schedulingv1.ScheduleTag, found tagdefinition.Found) error {
	if len(tag.GetSegments()) == 0 {
		return fault.Invalid(itemfault.CodeMissing, "segments is missing. The first segment needs a tagDefinitionRef.")
	}
	for i, s := range tag.GetSegments() {
		path := fmt.Sprintf("segments[%d].", i)
		definition, err := found.Of(path+"tagDefinitionRef", s.GetTagDefinitionRef())
		if err != nil {
			return err
		}
		if !tagdefinition.For(definition, tagdefinition.ContextSchedule) {
			return fault.Invalid(itemfault.CodeTagDefinition, fmt.Sprintf("%stagDefinitionRef: the tag definition %q is not for schedule tags.", path, definition.GetName()))
		}
		if err := checkConstraints(path, tag, s, definition); err != nil {
			return err
		}
		s.TagDefinitionRef = &commonv1.Ref{Id: definition.Id, Qualifier: proto.String(definition.GetName())}
		if s.GetScheduleTagColor() == "" || definition.GetColor() != "" && !definition.GetColorOverridable() {
			s.ScheduleTagColor = definition.GetColor()
		}
		s.ScheduleTagIconClass = definition.GetScheduleContextAttributes().GetTagIconClass()
	}
	return nil
}

// The parts of a transfer string.
const (
	partJob = iota
	partWorkRule
	partCostCenter
	partLaborCategories
)

// checkConstraints checks that a segment has everything that its definition requires, and nothing
// that it does not support. Values can also be in the transfer string.
func checkConstraints(path string, tag *schedulingv1.ScheduleTag, s *schedulingv1.ScheduleTagSegment, definition *schedulingv1.TagDefinition) error {
	parts := strings.Split(s.GetTransferString(), ";")
	transfers := func(part int) bool { return part < len(parts) && strings.Trim(parts[part], " ,") != "" }
	attributes := definition.GetScheduleContextAttributes()
	for _, c := range []struct {
		path, constraint string
		has              bool
	}{
		{"commentNotes", definition.GetCommentsConstraint(), len(tag.GetCommentNotes()) > 0},
		{path + "orgJobRef", attributes.GetJobTransfersConstraint(), IsSet(s.GetOrgJobRef()) || transfers(partJob)},
		{path + "workruleRef", attributes.GetWorkRulesConstraint(), IsSet(s.GetWorkruleRef()) || transfers(partWorkRule)},
		{path + "costCenter", attributes.GetCostCentersConstraint(), IsSet(s.GetCostCenter().GetCostCenter()) || transfers(partCostCenter)},
		{path + "laborCategories", attributes.GetLaborCategoriesConstraint(), len(s.GetLaborCategories().GetEntries()) > 0 || transfers(partLaborCategories)},
	} {
		switch {
		case c.constraint == tagdefinition.Required && !c.has:
			return fault.Invalid(itemfault.CodeTagDefinition, fmt.Sprintf("%s is missing: the tag definition %q requires it.", c.path, definition.GetName()))
		case c.constraint == tagdefinition.NotSupported && c.has:
			return fault.Invalid(itemfault.CodeTagDefinition, fmt.Sprintf("%s: the tag definition %q does not support it. Leave it out.", c.path, definition.GetName()))
		}
	}
	return nil
}
