package span

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// Input is all that decides an employee's spans. The order inside the lists does not matter, and nothing is written
// to them.
type Input struct {
	Assignments []Assignment // of all terms in Memberships, and the employee's own; others have no effect
	Memberships []Membership
	Locks       []civil.Range // days that stay as they are in Current
	Current     []Span        // what is there now; no two of one lane share a day
}

// Resolve returns the spans that the input asks for, ordered by first day and lane; adjacent spans that continue each
// other are one.
//
// Assignments are laid over one another: those of terms first, inside of the employee's memberships, then the
// employee's own; each by Seq. One that overrides hides all below it on its days and takes lane 0. Any other takes its lane,
// or the next free one (after the last comes the first) on days on which its lane is taken. Locked days keep what Current
// has on them.
//
// Errors wrap [ErrTooManyLayers] or [ErrInvalid].
func Resolve(in Input) ([]Span, error) {
	var r Resolver
	return r.Resolve(in)
}

// Resolver resolves many employees one after the other in the same memory. The zero value is ready; it belongs to one
// goroutine.
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

// activeInterval is a time in which an assignment counts.
type activeInterval struct {
	from, to   civil.Date
	assignment int32
	override   bool
}

// Resolve is the function [Resolve]. Its result is valid until the next call of this method.
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

// gatherMembers collects the memberships that pass patterns on, joined where those of one term overlap or touch.
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

// collectIntervals collects when which assignment counts, from the bottom layer to the top.
func (r *Resolver) collectIntervals(list []Assignment) error {
	r.order, r.intervals = r.order[:0], r.intervals[:0]
	for i := range list {
		if err := list[i].check(); err != nil {
			return err
		}
		r.order = append(r.order, int32(i))
	}
	slices.SortFunc(r.order, func(i, j int32) int { return before(&list[i], &list[j]) })
	for _, i := range r.order {
		a := &list[i]
		if a.own() {
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

// gatherEdges collects the days on which anything begins or ends: between two of them every day is like the other.
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

// overlayAll lays the assignments over one another on all days that are not locked.
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
	var taken uint16
	for _, p := range r.intervals[r.lowestVisible(days.From):] {
		if days.From < p.from || days.From >= p.to {
			continue
		}
		lane := uint8(0)
		if !p.override {
			if taken == 1<<MaxLanes-1 {
				return fmt.Errorf("%w: more than %d on %v", ErrTooManyLayers, MaxLanes, days.From)
			}
			lane = freeLane(taken, list[p.assignment].Lane)
		}
		lanes[lane] = p.assignment
		taken |= 1 << lane
	}
	for rest := taken; rest != 0; rest &= rest - 1 {
		lane := uint8(bits.TrailingZeros16(rest))
		r.spans = append(r.spans, generated(&list[lanes[lane]], days, lane))
	}
	return nil
}

// lowestVisible returns the index of the lowest interval that is visible on a day: the last that overrides, if any does.
func (r *Resolver) lowestVisible(day civil.Date) int {
	for i := len(r.intervals) - 1; i > 0; i-- {
		if p := r.intervals[i]; p.override && p.from <= day && day < p.to {
			return i
		}
	}
	return 0
}

// appendLocked appends what is there now on the locked days.
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

// join makes one of spans that continue each other, and brings all in order.
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
