package civil

import "time"

// Clocks are the zones of somebody who may move: one zone on all days, or each one from a day on up to the
// first day of the next. Copies share nothing that changes.
type Clocks struct {
	first *Zone
	later []datedZone
}

// datedZone is a zone that holds from a day on.
type datedZone struct {
	from Date
	zone *Zone
}

// NewClocks returns Clocks that show one zone on all days.
func NewClocks(zone *Zone) Clocks { return Clocks{first: zone} }

// From returns Clocks that show another zone from a day on, which is later than those of earlier calls.
func (c Clocks) From(day Date, zone *Zone) Clocks {
	return Clocks{first: c.first, later: append(c.later[:len(c.later):len(c.later)], datedZone{day, zone})}
}

// Moves returns the first days of all zones but the first, ascending.
func (c Clocks) Moves() []Date {
	out := make([]Date, len(c.later))
	for i := range c.later {
		out[i] = c.later[i].from
	}
	return out
}

// Before returns Clocks that keep, from a day on, the zone of the day before it.
func (c Clocks) Before(day Date) Clocks {
	n := len(c.later)
	for n > 0 && c.later[n-1].from >= day {
		n--
	}
	return Clocks{first: c.first, later: c.later[:n:n]}
}

// On returns the zone of a day.
func (c Clocks) On(day Date) *Zone {
	for i := len(c.later) - 1; i >= 0; i-- {
		if c.later[i].from <= day {
			return c.later[i].zone
		}
	}
	return c.first
}

// ZoneAt returns the zone that holds at an instant: the last one on whose clock its first day has begun.
func (c Clocks) ZoneAt(instant time.Time) *Zone {
	for i := len(c.later) - 1; i >= 0; i-- {
		if c.later[i].zone.At(instant).Date >= c.later[i].from {
			return c.later[i].zone
		}
	}
	return c.first
}

// At returns what calendar and clock on the wall show at an instant.
func (c Clocks) At(instant time.Time) DateTime { return c.ZoneAt(instant).At(instant) }

// Unix returns the instant of a wall-clock time, in seconds, in the zone of its day.
func (c Clocks) Unix(t DateTime) int64 { return c.On(t.Normal().Date).Unix(t) }

// Cursor returns a resolver for many intervals that mostly follow one another.
func (c Clocks) Cursor() ClocksCursor { return ClocksCursor{clocks: c, cursor: c.first.Cursor()} }

// ClocksCursor is a [Cursor] in the zone of each day. It belongs to one goroutine.
type ClocksCursor struct {
	clocks Clocks
	cursor Cursor
}

// Interval returns the same as [Cursor.Interval] in the zone of the day, also for what lies on the days after it.
func (c *ClocksCursor) Interval(day Date, start, end int32) (from, until int64) {
	if zone := c.clocks.On(day); zone != c.cursor.zone {
		c.cursor = zone.Cursor()
	}
	return c.cursor.Interval(day, start, end)
}
