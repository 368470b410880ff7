package civil

import (
	"math"
	"sort"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/tzdb"
)

// ErrZone means that a name is not in the time zone database.
var ErrZone = tzdb.ErrUnknown

// Zone converts wall-clock times of one time zone into instants. It is immutable and may be shared.
//
// A wall-clock time that a clock change skips moves forward by as much as the clock did: 02:30 on a
// day when 02:00 becomes 03:00 is 03:30. A wall-clock time that a clock change repeats means its
// first occurrence.
//
// A Zone holds the clock changes from 1900 to 3000. Times outside of those years use the offset of
// the nearest one.
type Zone struct {
	location *time.Location
	periods  []period // at least one; ascending
}

// period is a time interval with one offset from UTC, in clock-face seconds of that offset. Only
// the end is needed to find the period of a wall-clock time, because a repeated hour belongs to the
// period that ends in it.
type period struct {
	from   int64 // the clock shows this when the period begins
	until  int64 // the clock would show this when the next period begins
	offset int64 // seconds east of UTC
}

// NewZone returns the zone of a location. It takes about a millisecond: keep the result, or use [Zones].
func NewZone(location *time.Location) *Zone {
	z := &Zone{location: location}
	at := Beginning.AddDays(-2).Time().In(location) // before that day begins anywhere
	for horizon := Forever.AddDays(2).Time(); at.Before(horizon); at = nextChange(at, horizon) {
		_, offset := at.Zone()
		z.add(at.Unix(), int64(offset))
	}
	return z
}

// add records the offset from an instant on.
func (z *Zone) add(instant, offset int64) {
	next := period{from: instant + offset, until: math.MaxInt64, offset: offset}
	if last := len(z.periods) - 1; last < 0 {
		next.from = math.MinInt64
	} else if z.periods[last].offset == offset {
		return // only the abbreviation changed, or nothing
	} else {
		z.periods[last].until = instant + z.periods[last].offset
	}
	z.periods = append(z.periods, next)
}

// nextChange returns an instant after t up to which the offset of t is certain to apply.
func nextChange(t, horizon time.Time) time.Time {
	_, end := t.ZoneBounds()
	if end.IsZero() {
		return horizon
	}
	if !end.After(t) {
		// If a zone follows a rule for all future years, package time ends the last interval of
		// each year 365 days after its first: on 31 December of a leap year, that is in the past.
		return t.AddDate(0, 0, 1)
	}
	return end
}

// LoadZone returns the zone of a name, such as Europe/Zurich, from the embedded time zone database;
// see [tzdb.Load]. Errors for unknown names wrap [ErrZone].
func LoadZone(name string) (*Zone, error) {
	location, err := tzdb.Load(name)
	if err != nil {
		return nil, err
	}
	return NewZone(location), nil
}

// Name returns the name of the zone in the time zone database.
func (z *Zone) Name() string { return z.location.String() }

// Unix returns the instant of a wall-clock time in seconds since 1970-01-01T00:00:00Z.
func (z *Zone) Unix(t DateTime) int64 {
	local := t.local()
	i := z.find(local)
	return local - z.offsetAt(local, i)
}

// Resolve returns the instant of a wall-clock time, as a time in the zone.
func (z *Zone) Resolve(t DateTime) time.Time { return time.Unix(z.Unix(t), 0).In(z.location) }

// Adjust returns what the wall clock shows at the instant of t: t itself, or for a skipped time the
// time that it moves to.
func (z *Zone) Adjust(t DateTime) DateTime {
	local := t.local()
	i := z.find(local)
	if !z.isSkipped(local, i) {
		return t
	}
	return fromLocal(local + z.periods[i].offset - z.periods[i-1].offset)
}

// AfterSkip reports whether a clock change skips a time that moves to t.
func (z *Zone) AfterSkip(t DateTime) bool {
	local := t.local()
	i := z.find(local)
	if i == 0 || z.isSkipped(local, i) {
		return false
	}
	before := local - z.periods[i].offset + z.periods[i-1].offset
	return before >= z.periods[i-1].until && before < z.periods[i].from
}

// Skips reports whether the calendar of the zone leaves out a day, as Samoa did with 2011-12-30: no
// clock in the zone shows a time of that day.
func (z *Zone) Skips(day Date) bool {
	midnight := int64(day) * SecondsPerDay
	i := z.find(midnight)
	return i > 0 && z.isSkipped(midnight, i) && z.periods[i].from >= midnight+SecondsPerDay
}

// Elapsed returns the real seconds from start to end. Across a clock change, that is not the
// difference on the clock face. It is never negative for an end after start: an interval inside a
// skipped hour takes no time.
func (z *Zone) Elapsed(start, end DateTime) int64 {
	seconds := z.Unix(end) - z.Unix(start)
	if seconds < 0 && end.Compare(start) >= 0 {
		return 0
	}
	return seconds
}

// At returns the date and time that calendar and wall clock show at an instant.
func (z *Zone) At(instant time.Time) DateTime {
	_, offset := instant.In(z.location).Zone()
	return fromLocal(instant.Unix() + int64(offset))
}

// Cursor returns a resolver for many wall-clock times in approximate order. It caches the interval
// without clock changes around the last one, so that a time costs two comparisons instead of the
// search of [Zone.Unix].
func (z *Zone) Cursor() Cursor { return Cursor{zone: z} }

// Cursor is a position in a zone's history; it belongs to one goroutine. The zero Cursor is not
// usable; see [Zone.Cursor].
type Cursor struct {
	zone        *Zone
	from, until int64 // clock-face seconds with the same offset
	offset      int64
}

// Unix returns the same as [Zone.Unix].
func (c *Cursor) Unix(t DateTime) int64 {
	local := t.local()
	if local < c.from || local >= c.until {
		c.move(local)
	}
	return local - c.offset
}

// Interval returns the instants of two wall-clock times of one day, given as seconds after its
// midnight. The result equals two calls of Unix.
func (c *Cursor) Interval(day Date, start, end int32) (from, until int64) {
	midnight := int64(day) * SecondsPerDay
	first, last := midnight+int64(start), midnight+int64(end)
	if min(first, last) >= c.from && max(first, last) < c.until {
		return first - c.offset, last - c.offset
	}
	return c.Unix(day.At(start)), c.Unix(day.At(end))
}

// move goes to the interval of local: a period without the repeated hour that belongs to the
// previous one, or a gap.
func (c *Cursor) move(local int64) {
	z := c.zone
	i := z.find(local)
	from, until := z.periods[i].from, z.periods[i].until
	if i > 0 {
		from = max(from, z.periods[i-1].until)
	}
	if z.isSkipped(local, i) {
		from, until = z.periods[i-1].until, z.periods[i].from
	}
	c.from, c.until, c.offset = from, until, z.offsetAt(local, i)
}

// find returns the index of the first period that ends after local: the period of local or, if
// local is skipped, the period after the gap.
func (z *Zone) find(local int64) int {
	return sort.Search(len(z.periods), func(i int) bool { return local < z.periods[i].until })
}

// isSkipped reports whether no clock in the zone ever shows local; i must be find(local).
func (z *Zone) isSkipped(local int64, i int) bool { return local < z.periods[i].from }

// offsetAt returns the offset to subtract from local; i must be find(local). Inside a gap, it is
// the offset before the gap, which moves the time forward by the length of the gap.
func (z *Zone) offsetAt(local int64, i int) int64 {
	if z.isSkipped(local, i) {
		return z.periods[i-1].offset
	}
	return z.periods[i].offset
}

// Zones caches zones. The zero value is ready, and safe for concurrent use. It holds at most as
// many zones as the time zone database has names.
type Zones struct{ byName sync.Map }

// Get returns the zone of a name; see [LoadZone].
func (s *Zones) Get(name string) (*Zone, error) {
	if z, ok := s.byName.Load(name); ok {
		return z.(*Zone), nil
	}
	z, err := LoadZone(name)
	if err != nil {
		return nil, err
	}
	kept, _ := s.byName.LoadOrStore(name, z)
	return kept.(*Zone), nil
}
