package window

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// ZoneDays has the days near a window when the clock of a zone may skip a time.
type ZoneDays struct {
	zone  *civil.Zone
	first civil.Date
	near  []bool
}

// ClockChanges finds the days when the clock of a zone changes. It searches the window and the days
// around it that entries can reach, and returns nil if it finds none. The days before and after a
// clock change count, too, because the clock may change at midnight.
func ClockChanges(zone *civil.Zone, days civil.Range) *ZoneDays {
	first, last := days.From.AddDays(-Lookback-1), days.To.AddDays(Lookback+1)
	found := false
	near := make([]bool, last-first+1)
	for day := first; day <= last; day++ {
		if zone.Elapsed(day.At(0), day.AddDays(1).At(0)) == civil.SecondsPerDay {
			continue
		}
		found = true
		for d := max(first, day-1); d <= min(last, day+1); d++ {
			near[d-first] = true
		}
	}
	if !found {
		return nil
	}
	return &ZoneDays{zone: zone, first: first, near: near}
}

// Touches reports whether a clock change is near any day from day to days later.
func (z *ZoneDays) Touches(day civil.Date, days int32) bool {
	if z == nil {
		return false
	}
	for d := day; d <= day.AddDays(int(days)); d++ {
		if i := int(d - z.first); i >= 0 && i < len(z.near) && z.near[i] {
			return true
		}
	}
	return false
}

// Skips reports whether the calendar of the zone omits a day of the window.
func (z *ZoneDays) Skips(day civil.Date) bool { return z.Touches(day, 0) && z.zone.Skips(day) }

// Elapsed returns the elapsed seconds between two times in clock-face seconds since 1970-01-01.
func (z *ZoneDays) Elapsed(start, end int64) int64 {
	day := civil.Date(start / civil.SecondsPerDay)
	if !z.Touches(day, int32(end/civil.SecondsPerDay)-int32(day)) {
		return end - start
	}
	return z.zone.Elapsed(segment.DateTime(start), segment.DateTime(end))
}

// Adjust returns a time in clock-face seconds since 1970-01-01, moved forward if a clock change
// skips it.
func (z *ZoneDays) Adjust(at int64) int64 {
	if !z.Touches(civil.Date(at/civil.SecondsPerDay), 0) {
		return at
	}
	return segment.Seconds(z.zone.Adjust(segment.DateTime(at)))
}

// Forward returns the segments and the end of an entry, with times moved out of clock changes as
// they are when written. Times are seconds after the midnight that begins the day.
func (z *ZoneDays) Forward(day civil.Date, start, end int64, segments []segment.Segment) ([]segment.Segment, int64) {
	if !z.Touches(day, int32(end/civil.SecondsPerDay)) {
		return segments, end
	}
	since := func(at civil.DateTime) int64 { return segment.Seconds(at) - segment.Seconds(day.At(0)) }
	forward := segment.NewForward(z.zone, day.At(int32(start)), day.At(int32(end)))
	moved := slices.Clone(segments)
	for i, s := range segments {
		moved[i].Start, moved[i].End = since(forward.Next(day.At(int32(s.Start)))), since(forward.Next(day.At(int32(s.End))))
	}
	return moved, since(forward.End)
}
