package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// A segment has an id that no other one has, of whatever shift, day or employee, and
// that is the same whenever and however it is read.
func TestSegmentsHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	early := shift(1, "06:00", "14:00", segment("06:00", "10:00", regular()), segment("10:00", "10:30", pause()), segment("10:30", "14:00", regular()))
	late := shift(1, "14:00", "22:00", segment("14:00", "18:00", regular()), segment("18:00", "22:00", regular()))
	late.AvailabilityTemplate = &schedulingv1.AvailabilityTemplate{Segments: []*schedulingv1.AvailabilityTemplateSegment{
		{AvailabilityType: ref(1, "Available"), StartTime: "00:00:00", EndTime: "12:00:00"},
		{AvailabilityType: ref(2, "Preferred"), StartTime: "12:00:00", EndTime: "00:00:00"},
	}}
	id := f.pattern(cycle(1, early, late))
	for _, employee := range []int64{54, 55} {
		f.employee(employee, "Europe/Zurich")
		f.span(span{employee: employee, from: "2025-03-01", to: "3000-01-01", pattern: id, lane: int(employee - 54), assignment: 99, propagations: 12})
	}

	whole := f.read(window("2025-03-03", "2025-03-05", nil, 54, 55))
	starts := map[int64]string{}
	for _, s := range whole.GetShifts().GetShifts() {
		for _, piece := range s.GetSegments() {
			assert.Empty(t, starts[piece.GetId()], "the id %d", piece.GetId())
			starts[piece.GetId()] = s.GetEmployee().GetQualifier() + piece.GetStartDateTime()
		}
	}
	assert.Len(t, starts, 2*3*5)
	for _, a := range whole.GetAvailabilities().GetAvailabilities() {
		for _, piece := range a.GetSegments() {
			assert.Empty(t, starts[piece.GetId()], "the id %d", piece.GetId())
			starts[piece.GetId()] = a.GetDate()
		}
	}

	merged := window("2025-03-04", "2025-03-04", nil, 55)
	merged.Where.ExcludeBreaks = proto.Bool(true)
	found := 0
	for _, s := range f.read(merged).GetShifts().GetShifts() {
		for _, piece := range s.GetSegments() {
			assert.Equal(t, starts[piece.GetId()], s.GetEmployee().GetQualifier()+piece.GetStartDateTime())
			found++
		}
	}
	assert.Equal(t, 4, found)
}
