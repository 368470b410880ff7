package patternassignment

import (
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// edit is the change of an assignment. The part with its id continues it; other parts get new ids;
// without parts the assignment is removed. This file does not use the database.
type edit struct {
	before assignment
	after  []assignment
	// shown is the index in after of the part that responses show.
	shown int
	// definition is the pattern of the parts whose patternID is 0 because it is not stored yet.
	definition *patterndefinition.Definition
}

// emptyEdit returns an edit that changes nothing.
func emptyEdit(a assignment) edit { return edit{before: a, after: []assignment{a}} }

// changes reports whether there is anything to store.
func (e *edit) changes() bool { return len(e.after) != 1 || e.after[0] != e.before }

// replacement is a new pattern for an assignment. Dates that are nil keep the dates of the
// assignment.
type replacement struct {
	start, to     *civil.Date
	offset        int32
	dayCount      int32
	entriesPerDay int32
	// anchor is the start date of the pattern itself.
	anchor *civil.Date
}

// apply returns the assignment with the replacement on days. Its pattern is not stored yet. It
// keeps its layer: a changed base rotation does not move above a special one that was added later.
func (r *replacement) apply(a assignment, days civil.Range) assignment {
	a.days = days
	a.patternID, a.dayCount, a.entriesPerDay, a.offset = 0, r.dayCount, r.entriesPerDay, r.offset
	a.anchor = days.From
	if r.anchor != nil {
		a.anchor = *r.anchor
	}
	return a
}

// recreate replaces an assignment on its whole range, or on the dates of the replacement.
func (k *Kind) recreate(path string, a assignment, r *replacement) (edit, error) {
	days := a.days
	if r.start != nil {
		days.From = *r.start
	}
	if r.to != nil {
		days.To = *r.to
	}
	if days != a.days {
		if err := k.checkDays(path, days); err != nil {
			return edit{}, err
		}
	}
	return edit{before: a, after: []assignment{r.apply(a, days)}}, nil
}

// replaceFrom ends an assignment the day before a date, and begins the replacement on that date. On the
// first day it replaces the whole assignment.
func (k *Kind) replaceFrom(path string, a assignment, date civil.Date, r *replacement) (edit, error) {
	if !a.days.Contains(date) {
		return edit{}, patterndefinition.Invalid(path+".date", "must be a day of the assignment %d, which has %s", a.id, a.days.Words())
	}
	days := civil.Range{From: date, To: a.days.To}
	if r.to != nil {
		days.To = *r.to
		if err := k.checkDays(path+"."+k.pattern, days); err != nil {
			return edit{}, err
		}
	}
	if date == a.days.From {
		return edit{before: a, after: []assignment{r.apply(a, days)}}, nil
	}
	old, next := a, r.apply(a, days)
	old.days.To = date
	next.id = 0
	return edit{before: a, after: []assignment{old, next}, shown: 1}, nil
}

// endOn sets the day after the last day.
func (k *Kind) endOn(path string, a assignment, to civil.Date) (edit, error) {
	if to <= a.days.From {
		return edit{}, fault.New(k.codeEnd, http.StatusBadRequest,
			fmt.Sprintf("%s.date must not be before %s, the startDate of %d.", path, a.days.From, a.id))
	}
	e := emptyEdit(a)
	e.after[0].days.To = to
	return e, nil
}

// removeDays removes days from an assignment. The result can be shorter, in two parts, or empty.
func removeDays(a assignment, days civil.Range) edit {
	remaining := civil.AppendDifference(nil, []civil.Range{a.days}, []civil.Range{days})
	e := edit{before: a}
	for i, part := range remaining {
		rest := a
		rest.days = part
		if i > 0 {
			rest.id = 0
		}
		e.after = append(e.after, rest)
	}
	return e
}
