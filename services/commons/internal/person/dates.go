package person

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// settleDates fills in the dates that a caller left out of a list and refuses
// those that disagree. An element begins on first unless it says otherwise. It
// ends never, or, in a list with one element for a day, where the next begins.
func settleDates(l list, elements []element, first civil.Date) error {
	if l.undated {
		return refuseTwice(l, elements)
	}
	ranges := make([]civil.Range, len(elements))
	for i, e := range elements {
		r, err := readDates(fmt.Sprintf("%s[%d]", l.path, i), e, first)
		if err != nil {
			return err
		}
		ranges[i] = r
	}
	for i, e := range elements {
		if l.keys == 0 && *e.expiration == "" {
			ranges[i].To = nextStart(ranges, ranges[i].From)
		}
		if ranges[i].Empty() {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d]: expirationDate %s is not after effectiveDate %s.", l.path, i, ranges[i].To, ranges[i].From))
		}
	}
	if err := refuseOverlaps(l, elements, ranges); err != nil {
		return err
	}
	for i, e := range elements {
		*e.effective, *e.expiration = ranges[i].From.String(), ranges[i].To.String()
	}
	return nil
}

// refuseOverlaps refuses elements that may not hold at the same time.
func refuseOverlaps(l list, elements []element, ranges []civil.Range) error {
	order := make([]int, len(elements))
	keys := make([]string, len(elements))
	for i, e := range elements {
		order[i], keys[i] = i, e.fingerprint(l.keys)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(ranges[a].From, ranges[b].From))
	})
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if keys[a] == keys[b] && ranges[a].Overlaps(ranges[b]) {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d] and %s[%d] overlap.", l.path, min(a, b), l.path, max(a, b)))
		}
	}
	return nil
}

// refuseTwice refuses two elements with the same key.
func refuseTwice(l list, elements []element) error {
	seen := make(map[string]bool, len(elements))
	for i, e := range elements {
		key := e.fingerprint(l.keys)
		if seen[key] {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("%s[%d]: the same %s is there twice.", l.path, i, l.columns[0].property))
		}
		seen[key] = true
	}
	return nil
}

func readDates(path string, e element, first civil.Date) (civil.Range, error) {
	r := civil.Range{From: first, To: civil.Forever}
	var err error
	if *e.effective != "" {
		if r.From, err = civil.ParseDate(*e.effective); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.effectiveDate: %s.", path, err))
		}
	}
	if *e.expiration != "" {
		if r.To, err = civil.ParseDate(*e.expiration); err != nil {
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
