package civil

import (
	"fmt"
	"math"
	"time"
)

// Date is a day of the proleptic Gregorian calendar, counted from 1970-01-01 (which is the zero value). It
// has no zone and no time of day. Dates compare with the ordinary operators, and the number of days from a
// to b is b - a.
type Date int32

// The supported calendar ends at these two days. Forever means "without end"; [Date.Clamp] moves
// dates outside to the nearer end.
const (
	Beginning Date = -25567 // 1900-01-01
	Forever   Date = 376200 // 3000-01-01
)

// SecondsPerDay is the length of a civil day on the clock face. The real length of a day with a clock
// change differs; see [Zone.Elapsed].
const SecondsPerDay = 86400

const (
	daysPerEra  = 146097 // days in 400 Gregorian years
	yearsPerEra = 400
	// epochShift is the number of days from 0000-03-01, where the arithmetic below starts so that the leap
	// day is the last day of its year, to 1970-01-01.
	epochShift = 719468
	// eraShift eras are added before dividing, so that every int32 becomes positive.
	eraShift = 14700
)

// Of returns the date of a year, month and day. A month or day outside its usual range counts on from
// there, as in [time.Date]: day 0 of March is the last day of February.
func Of(year int, month time.Month, day int) Date {
	months := int64(year)*12 + int64(month) - 1
	return fromCivil(floorDiv(months, 12), floorMod(months, 12)+1, int64(day))
}

// FromTime returns the date that t shows in its own location.
func FromTime(t time.Time) Date {
	year, month, day := t.Date()
	return Of(year, month, day)
}

// Time returns midnight UTC of d, the form of a date in database drivers. It is not an instant of
// any employee's day; use [Zone.Resolve] for that.
func (d Date) Time() time.Time { return time.Unix(int64(d)*SecondsPerDay, 0).UTC() }

// Civil returns the year, month and day of d.
func (d Date) Civil() (year int, month time.Month, day int) {
	// Neri and Schneider, "Euclidean affine functions and their application to calendar algorithms" (2022):
	// multiplications and shifts instead of the divisions of the usual formula, exact for every int32.
	n := uint64(int64(d) + epochShift + eraShift*daysPerEra)
	century := (4*n + 3) / daysPerEra
	dayOfCentury := (4*n + 3) % daysPerEra / 4
	product := 2939745 * (4*dayOfCentury + 3)
	yearOfCentury := product >> 32
	dayOfYear := uint64(uint32(product)) / 2939745 / 4
	monthDay := 2141*dayOfYear + 197913
	m, y := monthDay>>16, 100*century+yearOfCentury
	if dayOfYear >= 306 { // January and February belong to the next civil year
		m, y = m-12, y+1
	}
	return int(y) - eraShift*yearsPerEra, time.Month(m), int(monthDay&0xffff)/2141 + 1
}

// AddDays returns the date n days after d, or before it when n is negative. It stops at the ends of the
// type's range.
func (d Date) AddDays(n int) Date {
	return Date(max(math.MinInt32, min(math.MaxInt32, int64(d)+int64(n))))
}

// Weekday returns the day of the week of d.
func (d Date) Weekday() time.Weekday {
	return time.Weekday(floorMod(int64(d)+int64(time.Thursday), 7)) // 1970-01-01 was a Thursday
}

// Clamp returns the date in [[Beginning], [Forever]] that is nearest to d.
func (d Date) Clamp() Date { return max(Beginning, min(Forever, d)) }

// At returns the wall-clock time on d at seconds after its midnight, which may exceed a day.
func (d Date) At(seconds int32) DateTime { return DateTime{Date: d, Seconds: seconds} }

// Append appends d as YYYY-MM-DD. Years that do not fit into four digits get a sign, as in ISO 8601.
func (d Date) Append(dst []byte) []byte {
	year, month, day := d.Civil()
	if year < 0 || year > 9999 {
		dst = appendWideYear(dst, year)
		return append(dst, '-', tens(int(month)), ones(int(month)), '-', tens(day), ones(day))
	}
	high, low := year/100, year%100
	return append(dst, tens(high), ones(high), tens(low), ones(low),
		'-', tens(int(month)), ones(int(month)), '-', tens(day), ones(day))
}

// String returns d as YYYY-MM-DD.
func (d Date) String() string { return string(d.Append(make([]byte, 0, len("2006-01-02")))) }

func fromCivil(year, month, day int64) Date {
	if month <= 2 {
		month, year = month+12, year-1
	}
	era := floorDiv(year, yearsPerEra)
	yearOfEra := year - era*yearsPerEra
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	days := era*daysPerEra + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - epochShift
	return Date(max(math.MinInt32, min(math.MaxInt32, days)))
}

func appendWideYear(dst []byte, year int) []byte {
	if year < 0 {
		return fmt.Appendf(dst, "-%04d", -year)
	}
	return fmt.Appendf(dst, "+%d", year)
}

// tens and ones are the two digits of a number below 100. Unsigned, because that divides faster.
func tens(n int) byte { return '0' + uint8(n)/10 }

func ones(n int) byte { return '0' + uint8(n)%10 }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}
