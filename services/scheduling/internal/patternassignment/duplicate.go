package patternassignment

import (
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// CodeDuplicate (409): another assignment of the same owner already generates the same shifts on the
// same days. Change or end that assignment, send override to replace it, or send allowDuplicate to
// create each shift twice.
const CodeDuplicate = "WRL-30601"

// checkDuplicate rejects an assignment if its owner would get each shift twice: one of the others has
// the same pattern in the same position of its cycle, and both are visible on a day. before returns
// the days that had each shift twice before; they are allowed.
func (l *layers) checkDuplicate(path string, others []span.Assignment, added *span.Assignment, before func(other *span.Assignment) []civil.Range) error {
	for i := range others {
		other := &others[i]
		if !generateSame(added, other) {
			continue
		}
		days := visibleTogether(others, added, other)
		if before != nil {
			days = civil.AppendDifference(nil, days, before(other))
		}
		if len(days) == 0 {
			continue
		}
		name := "another schedule pattern of the request"
		if l.stored[other.ID] {
			name = fmt.Sprintf("the %s %d", resourceName, other.ID)
		}
		return fault.Newf(CodeDuplicate, http.StatusConflict, "%s would generate the same shifts again that %s of the %s generates; it has %s. "+
			"Change or end that assignment, or create this one with override to replace it, or with allowDuplicate to have each shift twice.",
			path, name, l.kind.owner, other.Days().Words())
	}
	return nil
}

// generateSame reports whether two assignments generate the same shifts on their common days.
func generateSame(a, b *span.Assignment) bool {
	return a.PatternID == b.PatternID && a.DayCount == b.DayCount &&
		rotation.Position(a.Anchor, a.Offset, a.From, a.DayCount) == rotation.Position(b.Anchor, b.Offset, a.From, b.DayCount)
}

// visibleTogether returns the days on which two assignments of an owner are visible, because no
// assignment above the lower one overrides. list has the other assignments of the owner.
func visibleTogether(list []span.Assignment, a, b *span.Assignment) []civil.Range {
	lower, upper := a, b
	if isAbove(lower, upper) {
		lower, upper = upper, lower
	}
	common := lower.Days().Intersect(upper.Days())
	if common.Empty() || upper.Override {
		return nil
	}
	var hidden []civil.Range
	for i := range list {
		if o := &list[i]; o.Override && isAbove(o, lower) {
			hidden = append(hidden, o.Days())
		}
	}
	return civil.AppendDifference(nil, []civil.Range{common}, civil.Normalise(hidden))
}

// isAbove reports whether a is above b in the layers of their owner.
func isAbove(a, b *span.Assignment) bool { return a.Seq > b.Seq || a.Seq == b.Seq && a.ID > b.ID }
