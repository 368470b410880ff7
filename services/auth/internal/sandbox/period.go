package sandbox

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// period is a duration of ISO 8601: parts of the calendar, and a time.
type period struct {
	months, days int
	time         time.Duration
}

// periodForm matches durations of ISO 8601 with whole numbers. The digits are limited so that no sum
// overflows.
var periodForm = regexp.MustCompile(`^P(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$`)

// parsePeriod parses a duration of ISO 8601 that is longer than zero.
func parsePeriod(text string) (period, error) {
	invalid := fault.Invalid(CodeInvalid, fmt.Sprintf("advance: %q is not a duration. Write one that is longer than zero, such as P1Y, P2M10D or PT8H.", text)).WithMembers("advance")
	parts := periodForm.FindStringSubmatch(text)
	if parts == nil || text[len(text)-1] == 'T' {
		return period{}, invalid
	}
	var n [7]int
	for i := range n {
		n[i], _ = strconv.Atoi(parts[i+1]) // An absent part is 0, and the form limits the digits.
	}
	if n == [7]int{} {
		return period{}, invalid
	}
	return period{
		months: n[0]*12 + n[1], days: n[2]*7 + n[3],
		time: time.Duration(n[4])*time.Hour + time.Duration(n[5])*time.Minute + time.Duration(n[6])*time.Second,
	}, nil
}

// after returns the time that is a period later. It adds months first, and then the rest. A month
// that is too short for the day ends at its last day.
func (p period) after(t time.Time) time.Time {
	year, month, day := t.Date()
	first := time.Date(year, month+time.Month(p.months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	day = min(day, first.AddDate(0, 1, -1).Day())
	return first.AddDate(0, 0, day-1+p.days).Add(p.time)
}
