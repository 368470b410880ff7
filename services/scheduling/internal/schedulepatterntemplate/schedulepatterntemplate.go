// Package schedulepatterntemplate keeps schedule pattern templates: named patterns that
// assignments start from. An assignment holds a copy, so that changing or
// deleting a template never touches one.
package schedulepatterntemplate

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/setup"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

// anchorStartDay is the first weekday of pattern weeks, counted from Sunday as
// 1. It would come from a locale policy; nothing is computed from it.
const anchorStartDay = 1

// Kind returns the declaration of pattern templates. An item may name a shift template: that is looked
// up each time a pattern is created from the pattern template.
func Kind() *setup.Kind[*schedulingv1.SchedulePattern] {
	return setup.NewKind(setup.Declaration[*schedulingv1.SchedulePattern]{
		Codes: patterndefinition.Codes(),
		What:  "schedule pattern template",
		Path:  "schedulePattern",
		Table: "schedule_pattern_template",
		Strip: func(p *schedulingv1.SchedulePattern) { p.AnchorStartDay, p.Deleted = nil, nil },
		Fill: func(p *schedulingv1.SchedulePattern, _ int64) {
			p.AnchorStartDay = proto.Int64(anchorStartDay)
			p.Deleted, p.SystemGenerated = proto.Bool(false), proto.Bool(p.GetSystemGenerated())
		},
		References: []setup.Reference{{Field: "items.shift_template", To: shifttemplate.Kind(), If: func(value proto.Message) bool {
			t, ok := value.(*schedulingv1.ShiftTemplate)
			return ok && patterndefinition.NamesShift(t)
		}}},
	})
}

// short is a template as a list shows it that was asked for without details.
func short(p *schedulingv1.SchedulePattern) *schedulingv1.SchedulePattern {
	return &schedulingv1.SchedulePattern{
		Id:              p.Id,
		Name:            p.GetName(),
		Description:     p.GetDescription(),
		DayCount:        p.DayCount,
		TimePeriodType:  p.GetTimePeriodType(),
		SystemGenerated: p.SystemGenerated,
	}
}
