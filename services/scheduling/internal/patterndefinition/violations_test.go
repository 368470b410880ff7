package patterndefinition_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// An error lists the faults of all properties that do not depend on each other. The first one is the error.
func TestAllFaultsOfAPatternAreListed(t *testing.T) {
	t.Parallel()
	rules := patterndefinition.NewRules(patterndefinition.Settings{})
	segments := func(list ...*schedulingv1.ShiftTemplateSegment) *schedulingv1.ShiftTemplate {
		s := early()
		s.Segments = list
		return s
	}
	item := func(day int32, change func(*schedulingv1.SchedulePatternItem)) *schedulingv1.SchedulePatternItem {
		i := &schedulingv1.SchedulePatternItem{Day: proto.Int32(day)}
		change(i)
		return i
	}
	for name, c := range map[string]struct {
		err  error
		want []string // the paths of the violations
	}{
		"both times of a shift": {rules.Shift("s", shift("", "1900-01-01")), []string{"s.startDateTime", "s.endDateTime"}},
		"segments of a shift": {
			rules.Shift("s", segments(
				segment("1900-01-01T05:00:00", "1900-01-01T10:00:00", name("LUNCH")),
				segment("", "1900-01-01T11:00:00", nil),
				segment("1900-01-01T11:00:00", "1900-01-01T12:00:00", nil),
				segment("1900-01-01T11:30:00", "1900-01-01T14:00:00", id(9)))),
			[]string{"s.segments[0]", "s.segments[0].segmentType", "s.segments[1].startDateTime", "s.segments[3]", "s.segments[3].segmentType"},
		},
		"times of a shift and a type of segment": {
			rules.Shift("s", &schedulingv1.ShiftTemplate{StartDateTime: "1900-01-01T06:00:00", Segments: []*schedulingv1.ShiftTemplateSegment{
				segment("1900-01-01T06:00:00", "1900-01-01T14:00:00", name("LUNCH")),
			}}),
			[]string{"s.endDateTime", "s.segments[0].segmentType"},
		},
		"an empty pattern": {rules.Pattern("p", &schedulingv1.SchedulePattern{StartDate: "tomorrow"}), []string{"p.dayCount", "p.items", "p.startDate"}},
		"items without a valid dayCount": {
			rules.Pattern("p", &schedulingv1.SchedulePattern{DayCount: proto.Int32(999), Items: []*schedulingv1.SchedulePatternItem{
				item(0, func(i *schedulingv1.SchedulePatternItem) { i.ShiftTemplate = early() }),
				item(400, func(*schedulingv1.SchedulePatternItem) {}),
			}}),
			[]string{"p.dayCount", "p.items[0].day", "p.items[1]"},
		},
		"templates of one item": {
			rules.Pattern("p", &schedulingv1.SchedulePattern{DayCount: proto.Int32(7), Items: []*schedulingv1.SchedulePatternItem{
				item(8, func(i *schedulingv1.SchedulePatternItem) {
					i.ShiftTemplate = shift("1900-01-01T06:00:00", "")
					i.PayCodeEditTemplate = &schedulingv1.PayCodeEditTemplate{DurationInTime: proto.Int64(0), MoneyAmount: proto.Float64(math.NaN())}
					i.AvailabilityTemplate = &schedulingv1.AvailabilityTemplate{Segments: []*schedulingv1.AvailabilityTemplateSegment{{StartTime: "25:00"}}}
					i.ScheduleTagTemplate = &schedulingv1.ScheduleTagTemplate{StartDateTime: "1900-01-01T06:00:00", Segments: []*schedulingv1.ScheduleTagTemplateSegment{{SegmentType: name("X")}}}
				}),
			}}),
			[]string{
				"p.items[0].day", "p.items[0].shiftTemplate.endDateTime",
				"p.items[0].payCodeEditTemplate.payCode", "p.items[0].payCodeEditTemplate.durationInTime", "p.items[0].payCodeEditTemplate.moneyAmount",
				"p.items[0].availabilityTemplate.segments[0].availabilityType", "p.items[0].availabilityTemplate.segments[0].startTime", "p.items[0].availabilityTemplate.segments[0].endTime",
				"p.items[0].scheduleTagTemplate.endDateTime", "p.items[0].scheduleTagTemplate.segments[0].tagDefinition", "p.items[0].scheduleTagTemplate.segments[0].segmentType",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fault.FromError(c.err)
			require.NotNil(t, f)
			var paths []string
			for _, v := range f.Details.GetViolations() {
				paths = append(paths, v.GetPath())
			}
			assert.Equal(t, c.want, paths)
			assert.Equal(t, f.Message, f.Details.GetViolations()[0].GetMessage())
		})
	}

	many := &schedulingv1.SchedulePattern{DayCount: proto.Int32(7)}
	for range 5000 {
		many.Items = append(many.Items, item(8, func(i *schedulingv1.SchedulePatternItem) { i.ShiftTemplate = shift("", strings.Repeat("x", 10)) }))
	}
	assert.Len(t, fault.FromError(rules.Pattern("p", many)).Details.GetViolations(), fault.MaxViolations)
}
