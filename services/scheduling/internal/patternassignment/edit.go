package patternassignment

import (
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// An edit says what becomes of an assignment: it goes on as the one part that
// has its id, further parts get ids of their own, and without parts it is gone.
// Nothing in here knows a database.
type edit struct {
	before assignment
	after  []assignment
	// shown is the index in after of the part that responses show.
	shown int
}

// same is the edit that changes nothing.
func same(a assignment) edit { return edit{before: a, after: []assignment{a}} }

// changes reports whether there is anything to store.
func (e *edit) changes() bool { return len(e.after) != 1 || e.after[0] != e.before }

// replacement is what a new pattern brings. Dates that are nil stay as they
// are in the assignment that it replaces.
type replacement struct {
	start, to     *civil.Date
	offset        int32
	dayCount      int32
	entriesPerDay int32
	// anchor is the pattern's own start date.
	anchor *civil.Date
}

// on returns the assignment with the replacement on days. Its pattern is to be
// stored. It stays where it lies: a base rotation that changes does not come to lie
// above the special one that somebody put on it later.
func (r *replacement) on(a assignment, days civil.Range) assignment {
	a.days = days
	a.patternID, a.dayCount, a.entriesPerDay, a.offset = 0, r.dayCount, r.entriesPerDay, r.offset
	a.anchor = days.From
	if r.anchor != nil {
		a.anchor = *r.anchor
	}
	return a
}

// recreate replaces an assignment over its whole range, or over the dates that
// the replacement brings.
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
	return edit{before: a, after: []assignment{r.on(a, days)}}, nil
}

// asOf ends an assignment the day before a date and lets the replacement begin
// on it. On the first day that replaces the whole assignment.
func (k *Kind) asOf(path string, a assignment, date civil.Date, r *replacement) (edit, error) {
	if !a.days.Contains(date) {
		return edit{}, patterndefinition.Invalid(path+".date", "must be a day of the assignment %d, which has %s", a.id, daysText(a.days))
	}
	days := civil.Range{From: date, To: a.days.To}
	if r.to != nil {
		days.To = *r.to
		if err := k.checkDays(path+"."+k.pattern, days); err != nil {
			return edit{}, err
		}
	}
	if date == a.days.From {
		return edit{before: a, after: []assignment{r.on(a, days)}}, nil
	}
	old, changed := a, r.on(a, days)
	old.days.To = date
	changed.id = 0
	return edit{before: a, after: []assignment{old, changed}, shown: 1}, nil
}

// endOn sets the day after the last day.
func (k *Kind) endOn(path string, a assignment, to civil.Date) (edit, error) {
	if to <= a.days.From {
		return edit{}, fault.New(k.codeEnd, http.StatusBadRequest,
			fmt.Sprintf("%s.date must not be before %s, the startDate of %d.", path, a.days.From, a.id))
	}
	e := same(a)
	e.after[0].days.To = to
	return e, nil
}

// without takes days away. What is left of an assignment may be shorter, in two
// parts, or nothing.
func without(a assignment, days civil.Range) edit {
	left := civil.AppendDifference(nil, []civil.Range{a.days}, []civil.Range{days})
	e := edit{before: a}
	for i, part := range left {
		kept := a
		kept.days = part
		if i > 0 {
			kept.id = 0
		}
		e.after = append(e.after, kept)
	}
	return e
}

// daysText names days for people.
func daysText(days civil.Range) string {
	if days.To >= civil.Forever {
		return fmt.Sprintf("the days from %s on", days.From)
	}
	return fmt.Sprintf("the days %s to %s", days.From, days.To.AddDays(-1))
}
