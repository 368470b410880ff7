package civil

import "cmp"

// TimeOfDay is a wall-clock time as seconds after midnight, 0 to 86399.
type TimeOfDay int32

// DateTime is a wall-clock time without a zone: Seconds on the clock face after the midnight that
// begins Date. Seconds may be negative or exceed a day: {2026-03-28, 30 h} is 06:00 on the 29th,
// the notation for a night shift that belongs to the 28th. Compare such times with
// [DateTime.Compare], not with ==.
type DateTime struct {
	Date    Date
	Seconds int32
}

// Normal returns the same wall-clock time with Seconds between 0 and 86399.
func (t DateTime) Normal() DateTime {
	return fromLocal(t.local())
}

// Clock returns the date and the time of day that a calendar and a clock on the wall show at t.
func (t DateTime) Clock() (Date, TimeOfDay) {
	n := t.Normal()
	return n.Date, TimeOfDay(n.Seconds)
}

// Compare returns -1, 0 or +1 as t is before, at or after u on the wall.
func (t DateTime) Compare(u DateTime) int { return cmp.Compare(t.local(), u.local()) }

// Append appends t as YYYY-MM-DDTHH:MM:SS.
func (t DateTime) Append(dst []byte) []byte {
	date, clock := t.Clock()
	return clock.Append(append(date.Append(dst), 'T'))
}

// String returns t as YYYY-MM-DDTHH:MM:SS.
func (t DateTime) String() string {
	return string(t.Append(make([]byte, 0, len("2006-01-02T15:04:05"))))
}

// Append appends c as HH:MM:SS.
func (c TimeOfDay) Append(dst []byte) []byte {
	minutes := uint32(c) / 60
	hour, minute, second := int(minutes/60), int(minutes%60), int(uint32(c)%60)
	return append(dst, tens(hour), ones(hour), ':', tens(minute), ones(minute), ':', tens(second), ones(second))
}

// String returns c as HH:MM:SS.
func (c TimeOfDay) String() string { return string(c.Append(make([]byte, 0, len("15:04:05")))) }

// local returns t as clock-face seconds since 1970-01-01T00:00:00 on the wall.
func (t DateTime) local() int64 { return int64(t.Date)*SecondsPerDay + int64(t.Seconds) }

func fromLocal(seconds int64) DateTime {
	return DateTime{
		Date:    Date(floorDiv(seconds, SecondsPerDay)),
		Seconds: int32(floorMod(seconds, SecondsPerDay)),
	}
}
