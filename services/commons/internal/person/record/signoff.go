package record

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// signedOffText returns the end of the sign-offs in the form of responses, or "".
func (r *Record) signedOffText() string {
	if r.SignedOff == nil {
		return ""
	}
	return r.SignedOff.String() + "T00:00:00"
}

// fillSignedOff shows the last signed-off day instead of a stored one.
func (r *Record) fillSignedOff() {
	if details := r.Details(); details != nil && r.SignedOff != nil {
		details.ManagerSignoffThruDateTime = r.signedOffText()
	}
}

// clearSignedOff clears a sent day that equals the last signed-off one, which is not stored.
func (r *Record) clearSignedOff(old *Record) {
	if details := r.Details(); details.GetManagerSignoffThruDateTime() != "" && details.GetManagerSignoffThruDateTime() == old.signedOffText() {
		details.ManagerSignoffThruDateTime = ""
	}
}

// wageTables are the tables with wages of persons.
var wageTables = []string{"base_wage_rate", "wage_work_rule"}

// SameWages reports whether two records have the same wages, and the same work rules by job, on some days.
func SameWages(a, b *Record, days civil.Range) bool {
	for _, l := range Tables() {
		if slices.Contains(wageTables, l.Table) && !EqualElements(l.elementsOn(a, days), l.elementsOn(b, days)) {
			return false
		}
	}
	return true
}

// elementsOn returns the elements of a list, restricted to some days.
func (l List) elementsOn(r *Record, days civil.Range) []DatedElement {
	var out []DatedElement
	for _, e := range l.DatedElements(r) {
		if e.Days = e.Days.Intersect(days); !e.Days.Empty() {
			out = append(out, e)
		}
	}
	return MergeAdjacent(out)
}
