// Package schedulepatterntemplate keeps schedule pattern templates: named patterns that
// assignments start from. An assignment holds a copy, so that changing or
// deleting a template never touches one.
package schedulepatterntemplate

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/namedstore"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// Store keeps pattern templates as they were given: a shift template that one
// of them names is looked up anew each time a pattern is made from it.
type Store = namedstore.Store[*schedulingv1.SchedulePattern]

// anchorStartDay is the first weekday of pattern weeks, counted from Sunday as
// 1. It would come from a locale policy; nothing is computed from it.
const anchorStartDay = 1

// NewStore returns the store of pattern templates.
func NewStore() *Store {
	return namedstore.NewStore(namedstore.Kind[*schedulingv1.SchedulePattern]{
		Codes: patterndefinition.Codes(),
		What:  "schedule pattern template",
		Table: "schedule_pattern_template",
		Strip: func(p *schedulingv1.SchedulePattern) { p.AnchorStartDay, p.Deleted = nil, nil },
		Fill: func(p *schedulingv1.SchedulePattern, _ int64) {
			p.AnchorStartDay = proto.Int64(anchorStartDay)
			p.Deleted, p.SystemGenerated = proto.Bool(false), proto.Bool(p.GetSystemGenerated())
		},
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

// idOf is the id in a body, or nil.
func idOf(p *schedulingv1.SchedulePattern) *int64 {
	if p == nil {
		return nil
	}
	return p.Id
}
