package span

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// Input is the complete input for an employee's spans. The order of the lists does not matter, and
// Resolve does not modify them.
type Input struct {
	Assignments []Assignment // of all terms in Memberships, and the employee's own; others have no effect
	Memberships []Membership
	Locks       []civil.Range // days that keep their spans from Current
	Current     []Span        // the stored spans; spans of the same lane do not overlap
}

// Resolve returns the spans for the input, ordered by first day and lane. Adjacent spans that
// continue each other are joined.
//
// Assignments are layered: first assignments of terms, limited to the employee's memberships, then the
// employee's own, each in order of Seq. An assignment that overrides hides all layers below it on
// its days, and uses lane 0. Every other assignment uses its own lane or, on days when that is
// occupied, the next free one, starting over after the last. Locked days keep the spans of Current.
//
// Errors wrap [ErrTooManyLayers] or [ErrInvalid].
func Resolve(in Input) ([]Span, error) {
	var r Resolver
	return r.Resolve(in)
}

// Resolver resolves many employees one after the other, and reuses its memory. The zero value is
// ready to use. It is not safe for concurrent use.
type Resolver struct {
	members   []Membership
	order     []int32
	intervals []activeInterval
	locks     []civil.Range
	edges     []civil.Date
	spans     []Span

	current, target []Span
	removed, added  []Span
}

// activeInterval is a range of days when an assignment applies.
type activeInterval struct {
	from, to   civil.Date
	assignment int32
	override   bool
}

// Resolve works like the function [Resolve]. Its result is valid until the next call of this
// method.
func (r *Resolver) Resolve(in Input) ([]Span, error) {
	r.locks = civil.Normalise(append(r.locks[:0], in.Locks...))
	r.gatherMembers(in.Memberships)
	if err := r.collectIntervals(in.Assignments); err != nil {
		return nil, err
	}
	r.gatherEdges()
	r.spans = r.spans[:0]
	if err := r.overlayAll(in.Assignments); err != nil {
		return nil, err
	}
	if err := r.appendLocked(in.Current); err != nil {
		return nil, err
	}
	r.spans = join(r.spans)
	return r.spans, nil
}

// gatherMembers collects the memberships that pass on patterns, and joins adjacent and overlapping
// ones of the same term.
func (r *Resolver) gatherMembers(memberships []Membership) {
	r.members = r.members[:0]
	for _, m := range memberships {
		if m.Inherits && m.TermID != 0 && !m.Days.Empty() {
			r.members = append(r.members, m)
		}
	}
	slices.SortFunc(r.members, func(a, b Membership) int {
		return cmp.Or(cmp.Compare(a.TermID, b.TermID), cmp.Compare(a.Days.From, b.Days.From))
	})
	joined := r.members[:0]
	for _, m := range r.members {
		if last := len(joined) - 1; last >= 0 && joined[last].TermID == m.TermID && m.Days.From <= joined[last].Days.To {
			joined[last].Days.To = max(joined[last].Days.To, m.Days.To)
		} else {
			joined = append(joined, m)
		}
	}
	r.members = joined
}

// collectIntervals collects the days when each assignment applies, from the bottom layer to the
// top.
func (r *Resolver) collectIntervals(list []Assignment) error {
	r.order, r.intervals = r.order[:0], r.intervals[:0]
	for i := range list {
		if err := list[i].check(); err != nil {
			return err
		}
		r.order = append(r.order, int32(i))
	}
	slices.SortFunc(r.order, func(i, j int32) int { return compareLayers(&list[i], &list[j]) })
	for _, i := range r.order {
		a := &list[i]
		if a.isOwn() {
			r.addInterval(i, a, a.Days())
			continue
		}
		for _, m := range r.members {
			if m.TermID == a.TermID {
				r.addInterval(i, a, a.Days().Intersect(m.Days))
			}
		}
	}
	return nil
}

func (r *Resolver) addInterval(index int32, a *Assignment, days civil.Range) {
	if !days.Empty() {
		r.intervals = append(r.intervals, activeInterval{from: days.From, to: days.To, assignment: index, override: a.Override})
	}
}

// gatherEdges collects the days when something begins or ends. All days between two edges are
// alike.
func (r *Resolver) gatherEdges() {
	r.edges = r.edges[:0]
	for _, p := range r.intervals {
		r.edges = append(r.edges, p.from, p.to)
	}
	for _, lock := range r.locks {
		r.edges = append(r.edges, lock.From, lock.To)
	}
	slices.Sort(r.edges)
	r.edges = slices.Compact(r.edges)
}

// overlayAll layers the assignments on all days that are not locked.
func (r *Resolver) overlayAll(list []Assignment) error {
	locks := r.locks
	for i := 1; i < len(r.edges); i++ {
		days := civil.Range{From: r.edges[i-1], To: r.edges[i]}
		for len(locks) > 0 && locks[0].To <= days.From {
			locks = locks[1:]
		}
		if len(locks) > 0 && locks[0].From <= days.From {
			continue
		}
		if err := r.appendSpans(list, days); err != nil {
			return err
		}
	}
	return nil
}

// appendSpans appends the spans of days that are all alike.
func (r *Resolver) appendSpans(list []Assignment, days civil.Range) error {
	var lanes [MaxLanes]int32
	var used uint16
	for _, p := range r.intervals[r.lowestVisible(days.From):] {
		if days.From < p.from || days.From >= p.to {
			continue
		}
		lane := uint8(0)
		if !p.override {
			if used == 1<<MaxLanes-1 {
				return fmt.Errorf("%w: more than %d on %v", ErrTooManyLayers, MaxLanes, days.From)
			}
			lane = freeLane(used, list[p.assignment].Lane)
		}
		lanes[lane] = p.assignment
		used |= 1 << lane
	}
	for rest := used; rest != 0; rest &= rest - 1 {
		lane := uint8(bits.TrailingZeros16(rest))
		r.spans = append(r.spans, newSpan(&list[lanes[lane]], days, lane))
	}
	return nil
}

// lowestVisible returns the index of the lowest interval that is visible on a day: the last one
// that overrides, if there is one.
func (r *Resolver) lowestVisible(day civil.Date) int {
	for i := len(r.intervals) - 1; i > 0; i-- {
		if p := r.intervals[i]; p.override && p.from <= day && day < p.to {
			return i
		}
	}
	return 0
}

// appendLocked appends the current spans of the locked days.
func (r *Resolver) appendLocked(current []Span) error {
	if len(r.locks) == 0 {
		return nil
	}
	for _, s := range current {
		for _, lock := range r.locks {
			if !lock.Overlaps(s.Days()) {
				continue
			}
			if s.DayCount < 1 || s.Lane >= MaxLanes {
				return fmt.Errorf("%w: span of assignment %d on %v", ErrInvalid, s.AssignmentID, s.From)
			}
			r.spans = append(r.spans, s.cut(lock))
		}
	}
	return nil
}

// join joins spans that continue each other, and sorts all spans.
func join(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Lane, b.Lane), compare(a, b)) })
	joined := spans[:0]
	for _, s := range spans {
		if last := len(joined) - 1; last >= 0 && continues(joined[last], s) {
			joined[last].To = s.To
			joined[last].Series = max(joined[last].Series, s.Series)
		} else {
			joined = append(joined, s)
		}
	}
	slices.SortFunc(joined, compare)
	return joined
}
