package model

import (
	"maps"
	"slices"
	"strings"
)

// span is the number of days that the model of locations knows. The first day stands for all days before
// and the last one for all days after.
const span = 40

// place is the state of a location on a day.
type place struct {
	there  bool
	parent int // -1 at the top
	name   string
}

// worker is a person, day by day.
type worker struct {
	id         int64
	path       [span]string
	terminated [span]bool
	// wages are the rates by the path of the job.
	wages [span]map[string]string
	// worked has the job of an hour of work, as a path.
	worked [span]string
}

// chief is a manager with an employee group, which is a path.
type chief struct {
	id    int64
	token string
	group [span]string
}

// organization is a tree of locations with the persons in it, day by day.
type organization struct {
	ids     []int64
	kinds   []kind
	days    [span][]place
	former  map[string]int
	workers []*worker
	chiefs  []*chief
}

// kind is the level of a location. A location lies below one of the kind before.
type kind int

const (
	top kind = iota
	region
	store
	job
)

// period is a range of days without its end.
type period struct{ from, to int }

// isOpen reports whether a period has no end.
func (p period) isOpen() bool { return p.to == span }

// exists reports whether a location is there on all days of a period.
func (o *organization) exists(l int, days period) bool {
	for d := days.from; d < days.to; d++ {
		if !o.days[d][l].there {
			return false
		}
	}
	return true
}

// path returns the path of a location on a day, or "" without one.
func (o *organization) path(l, d int) string {
	if !o.days[d][l].there {
		return ""
	}
	if up := o.days[d][l].parent; up >= 0 {
		return o.path(up, d) + "/" + o.days[d][l].name
	}
	return o.days[d][l].name
}

func (o *organization) isBelow(l, above, d int) bool {
	for ; l >= 0 && o.days[d][l].there; l = o.days[d][l].parent {
		if l == above {
			return true
		}
	}
	return false
}

// holder returns the location with a path on a day, or -1.
func (o *organization) holder(path string, d int) int {
	return slices.IndexFunc(o.locations(), func(l int) bool { return path != "" && o.path(l, d) == path })
}

func (o *organization) locations() []int {
	var out []int
	for l := range o.ids {
		out = append(out, l)
	}
	return out
}

// find returns the location that a path names on a day: the location with the path, or the last one with
// it; -1 without one.
func (o *organization) find(path string, d int) int {
	for ; d >= 0; d-- {
		if l := o.holder(path, d); l >= 0 {
			return l
		}
	}
	if l, known := o.former[path]; known {
		return l
	}
	return -1
}

// change performs a change of a location on the days, and of all paths of persons that it replaces. It
// returns the reason if the change is not allowed, and changes nothing then.
func (o *organization) change(l int, days period, do func(*place)) (refused string) {
	next := *o
	for d := days.from; d < days.to; d++ {
		next.days[d] = slices.Clone(o.days[d])
		do(&next.days[d][l])
		up := next.days[d][l].parent
		switch {
		case up == l || o.isBelow(up, l, d):
			return "below itself"
		case !o.days[d][up].there:
			return "no parent"
		}
	}
	var renamed [span]map[string]string
	former := maps.Clone(o.former)
	for d := days.from; d < days.to; d++ {
		if other := o.holder(next.path(l, d), d); other >= 0 && other != l {
			return "path taken"
		}
		renamed[d] = map[string]string{}
		for below := range o.ids {
			was, is := o.path(below, d), next.path(below, d)
			if was == is || was == "" {
				continue
			}
			renamed[d][was] = is
			if !o.wasUsed(was, days.from) {
				former[was] = below
			}
		}
	}
	if o.wagesCollide(renamed) {
		return "two wages"
	}
	for d := days.from; d < days.to; d++ {
		for _, w := range o.workers {
			w.follow(d, renamed[d])
		}
		for _, c := range o.chiefs {
			if is, ok := renamed[d][c.group[d]]; ok {
				c.group[d] = is
			}
		}
	}
	o.days, o.former = next.days, former
	return ""
}

// wasUsed reports whether a location had a path before a day.
func (o *organization) wasUsed(path string, before int) bool {
	for d := range before {
		if o.holder(path, d) >= 0 {
			return true
		}
	}
	return false
}

func (o *organization) wagesCollide(renamed [span]map[string]string) bool {
	for _, w := range o.workers {
		for d := range renamed {
			for was, is := range renamed[d] {
				_, has := w.wages[d][was]
				_, there := w.wages[d][is]
				if has && there {
					return true
				}
			}
		}
	}
	return false
}

// follow replaces the paths of a day.
func (w *worker) follow(d int, renamed map[string]string) {
	if is, ok := renamed[w.path[d]]; ok {
		w.path[d] = is
	}
	wages := map[string]string{}
	for path, wage := range w.wages[d] {
		if is, ok := renamed[path]; ok {
			path = is
		}
		wages[path] = wage
	}
	w.wages[d] = wages
}

// end removes a location from a day on, or returns the reason if it cannot be removed.
func (o *organization) end(l, from int) (refused string) {
	for d := from; d < span; d++ {
		if slices.ContainsFunc(o.days[d], func(p place) bool { return p.there && p.parent == l }) {
			return "locations below"
		}
		if slices.ContainsFunc(o.workers, func(w *worker) bool { return !w.terminated[d] && w.path[d] == o.path(l, d) && w.path[d] != "" }) {
			return "primary job"
		}
	}
	for d := from; d < span; d++ {
		o.days[d] = slices.Clone(o.days[d])
		o.days[d][l].there = false
	}
	return ""
}

// isAt reports whether a worker is at a location, or below it, on a day.
func (o *organization) isAt(w *worker, l, d int) bool {
	at := o.find(w.path[d], d)
	return at >= 0 && o.isBelow(at, l, d)
}

// members returns the workers whose primary job is at a location or below on some of the days, without
// those whose employment is terminated on all days.
func (o *organization) members(l int, days period) []int64 {
	return o.matching(func(w *worker) bool {
		at, employed := false, false
		for d := days.from; d < days.to; d++ {
			at, employed = at || o.isAt(w, l, d), employed || !w.terminated[d]
		}
		return at && employed
	})
}

// visible returns the employed workers in the group of a chief.
func (o *organization) visible(c *chief, d int) []int64 {
	return o.matching(func(w *worker) bool {
		return c.group[d] != "" && !w.terminated[d] && (w.path[d] == c.group[d] || strings.HasPrefix(w.path[d], c.group[d]+"/"))
	})
}

func (o *organization) matching(matches func(*worker) bool) []int64 {
	ids := []int64{}
	for _, w := range o.workers {
		if matches(w) {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	return ids
}
