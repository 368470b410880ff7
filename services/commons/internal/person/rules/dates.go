package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

// normaliseDates fills in the missing dates of a list and refuses contradictory ones. By
// default, an element starts on first. It ends never or, in a list with one element for a
// day, when the next one starts.
func normaliseDates(l record.List, elements []record.Element, first civil.Date) error {
	if l.Undated {
		return checkDuplicates(l, elements)
	}
	ranges := make([]civil.Range, len(elements))
	for i, e := range elements {
		r, err := readDates(l, i, e, first)
		if err != nil {
			return err
		}
		ranges[i] = r
	}
	for i, e := range elements {
		if _, expiration := l.Dates(e); l.Keys == 0 && expiration == "" {
			ranges[i].To = nextStart(ranges, ranges[i].From)
		}
		if ranges[i].Empty() {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d]: expirationDate %s is not after effectiveDate %s.", l.Path, i, ranges[i].To, ranges[i].From))
		}
	}
	if err := checkOverlaps(l, elements, ranges); err != nil {
		return err
	}
	for i, e := range elements {
		l.SetDates(e, ranges[i].From.String(), ranges[i].To.String())
	}
	return nil
}

// checkOverlaps refuses elements that overlap and may not apply at the same time.
func checkOverlaps(l record.List, elements []record.Element, ranges []civil.Range) error {
	order := make([]int, len(elements))
	keys := make([]string, len(elements))
	for i, e := range elements {
		order[i], keys[i] = i, l.Fingerprint(e, l.Keys)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(ranges[a].From, ranges[b].From))
	})
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		if keys[a] == keys[b] && ranges[a].Overlaps(ranges[b]) {
			return fault.Invalid(CodeDates, fmt.Sprintf("%s[%d] and %s[%d] overlap.", l.Path, min(a, b), l.Path, max(a, b)))
		}
	}
	return nil
}

// checkDuplicates refuses two elements with the same key.
func checkDuplicates(l record.List, elements []record.Element) error {
	seen := make(map[string]bool, len(elements))
	for i, e := range elements {
		key := l.Fingerprint(e, l.Keys)
		if seen[key] {
			return fault.Invalid(CodeBadValue, fmt.Sprintf("%s[%d]: the same %s is there twice.", l.Path, i, l.Columns[0].Path))
		}
		seen[key] = true
	}
	return nil
}

func readDates(l record.List, i int, e record.Element, first civil.Date) (civil.Range, error) {
	path := fmt.Sprintf("%s[%d]", l.Path, i)
	effective, expiration := l.Dates(e)
	r := civil.Range{From: first, To: civil.Forever}
	var err error
	if effective != "" {
		if r.From, err = civil.ParseDate(effective); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.effectiveDate: %s.", path, err))
		}
	}
	if expiration != "" {
		if r.To, err = civil.ParseDate(expiration); err != nil {
			return r, fault.Invalid(fault.CodeDate, fmt.Sprintf("%s.expirationDate: %s.", path, err))
		}
	}
	return r.Clamp(), nil
}

// refuseUselessBadges refuses sent badges on days of terminated employment only, because such badges end.
func refuseUselessBadges(r *record.Record, sent []*commonsv1.BadgeAssignment) error {
	terminated := r.TerminatedDays()
	for i, b := range sent {
		days := record.CheckedRange(record.EffectiveDates(b))
		if len(civil.AppendDifference(nil, []civil.Range{days}, terminated)) == 0 {
			return fault.Invalid(CodeDates, fmt.Sprintf("personInformation.badgeAssignments[%d]: the employment is terminated on all days of the badge.", i))
		}
	}
	return nil
}

// nextStart returns the first start after a day, or forever.
func nextStart(ranges []civil.Range, after civil.Date) civil.Date {
	next := civil.Forever
	for _, r := range ranges {
		if r.From > after {
			next = min(next, r.From)
		}
	}
	return next
}
