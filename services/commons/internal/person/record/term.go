package record

import (
	"cmp"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// TermAssignment is an employment term that a person has on some days.
type TermAssignment struct {
	ID   int64
	Name string
	Days civil.Range
}

// TermRequest is an element of a request for employment terms. It assigns the person to the
// term for the days or, without a name, removes any assignment on them.
type TermRequest struct {
	Path, Name string
	// ID is the id of the term, after it was found.
	ID int64
	// Days are empty if the element only removes the assignment that starts on OriginalStart.
	Days civil.Range
	// OriginalStart is the first day of an assignment to remove, or nil.
	OriginalStart *civil.Date
}

// ApplyTermRequests returns the terms of a person after a request. Timekeeping computes the
// same from its own data.
func ApplyTermRequests(have []TermAssignment, asked []TermRequest) []TermAssignment {
	if len(asked) == 0 {
		return have
	}
	out := slices.Clone(have)
	for _, a := range asked {
		out = slices.DeleteFunc(out, func(t TermAssignment) bool { return a.OriginalStart != nil && t.Days.From == *a.OriginalStart })
	}
	for _, a := range asked {
		if a.Days.Empty() {
			continue
		}
		var kept []TermAssignment
		for _, t := range out {
			for _, left := range civil.AppendDifference(nil, []civil.Range{t.Days}, []civil.Range{a.Days}) {
				kept = append(kept, TermAssignment{t.ID, t.Name, left})
			}
		}
		if out = kept; a.ID != 0 {
			out = append(out, TermAssignment{a.ID, a.Name, a.Days})
		}
	}
	slices.SortFunc(out, func(a, b TermAssignment) int { return cmp.Compare(a.Days.From, b.Days.From) })
	return MergeAdjacentTerms(out)
}

// MergeAdjacentTerms joins adjacent assignments to the same term.
func MergeAdjacentTerms(list []TermAssignment) []TermAssignment {
	out := list[:0]
	for _, t := range list {
		if n := len(out); n > 0 && out[n-1].ID == t.ID && out[n-1].Days.To == t.Days.From {
			out[n-1].Days.To = t.Days.To
			continue
		}
		out = append(out, t)
	}
	return out
}

// FillTerms fills in the terms of a person.
func (r *Record) FillTerms() {
	if len(r.Terms) == 0 {
		return
	}
	if r.Message.JobAssignment == nil {
		r.Message.JobAssignment = &commonsv1.JobAssignment{}
	}
	var shown []*commonsv1.TermAssignment
	for _, t := range r.Terms {
		shown = append(shown, &commonsv1.TermAssignment{Name: t.Name, StartDate: t.Days.From.String(), EndDate: t.Days.To.String()})
	}
	r.Message.JobAssignment.EmploymentTermAssignments = shown
}
