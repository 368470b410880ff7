package person

import (
	"cmp"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// termDays is an employment term that a person has on some days.
type termDays struct {
	id   int64
	name string
	days civil.Range
}

// askedTerm is an element of what a caller asks for: the person is put on the
// term for the days, or, without a name, taken off whatever holds on them.
type askedTerm struct {
	path, name string
	// id is that of the term, once it is found.
	id int64
	// days are empty when only original is meant.
	days civil.Range
	// original, unless it is nil, is the first day of an assignment that goes.
	original *civil.Date
}

// ask answers what a person has after a request was carried out. Timekeeping
// does the same with what it knows.
func ask(have []termDays, asked []askedTerm) []termDays {
	if len(asked) == 0 {
		return have
	}
	out := slices.Clone(have)
	for _, a := range asked {
		out = slices.DeleteFunc(out, func(t termDays) bool { return a.original != nil && t.days.From == *a.original })
	}
	for _, a := range asked {
		if a.days.Empty() {
			continue
		}
		var kept []termDays
		for _, t := range out {
			for _, left := range civil.AppendDifference(nil, []civil.Range{t.days}, []civil.Range{a.days}) {
				kept = append(kept, termDays{t.id, t.name, left})
			}
		}
		if out = kept; a.id != 0 {
			out = append(out, termDays{a.id, a.name, a.days})
		}
	}
	slices.SortFunc(out, func(a, b termDays) int { return cmp.Compare(a.days.From, b.days.From) })
	return joinTerms(out)
}

// joinTerms joins neighbours on the same term.
func joinTerms(list []termDays) []termDays {
	out := list[:0]
	for _, t := range list {
		if n := len(out); n > 0 && out[n-1].id == t.id && out[n-1].days.To == t.days.From {
			out[n-1].days.To = t.days.To
			continue
		}
		out = append(out, t)
	}
	return out
}

// showTerms fills in the terms of a person.
func (r *record) showTerms() {
	if len(r.terms) == 0 {
		return
	}
	if r.person.JobAssignment == nil {
		r.person.JobAssignment = &commonsv1.JobAssignment{}
	}
	var shown []*commonsv1.TermAssignment
	for _, t := range r.terms {
		shown = append(shown, &commonsv1.TermAssignment{Name: t.name, StartDate: t.days.From.String(), EndDate: t.days.To.String()})
	}
	r.person.JobAssignment.EmploymentTermAssignments = shown
}
