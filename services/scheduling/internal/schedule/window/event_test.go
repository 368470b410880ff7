package window

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// The published shifts of a pattern have the days, ordinals and times of the generated entries,
// from which the ids are computed.
func TestPatternsArePublishedAsTheyAreGenerated(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := &schedulingv1.SchedulePattern{DayCount: proto.Int32(3)}
		for range rapid.IntRange(1, 8).Draw(t, "items") {
			item := &schedulingv1.SchedulePatternItem{Day: proto.Int32(rapid.Int32Range(1, 3).Draw(t, "day"))}
			if rapid.Bool().Draw(t, "shift") {
				item.ShiftTemplate = &schedulingv1.ShiftTemplate{StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00"}
			}
			if item.ShiftTemplate == nil || rapid.Bool().Draw(t, "edit") {
				item.PayCodeEditTemplate = &schedulingv1.PayCodeEditTemplate{StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00"}
			}
			p.Items = append(p.Items, item)
		}
		made, err := Compile(p, false)
		require.NoError(t, err)
		events, err := scheduleevent.Pattern(1, 9, 0, p)
		require.NoError(t, err)
		published := map[[2]int32]bool{}
		for _, e := range events {
			for _, s := range e.(*schedulingv1.PatternStored).GetShifts() {
				published[[2]int32{s.GetCycleDay(), s.GetOrdinal()}] = true
			}
		}
		shifts := 0
		for day := range int32(3) {
			for _, e := range made.Cycle.Day(day) {
				if e.Kind == rotation.Shift {
					shifts++
					assert.True(t, published[[2]int32{day, int32(e.Ordinal)}], "day %d, ordinal %d", day, e.Ordinal)
				}
			}
		}
		assert.Len(t, published, shifts)
	})
}
