package leaveday

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

const hour = 3600

func TestCheck(t *testing.T) {
	t.Parallel()
	day := civil.Of(2031, 3, 3)
	half := Deduction{Source: Source{TimeOff, 1}, Parts: amount.PerUnit / 2}
	full := Deduction{Source: Source{LeaveEdit, 2}, Parts: amount.PerUnit}
	seconds := func(n int64) Deduction { return Deduction{Source: Source{TimecardEdit, 3}, Seconds: n} }
	at := func(from, to int32) Deduction {
		return Deduction{Source: Source{TimeOff, 4}, Seconds: int64(to-from) * hour, Start: from * hour, End: to * hour}
	}
	for name, c := range map[string]struct {
		length          int64
		standing, added []Deduction
		code, message   string
	}{
		"two halves":                  {8, []Deduction{half}, []Deduction{half}, "", ""},
		"three halves":                {8, []Deduction{half, half}, []Deduction{half}, CodeDayFull, "2031-03-03 has 8 h, of which 8 h are taken: 4 h by time off request 1, 4 h by time off request 1. It has no room for 4 h."},
		"three halves at once":        {8, nil, []Deduction{half, half, half}, CodeDayFull, "2031-03-03 has 8 h, of which 0 h are taken. It has no room for 12 h."},
		"a half of an odd day":        {7, []Deduction{half}, []Deduction{seconds(7 * hour / 2)}, "", ""},
		"a second too many":           {7, []Deduction{half}, []Deduction{seconds(7*hour/2 + 1)}, CodeDayFull, ""},
		"a day that is full":          {8, []Deduction{full}, []Deduction{seconds(1)}, CodeDayFull, "2031-03-03 has 8 h, of which 8 h are taken: 8 h by leave edit 2. It has no room for 0.0003 h."},
		"nothing on a full day":       {8, []Deduction{full, half}, []Deduction{seconds(0)}, "", ""},
		"a correction of a full day":  {8, []Deduction{full}, []Deduction{seconds(-hour)}, "", ""},
		"what a correction gives":     {8, []Deduction{full, seconds(-hour)}, []Deduction{seconds(hour)}, "", ""},
		"24 hours":                    {8, nil, []Deduction{seconds(24 * hour)}, CodeDayFull, ""},
		"hours that touch":            {8, []Deduction{at(8, 12)}, []Deduction{at(12, 16)}, "", ""},
		"hours that overlap":          {8, []Deduction{at(8, 12)}, []Deduction{at(11, 12)}, CodeOverlap, "On 2031-03-03 the hours from 11:00 to 12:00 overlap those from 08:00 to 12:00 of time off request 4."},
		"hours that overlap at once":  {8, nil, []Deduction{at(8, 12), at(11, 12)}, CodeOverlap, ""},
		"hours beside such that move": {8, []Deduction{at(8, 12)}, []Deduction{seconds(4 * hour)}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := check(day, c.length*hour, c.standing, c.added)
			faulttest.RequireCode(t, c.code, err)
			if c.message != "" {
				assert.Equal(t, c.message, fault.FromError(err).Message)
			}
		})
	}
}

func TestDeductionsOfLeaveEdits(t *testing.T) {
	t.Parallel()
	first := civil.Of(2031, 3, 3)
	days := &Days{known: map[civil.Date]*dayState{
		first:     {length: 8 * hour, work: []interval{{8 * hour, 16 * hour}}},
		first + 1: {length: 6 * hour, work: []interval{{20 * hour, 26 * hour}}},
		first + 2: {length: 8 * hour},
	}}
	segment := func(seconds int64) *timekeepingv1.LeaveSegment {
		return &timekeepingv1.LeaveSegment{AmountInSeconds: &seconds}
	}
	for name, c := range map[string]struct {
		last civil.Date
		edit *timekeepingv1.LeaveEdit
		want []Deduction
	}{
		"without times": {first, &timekeepingv1.LeaveEdit{PaidSegment: segment(hour), TrackingSegment: segment(2 * hour)}, []Deduction{{Day: first, Seconds: 2 * hour}}},
		"a day":         {first, &timekeepingv1.LeaveEdit{PaidSegment: &timekeepingv1.LeaveSegment{SymbolicValue: "HALF_DAY"}}, []Deduction{{Day: first, Parts: amount.PerUnit / 2}}},
		"with times": {
			first, &timekeepingv1.LeaveEdit{PaidSegment: segment(hour), StartDateTime: "2031-03-03T09:00:00.000", EndDateTime: "2031-03-03T10:00:00.000"},
			[]Deduction{{Day: first, Seconds: hour, Start: 9 * hour, End: 10 * hour}},
		},
		"one night": {
			first + 1, &timekeepingv1.LeaveEdit{PaidSegment: segment(8 * hour), StartDateTime: "2031-03-03T22:00:00.000", EndDateTime: "2031-03-04T06:00:00.000"},
			[]Deduction{{Day: first, Seconds: 8 * hour, Start: 22 * hour, End: 30 * hour}},
		},
		"several days take the work between": {
			first + 2, &timekeepingv1.LeaveEdit{PaidSegment: segment(12 * hour), StartDateTime: "2031-03-03T12:00:00.000", EndDateTime: "2031-03-05T10:00:00.000"},
			[]Deduction{
				{Day: first, Seconds: 4 * hour, Start: 12 * hour, End: 24 * hour},
				{Day: first + 1, Seconds: 4 * hour, End: 24 * hour},
				{Day: first + 2, Seconds: 4 * hour, End: 10 * hour},
			},
		},
		"and the rest of the last one": {
			first + 2, &timekeepingv1.LeaveEdit{PaidSegment: segment(40 * hour), StartDateTime: "2031-03-03T12:00:00.000", EndDateTime: "2031-03-05T10:00:00.000"},
			[]Deduction{
				{Day: first, Seconds: 4 * hour, Start: 12 * hour, End: 24 * hour},
				{Day: first + 1, Seconds: 4 * hour, End: 24 * hour},
				{Day: first + 2, Seconds: 32 * hour, End: 10 * hour},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := days.OfLeaveEdit(5, first, c.last, c.edit)
			require.NoError(t, err)
			for i := range c.want {
				c.want[i].Source = Source{LeaveEdit, 5}
			}
			assert.Equal(t, c.want, got)
		})
	}
}
