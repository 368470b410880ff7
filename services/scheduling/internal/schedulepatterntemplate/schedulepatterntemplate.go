// Package schedulepatterntemplate manages schedule pattern templates: named patterns from which
// assignments are created. An assignment contains a copy, so that changing or deleting a template
// does not affect it.
package schedulepatterntemplate

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/setup"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

// anchorStartDay is the first weekday of pattern weeks, counted from Sunday as 1. Nothing is
// computed from it.
const anchorStartDay = 1

// Kind returns the declaration of pattern templates. An item can name a shift template, which is
// looked up each time a pattern is created from the pattern template.
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

// withoutDetails returns a template without details.
func withoutDetails(p *schedulingv1.SchedulePattern) *schedulingv1.SchedulePattern {
	return &schedulingv1.SchedulePattern{
		Id:              p.Id,
		Name:            p.GetName(),
		Description:     p.GetDescription(),
		DayCount:        p.DayCount,
		TimePeriodType:  p.GetTimePeriodType(),
		SystemGenerated: p.SystemGenerated,
	}
}
