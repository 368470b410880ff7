package hiddenentry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

func shift(start, end string) *schedulingv1.SchedulePatternItem {
	return &schedulingv1.SchedulePatternItem{Day: proto.Int32(1), ShiftTemplate: &schedulingv1.ShiftTemplate{
		StartDateTime: "1900-01-01T" + start + ":00", EndDateTime: "1900-01-01T" + end + ":00",
	}}
}

func nameItem(name string, id int64, item *schedulingv1.SchedulePatternItem) *schedulingv1.SchedulePatternItem {
	item.ShiftTemplate.Name = name
	if id != 0 {
		item.ShiftTemplate.Id = &id
	}
	return item
}

func payCodeEdit(code string) *schedulingv1.SchedulePatternItem {
	return &schedulingv1.SchedulePatternItem{Day: proto.Int32(1), PayCodeEditTemplate: &schedulingv1.PayCodeEditTemplate{
		PayCode: &commonv1.Ref{Qualifier: &code}, DurationInTime: proto.Int64(3600),
	}}
}

func tag() *schedulingv1.SchedulePatternItem {
	return &schedulingv1.SchedulePatternItem{Day: proto.Int32(1), ScheduleTagTemplate: &schedulingv1.ScheduleTagTemplate{}}
}

type items = []*schedulingv1.SchedulePatternItem

func compile(t *testing.T, list items) *hiddenentry.Pattern {
	t.Helper()
	p, err := hiddenentry.Compile(&schedulingv1.SchedulePattern{DayCount: proto.Int32(1), Items: list})
	require.NoError(t, err)
	return p
}

// A planner gives a day other items after a deletion. The first item of the day, or the item of the
// given ordinal, was deleted. The expected value is the ordinal that the deletion hides afterwards,
// or -1.
func TestADeletionHidesTheSameShiftOfAChangedDay(t *testing.T) {
	t.Parallel()
	early, late, night := shift("06:00", "14:00"), shift("14:00", "22:00"), shift("22:00", "23:00")
	for name, c := range map[string]struct {
		before  items
		deleted uint8
		after   items
		hidden  int
	}{
		"nothing changed":                    {items{early, late}, 0, items{early, late}, 0},
		"another order":                      {items{early, late}, 0, items{late, early}, 1},
		"another one before it":              {items{early}, 0, items{tag(), payCodeEdit("Training"), early}, 2},
		"another one beside it":              {items{early}, 0, items{late, early}, 1},
		"two of a kind, the second":          {items{early, early}, 1, items{late, early, early}, 2},
		"it is gone, the other stays":        {items{early, late}, 0, items{late}, -1},
		"it is gone, and a third one comes":  {items{early, late}, 0, items{late, night}, 1},
		"moved by an hour":                   {items{early}, 0, items{shift("07:00", "15:00")}, 0},
		"moved by an hour, beside others":    {items{early, late}, 0, items{late, night, shift("07:00", "15:00")}, 2},
		"replaced by another":                {items{early}, 0, items{night}, 0},
		"replaced by two others":             {items{early}, 0, items{late, night}, -1},
		"the template has other times":       {items{nameItem("E", 4, shift("06:00", "08:00"))}, 0, items{early, nameItem("E", 4, shift("20:00", "22:00"))}, 1},
		"a template of the same name":        {items{nameItem("Early", 0, shift("06:00", "08:00"))}, 0, items{early, nameItem("early", 0, shift("20:00", "22:00"))}, 1},
		"another template, the same name":    {items{nameItem("E", 4, shift("06:00", "08:00")), late}, 0, items{late, nameItem("E", 5, shift("20:00", "22:00")), night}, -1},
		"a pay code edit instead":            {items{early}, 0, items{payCodeEdit("Training")}, -1},
		"a pay code edit and another shift":  {items{payCodeEdit("Training"), early}, 0, items{late, payCodeEdit("Course")}, 1},
		"nothing on the day":                 {items{early}, 0, nil, -1},
		"a shift that nobody touched stays":  {items{early, late}, 0, items{late, late}, 1},
		"the deleted one is the pay code":    {items{early, payCodeEdit("Training")}, 1, items{payCodeEdit("Training"), early}, 0},
		"the other of two that look alike":   {items{early, early, late}, 0, items{early, late}, 0},
		"one of two that look alike is gone": {items{early, early, late}, 1, items{early, late}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hiddenentry.Hide{Series: 500, Entered: hiddenentry.Entered{EmployeeID: 1, Day: 10, LineageID: 3, PatternID: 1, Ordinal: c.deleted}}
			lookup := hiddenentry.Lookup{
				Lineages: map[int64]int64{7: 3},
				Patterns: map[int64]*hiddenentry.Pattern{1: compile(t, c.before), 2: compile(t, c.after)},
			}
			slot := h.Resolve([]span.Span{{From: 5, To: 15, DayCount: 1, PatternID: 2, AssignmentID: 7, Lane: 2, Series: 900}}, lookup)
			if c.hidden < 0 {
				assert.Nil(t, slot)
				return
			}
			assert.Equal(t, &hiddenentry.Slot{Lane: 2, Ordinal: uint8(c.hidden)}, slot)
		})
	}
}

// A deletion stays with the lineage, even if its span moves to another lane.
func TestADeletionFollowsItsLineage(t *testing.T) {
	t.Parallel()
	h := hiddenentry.Hide{Series: 501, Entered: hiddenentry.Entered{EmployeeID: 1, Day: 10, LineageID: 3, PatternID: 1, Ordinal: 1}}
	lookup := hiddenentry.Lookup{Lineages: map[int64]int64{3: 3, 7: 3, 8: 8}}
	of := func(assignment int64, lane uint8, series int64) span.Span {
		return span.Span{From: 5, To: 15, DayCount: 1, PatternID: 1, AssignmentID: assignment, Lane: lane, Series: series}
	}
	away := of(3, 0, 500)
	away.From = 11
	for name, c := range map[string]struct {
		spans []span.Span
		lane  int
	}{
		"none":                      {nil, -1},
		"another assignment":        {[]span.Span{of(8, 0, 500)}, -1},
		"another lane":              {[]span.Span{of(8, 0, 900), of(3, 1, 500)}, 1},
		"split from it":             {[]span.Span{of(7, 2, 700)}, 2},
		"not on the day":            {[]span.Span{away}, -1},
		"the one that had the id":   {[]span.Span{of(7, 0, 700), of(3, 1, 500)}, 1},
		"numbers that are adjacent": {[]span.Span{of(7, 0, 499), of(3, 1, 500), of(7, 2, 502)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			slot := h.Resolve(c.spans, lookup)
			if c.lane < 0 {
				assert.Nil(t, slot)
				return
			}
			assert.Equal(t, &hiddenentry.Slot{Lane: uint8(c.lane), Ordinal: 1}, slot)
		})
	}
}
