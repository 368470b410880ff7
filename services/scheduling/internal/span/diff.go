package span

import "slices"

// Diff returns the spans to remove and to add to turn current into target. Both results are empty
// if nothing changes. They are ordered by first day and lane, and are valid until the next call of
// this method.
func (r *Resolver) Diff(current, target []Span) (removed, added []Span) {
	r.removed, r.added = r.removed[:0], r.added[:0]
	r.current = append(r.current[:0], current...)
	r.target = append(r.target[:0], target...)
	slices.SortFunc(r.current, compare)
	slices.SortFunc(r.target, compare)
	have, want := r.current, r.target
	for len(have) > 0 && len(want) > 0 {
		switch c := compare(have[0], want[0]); {
		case c < 0:
			r.removed, have = append(r.removed, have[0]), have[1:]
		case c > 0:
			r.added, want = append(r.added, want[0]), want[1:]
		default:
			have, want = have[1:], want[1:]
		}
	}
	r.removed = append(r.removed, have...)
	r.added = append(r.added, want...)
	return r.removed, r.added
}
