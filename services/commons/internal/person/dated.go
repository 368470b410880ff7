package person

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// dated is an element of an effective-dated list: a pointer to the two dates
// of its message, effective included, expiration excluded.
type dated struct {
	effective, expiration *string
}

// settleDates fills in the dates that a caller left out and refuses those that
// disagree. An element begins on first unless it says otherwise, and ends
// where the next one begins, or never. With single, the list has at most one
// element for a day.
func settleDates(path string, list []dated, first civil.Date, single bool) error {
	ranges := make([]civil.Range, len(list))
	for i, d := range list {
		r, err := readDates(fmt.Sprintf("%s[%d]", path, i), d, first)
		if err != nil {
			return err
		}
		ranges[i] = r
	}
	for i, d := range list {
		if single && *d.expiration == "" {
			ranges[i].To = nextStart(ranges, ranges[i].From)
		}
		if ranges[i].Empty() {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d]: expirationDate %s is not after effectiveDate %s.", path, i, ranges[i].To, ranges[i].From))
		}
	}
	for i := range ranges {
		for j := range i {
			if single && ranges[i].Overlaps(ranges[j]) {
				return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d] and %s[%d] overlap.", path, j, path, i))
			}
		}
	}
	for i, d := range list {
		*d.effective, *d.expiration = ranges[i].From.String(), ranges[i].To.String()
	}
	return nil
}

func readDates(path string, d dated, first civil.Date) (civil.Range, error) {
	r := civil.Range{From: first, To: civil.Forever}
	var err error
	if *d.effective != "" {
		if r.From, err = civil.ParseDate(*d.effective); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.effectiveDate: %s.", path, err))
		}
	}
	if *d.expiration != "" {
		if r.To, err = civil.ParseDate(*d.expiration); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.expirationDate: %s.", path, err))
		}
	}
	return r.Clamp(), nil
}

// nextStart answers the first start after a day, or forever.
func nextStart(ranges []civil.Range, after civil.Date) civil.Date {
	next := civil.Forever
	for _, r := range ranges {
		if r.From > after {
			next = min(next, r.From)
		}
	}
	return next
}
