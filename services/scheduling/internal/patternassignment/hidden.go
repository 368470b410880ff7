package patternassignment

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// maxHidden limits the hidden days in the result of an edit.
const maxHidden = 100

// applyAll returns the current assignments after edits with numbered parts.
func applyAll(now []assignment, edits []edit) []assignment {
	replaced := make(map[int64]bool, len(edits))
	for i := range edits {
		replaced[edits[i].before.id] = true
	}
	list := slices.DeleteFunc(slices.Clone(now), func(a assignment) bool { return replaced[a.id] })
	for i := range edits {
		list = append(list, edits[i].after...)
	}
	return list
}

// hiddenDays returns the days when others hide the result of the edit, and the days when it newly
// hides others. list has the assignments after the edit.
func (e *edit) hiddenDays(list []assignment) []*schedulingv1.HiddenPatternDays {
	var out []*schedulingv1.HiddenPatternDays
	add := func(below, above *assignment, before []civil.Range) {
		common := below.days.Intersect(above.days)
		if below.ownerID != above.ownerID || !above.override || !above.above(below) || common.Empty() {
			return
		}
		for _, days := range civil.AppendDifference(nil, []civil.Range{common}, before) {
			if len(out) < maxHidden {
				out = append(out, hiddenMessage(below.id, above.id, days))
			}
		}
	}
	for i := range e.after {
		part := &e.after[i]
		var before []civil.Range
		if e.before.generatesLike(part) {
			before = []civil.Range{e.before.days}
		}
		for k := range list {
			if other := &list[k]; other.id != part.id && other.id != e.before.id {
				add(part, other, before)
				add(other, part, before)
			}
		}
	}
	return out
}

// above reports whether a is above b.
func (a *assignment) above(b *assignment) bool {
	return a.seq > b.seq || a.seq == b.seq && a.id > b.id
}

// generatesLike reports whether two versions of an assignment differ only in their days.
func (a *assignment) generatesLike(b *assignment) bool {
	return a.id != 0 && a.patternID == b.patternID && a.anchor == b.anchor && a.offset == b.offset &&
		a.override == b.override && a.seq == b.seq
}

func hiddenMessage(below, above int64, days civil.Range) *schedulingv1.HiddenPatternDays {
	m := &schedulingv1.HiddenPatternDays{
		GroupSchedulePatternId: shownID(below), HiddenById: shownID(above), StartDate: days.From.String(),
	}
	if days.To < civil.Forever {
		m.EndDate = days.To.AddDays(-1).String()
	}
	return m
}
