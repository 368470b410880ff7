package span

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// firstOwnLane is the first lane of the employees' own assignments. Lower lanes belong to terms, so
// that new assignments of one kind never take a lane of the other.
const firstOwnLane = 8

// LaneFor chooses the lane of a new assignment: 0 if it overrides; otherwise the lowest lane of its
// kind that is free among the assignments visible on its days. existing has the assignments of the
// same term, or the employee's own; those that do not overlap are ignored. Store the lane with the
// assignment: the ids of generated entries depend on it, and must not change when another
// assignment is removed.
//
// Errors wrap [ErrTooManyLayers]. Reject the new assignment then.
func LaneFor(existing []Assignment, added Assignment) (uint8, error) {
	if added.Override {
		return 0, nil
	}
	var used uint16
	sorted := slices.Clone(existing)
	slices.SortFunc(sorted, func(a, b Assignment) int { return compareLayers(&a, &b) })
	for i := range sorted {
		a := &sorted[i]
		if a.isOwn() != added.isOwn() || !a.Days().Overlaps(added.Days()) {
			continue
		}
		if a.Override && a.Days().Covers(added.Days()) {
			used = 0 // no older assignment is visible
		}
		used |= 1 << (a.Lane % MaxLanes)
	}
	lane := uint8(0)
	if added.isOwn() {
		lane = firstOwnLane
	}
	for limit := lane + firstOwnLane; lane < limit; lane++ {
		if used&(1<<lane) == 0 {
			return lane, nil
		}
	}
	return 0, fmt.Errorf("%w: %d overlap with the new one", ErrTooManyLayers, bits.OnesCount16(used))
}

// CheckDepth returns an error if more assignments are visible on one of the days than there are
// lanes for them. existing has all assignments of one term, or all of an employee's own, in any
// order. Lanes alone do not decide. Assignments that did not overlap when they were created can
// have the same lane, and an assignment that overrides hides others only while it exists.
//
// Errors wrap [ErrTooManyLayers].
func CheckDepth(existing []Assignment, days civil.Range) error {
	var near []Assignment
	for i := range existing {
		if existing[i].Days().Overlaps(days) {
			near = append(near, existing[i])
		}
	}
	slices.SortFunc(near, func(a, b Assignment) int { return compareLayers(&b, &a) })
	edges := make([]civil.Date, 0, len(near)) // The depth changes only where an assignment begins or ends.
	for i := range near {
		edges = append(edges, max(near[i].From, days.From))
		if near[i].To < days.To {
			edges = append(edges, near[i].To)
		}
	}
	slices.Sort(edges)
	for _, day := range slices.Compact(edges) {
		if depth := countVisible(near, day); depth > firstOwnLane {
			return fmt.Errorf("%w: %d on %v", ErrTooManyLayers, depth, day)
		}
	}
	return nil
}

// countVisible counts the assignments that are visible on a day. The list begins with the top
// layer.
func countVisible(list []Assignment, day civil.Date) int {
	depth := 0
	for i := range list {
		if !list[i].Days().Contains(day) {
			continue
		}
		if depth++; list[i].Override || depth > firstOwnLane {
			break
		}
	}
	return depth
}

// freeLane returns the first free lane from the preferred one on, continuing at 0 after the last
// lane. At least one lane must be free.
func freeLane(used uint16, preferred uint8) uint8 {
	ahead := bits.TrailingZeros16(^bits.RotateLeft16(used, -int(preferred)))
	return (preferred + uint8(ahead)) % MaxLanes
}

// newSpan returns the span of an assignment on days, in the given lane.
func newSpan(a *Assignment, days civil.Range, lane uint8) Span {
	return Span{
		From: days.From, To: days.To, Position: rotation.Position(a.Anchor, a.Offset, days.From, a.DayCount), DayCount: a.DayCount,
		PatternID: a.PatternID, AssignmentID: a.ID, Lane: lane, Inherited: !a.isOwn(),
	}
}
