package civil

import (
	"fmt"
	"time"
)

// ParseError means that a text does not have the accepted form.
type ParseError struct {
	Form string // the accepted form, such as YYYY-MM-DD
	Text string // the rejected text, truncated
}

// Error names the text and the form.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%q does not have the form %s", e.Text, e.Form)
}

const (
	dateForm     = "YYYY-MM-DD"
	clockForm    = "HH:MM[:SS[.fff]]"
	dateTimeForm = "YYYY-MM-DDTHH:MM:SS[.fff]"
	instantForm  = "YYYY-MM-DDTHH:MM:SS[.fff](Z|+HH:MM)"

	// maxFraction is the largest number of fractional digits that common clocks write.
	maxFraction = 9
)

type text interface{ ~string | ~[]byte }

// ParseDate parses YYYY-MM-DD and nothing else: four, two and two digits, and an existing day. The
// error is a *[ParseError].
func ParseDate[T text](s T) (Date, error) {
	if d, ok := date(s); ok {
		return d, nil
	}
	return 0, refuse(s, dateForm)
}

// ParseTimeOfDay parses HH:MM, HH:MM:SS or HH:MM:SS with a fraction, 00:00 to 23:59:59. Schedules
// are exact to the second: it checks the fraction, of up to nine digits, and drops it. The error is
// a *[ParseError].
func ParseTimeOfDay[T text](s T) (TimeOfDay, error) {
	if c, ok := clock(s, 0, true); ok {
		return c, nil
	}
	return 0, refuse(s, clockForm)
}

// ParseDateTime parses YYYY-MM-DDTHH:MM:SS with or without a fraction, which it treats like
// [ParseTimeOfDay]. It rejects a zone, because a wall-clock time has none. The error is a
// *[ParseError].
func ParseDateTime[T text](s T) (DateTime, error) {
	const at = len(dateForm)
	if len(s) > at && s[at] == 'T' {
		d, dateOK := date(s[:at])
		c, clockOK := clock(s, at+1, false)
		if dateOK && clockOK {
			return d.At(int32(c)), nil
		}
	}
	return DateTime{}, refuse(s, dateTimeForm)
}

// ParseInstant parses a moment of RFC 3339: a date and time as for [ParseDateTime], and Z or an offset
// of up to 23:59. The result is in UTC, exact to the nanosecond, in the years 1 to 9999. The error is
// a *[ParseError].
func ParseInstant[T text](s T) (time.Time, error) {
	if local, zone, ok := cutZone(s); ok {
		_, err := ParseDateTime(local)
		_, zoneOK := clock(zone, 0, true)
		if err == nil && zoneOK {
			moment, err := time.Parse(time.RFC3339Nano, string(s))
			if moment = moment.UTC(); err == nil && moment.Year() >= 1 && moment.Year() <= 9999 {
				return moment, nil
			}
		}
	}
	return time.Time{}, refuse(s, instantForm)
}

// ParseDateOrInstant parses a date, which is its first moment in UTC, or else a moment as
// [ParseInstant] does. The error is a *[ParseError].
func ParseDateOrInstant[T text](s T) (time.Time, error) {
	if d, ok := date(s); ok && d.Time().Year() >= 1 {
		return d.Time(), nil
	}
	return ParseInstant(s)
}

// cutZone splits a moment into its date and time, and the hours and minutes of its offset.
func cutZone[T text](s T) (local, zone string, ok bool) {
	const offset = len("+HH:MM")
	if n := len(s); n > len("YYYY-MM-DDTHH:MM:SS.")+maxFraction+offset {
		return "", "", false
	} else if n > 0 && s[n-1] == 'Z' {
		return string(s[:n-1]), "00:00", true
	} else if n > offset && (s[n-offset] == '+' || s[n-offset] == '-') {
		return string(s[:n-offset]), string(s[n-offset+1:]), true
	}
	return "", "", false
}

func date[T text](s T) (Date, bool) {
	if len(s) != len(dateForm) || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	century, ok1 := twoDigits(s, 0)
	year, ok2 := twoDigits(s, 2)
	month, ok3 := twoDigits(s, 5)
	day, ok4 := twoDigits(s, 8)
	year += 100 * century
	if !ok1 || !ok2 || !ok3 || !ok4 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return fromCivil(int64(year), int64(month), int64(day)), true
}

// clock parses the time of day in s from at to the end.
func clock[T text](s T, at int, secondsOptional bool) (TimeOfDay, bool) {
	const minutes, seconds = len("HH:MM"), len("HH:MM:SS")
	n := len(s) - at
	if n < minutes || s[at+2] != ':' {
		return 0, false
	}
	h, ok1 := twoDigits(s, at)
	m, ok2 := twoDigits(s, at+3)
	if !ok1 || !ok2 || h > 23 || m > 59 {
		return 0, false
	}
	whole := TimeOfDay(h*3600 + m*60)
	if n == minutes {
		return whole, secondsOptional
	}
	if n < seconds || s[at+5] != ':' {
		return 0, false
	}
	sec, ok := twoDigits(s, at+6)
	return whole + TimeOfDay(sec), ok && sec <= 59 && fraction(s, at+seconds)
}

// fraction reports whether s from at on is empty or a point with one to nine digits.
func fraction[T text](s T, at int) bool {
	if at == len(s) {
		return true
	}
	digits := len(s) - at - 1
	if s[at] != '.' || digits < 1 || digits > maxFraction {
		return false
	}
	for i := at + 1; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func twoDigits[T text](s T, at int) (int, bool) {
	high, low := s[at]-'0', s[at+1]-'0'
	return int(high)*10 + int(low), high <= 9 && low <= 9
}

func daysIn(year, month int) int {
	switch time.Month(month) {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

func refuse[T text](s T, form string) error {
	const limit = 40
	return &ParseError{Form: form, Text: string(s[:min(len(s), limit)])}
}
