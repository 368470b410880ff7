package patternassignment

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// maxHidden bounds what the result of an edit says of hidden days.
const maxHidden = 100

// afterAll is what holds after edits, whose parts are numbered.
func afterAll(now []assignment, edits []edit) []assignment {
	gone := make(map[int64]bool, len(edits))
	for i := range edits {
		gone[edits[i].before.id] = true
	}
	list := slices.DeleteFunc(slices.Clone(now), func(a assignment) bool { return gone[a.id] })
	for i := range edits {
		list = append(list, edits[i].after...)
	}
	return list
}

// hiddenDays returns the days on which others hide what the edit brings, and those
// on which it begins to hide others. The list holds what there is after it.
func (e *edit) hiddenDays(list []assignment) []*schedulingv1.HiddenPatternDays {
	var out []*schedulingv1.HiddenPatternDays
	add := func(below, above *assignment, known []civil.Range) {
		shared := below.days.Intersect(above.days)
		if below.ownerID != above.ownerID || !above.override || !above.above(below) || shared.Empty() {
			return
		}
		for _, days := range civil.AppendDifference(nil, []civil.Range{shared}, known) {
			if len(out) < maxHidden {
				out = append(out, hiddenMessage(below.id, above.id, days))
			}
		}
	}
	for i := range e.after {
		part := &e.after[i]
		var known []civil.Range
		if e.before.generatesLike(part) {
			known = []civil.Range{e.before.days}
		}
		for k := range list {
			if other := &list[k]; other.id != part.id && other.id != e.before.id {
				add(part, other, known)
				add(other, part, known)
			}
		}
	}
	return out
}

// above reports whether a lies above b.
func (a *assignment) above(b *assignment) bool {
	return a.seq > b.seq || a.seq == b.seq && a.id > b.id
}

// generatesLike reports whether two versions of an assignment differ in their days
// at most.
func (a *assignment) generatesLike(b *assignment) bool {
	return a.id != 0 && a.patternID == b.patternID && a.anchor == b.anchor && a.offset == b.offset &&
		a.override == b.override && a.seq == b.seq
}

func hiddenMessage(below, above int64, days civil.Range) *schedulingv1.HiddenPatternDays {
	m := &schedulingv1.HiddenPatternDays{
		GroupSchedulePatternId: proto.Int64(below), HiddenById: proto.Int64(above), StartDate: days.From.String(),
	}
	if days.To < civil.Forever {
		m.EndDate = days.To.AddDays(-1).String()
	}
	return m
}
