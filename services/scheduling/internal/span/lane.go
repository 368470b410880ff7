package span

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// Lanes below firstOwnLane belong to the terms, the others to the employees' own assignments, so that neither takes
// one of the other when it is made.
const firstOwnLane = 8

// LaneFor chooses the lane of a new assignment: 0 if it overrides, else the lowest lane of its kind that no assignment
// visible on one of its days has. existing holds the assignments of the same term, or the same employee's own; those
// that do not overlap with the new one are ignored. Whoever makes an assignment stores its lane with it, because the
// ids of the entries that it generates depend on it and must not change when another assignment goes away.
//
// Errors wrap [ErrTooManyLayers]: then the new assignment must be refused.
func LaneFor(existing []Assignment, made Assignment) (uint8, error) {
	if made.Override {
		return 0, nil
	}
	var taken uint16
	sorted := slices.Clone(existing)
	slices.SortFunc(sorted, func(a, b Assignment) int { return before(&a, &b) })
	for i := range sorted {
		a := &sorted[i]
		if a.own() != made.own() || !a.Days().Overlaps(made.Days()) {
			continue
		}
		if a.Override && a.Days().Covers(made.Days()) {
			taken = 0 // nothing older is visible
		}
		taken |= 1 << (a.Lane % MaxLanes)
	}
	lane := uint8(0)
	if made.own() {
		lane = firstOwnLane
	}
	for limit := lane + firstOwnLane; lane < limit; lane++ {
		if taken&(1<<lane) == 0 {
			return lane, nil
		}
	}
	return 0, fmt.Errorf("%w: %d overlap with the new one", ErrTooManyLayers, bits.OnesCount16(taken))
}

// CheckDepth reports whether more assignments than there are lanes for them are visible on one of days. existing holds all
// assignments of one term, or an employee's own, in any order. Lanes alone do not decide: those of assignments that were
// far apart when they were made may be the same, and one that overrides hides others only while it is there.
//
// Errors wrap [ErrTooManyLayers].
func CheckDepth(existing []Assignment, days civil.Range) error {
	var near []Assignment
	for i := range existing {
		if existing[i].Days().Overlaps(days) {
			near = append(near, existing[i])
		}
	}
	slices.SortFunc(near, func(a, b Assignment) int { return before(&b, &a) })
	edges := make([]civil.Date, 0, len(near)) // Nothing becomes deeper but where an assignment begins, or ends.
	for i := range near {
		edges = append(edges, max(near[i].From, days.From))
		if near[i].To < days.To {
			edges = append(edges, near[i].To)
		}
	}
	slices.Sort(edges)
	for _, day := range slices.Compact(edges) {
		if depth := visible(near, day); depth > firstOwnLane {
			return fmt.Errorf("%w: %d on %v", ErrTooManyLayers, depth, day)
		}
	}
	return nil
}

// visible counts the assignments that show on a day. The list begins with the top layer.
func visible(list []Assignment, day civil.Date) int {
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

// freeLane returns the first free lane at or after the wished one, going on at 0 after the last. One must be free.
func freeLane(taken uint16, wished uint8) uint8 {
	ahead := bits.TrailingZeros16(^bits.RotateLeft16(taken, -int(wished)))
	return (wished + uint8(ahead)) % MaxLanes
}

// generated returns the span in which an assignment generates on days, in the given lane.
func generated(a *Assignment, days civil.Range, lane uint8) Span {
	return Span{
		From: days.From, To: days.To, Position: rotation.Position(a.Anchor, a.Offset, days.From, a.DayCount), DayCount: a.DayCount,
		PatternID: a.PatternID, AssignmentID: a.ID, Lane: lane, Inherited: !a.own(),
	}
}
