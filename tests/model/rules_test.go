package model

import (
	"cmp"
	"fmt"
	"slices"
)

// day counts from firstMonday. The model covers some days before and after the window of its reads.
// The state of its last day continues without end.
type day int

const (
	window   day = 42 // days of the window, from 0
	earliest day = -20
	latest   day = 140
	never    day = 1 << 20 // the end of an assignment without one
)

// entry is one shift or pay code that a pattern puts on a day. Its minutes count from the midnight
// that begins the day.
type entry struct {
	payCode    bool
	label      string
	start, end int
}

// assignment is a pattern on a term, or on an employee, from a day to another, which
// is excluded.
type assignment struct {
	id       int64
	lineage  int
	order    int       // later ones lie above
	term     int       // 0 for an employee's own assignment
	of       *employee // nil for an assignment of a term
	from, to day
	cycle    [][]entry
	anchor   day
	offset   int
	override bool
}

func (a *assignment) on(d day) bool { return a.from <= d && d < a.to }

// entries returns the entries of a day. It walks there from the anchor.
func (a *assignment) entries(d day) []entry {
	position := a.offset
	for at := a.anchor; at < d; at++ {
		position++
	}
	for at := a.anchor; at > d; at-- {
		position--
	}
	for position < 0 {
		position += len(a.cycle)
	}
	for position >= len(a.cycle) {
		position -= len(a.cycle)
	}
	return a.cycle[position]
}

// layer holds the entries that one assignment puts on a day of an employee.
type layer struct {
	assignment int64
	lineage    int
	own        bool
	entries    []entry
}

// touched is a generated entry that was deleted, or edited into a shift.
type touched struct {
	id       int64
	employee int
	day      day
	lineage  int
	own      bool    // the entry came from a pattern of the employee
	entries  []entry // of that day, when the entry was touched
	index    int
	made     *entered // nil when the entry is deleted
}

// entered is a shift that was entered by hand.
type entered struct {
	id        int64
	employee  int
	day       day
	label     string
	start     int
	end       int
	withdrawn bool
}

type employee struct {
	id          int64
	terms       map[day]int   // the term by day, 0 for none
	terminated  map[day]bool  // the days without an employment
	leave       map[day]int64 // the ids of leave edits of whole days
	leaveCase   int64         // 0 before the first leave
	timeOff     map[day]int64 // the ids of approved requests for whole days
	frozen      map[day][]layer
	frozenLeave map[day]bool // whether leave or time off covered a locked day when it was locked
}

// isCovered reports whether leave or time off replaces the shifts of a day.
func (e *employee) isCovered(d day) bool {
	if e.isLocked(d) {
		return e.frozenLeave[d]
	}
	return e.leave[d] != 0 || e.timeOff[d] != 0
}

func (e *employee) isLocked(d day) bool { _, locked := e.frozen[d]; return locked }

// company is the whole state of the model.
type company struct {
	employees   []*employee
	assignments []*assignment
	silent      map[int]bool // the terms whose patterns their members do not inherit
	touched     []*touched
	entered     []*entered
	orders      int
	lineages    int
}

// layers returns the layers of a day of an employee, the lowest first. Locked days keep their
// layers.
func (c *company) layers(e *employee, d day) []layer {
	if layers, locked := e.frozen[d]; locked {
		return layers
	}
	var here []*assignment
	for _, a := range c.assignments {
		if a.on(d) && (a.of == e && !e.terminated[d] || a.of == nil && a.term == e.terms[d] && !c.silent[a.term]) {
			here = append(here, a)
		}
	}
	// An employee's own assignments lie above those of the term.
	above := func(a *assignment) int {
		if a.of != nil {
			return 1
		}
		return 0
	}
	slices.SortFunc(here, func(a, b *assignment) int {
		return cmp.Or(cmp.Compare(above(a), above(b)), cmp.Compare(a.order, b.order), cmp.Compare(a.id, b.id))
	})
	var layers []layer
	for _, a := range here {
		if a.override {
			layers = nil
		}
		layers = append(layers, layer{a.id, a.lineage, a.of != nil, a.entries(d)})
	}
	return layers
}

// isHidden reports whether an entry of a layer was touched.
func (c *company) isHidden(e int, d day, l layer, index int) bool {
	for _, t := range c.touched {
		if t.employee == e && t.day == d && t.lineage == l.lineage && counterpart(t.entries, t.index, l.entries) == index {
			return true
		}
	}
	return false
}

// isGenerated reports whether the patterns still generate a touched entry.
func (c *company) isGenerated(t *touched) bool {
	for _, l := range c.layers(c.employees[t.employee], t.day) {
		if l.lineage == t.lineage && counterpart(t.entries, t.index, l.entries) >= 0 {
			return true
		}
	}
	return false
}

// withdraw marks the edited entries that ended with the employment.
func (c *company) withdraw() {
	for _, t := range c.touched {
		if t.made != nil && !c.employees[t.made.employee].isLocked(t.made.day) {
			t.made.withdrawn = c.without(t, t.made)
		}
	}
}

// without reports whether an edited entry belongs to an ended employment.
func (c *company) without(t *touched, made *entered) bool {
	if made.employee != t.employee || c.isGenerated(t) {
		return false
	}
	e := c.employees[made.employee]
	if t.own {
		return e.terminated[made.day]
	}
	return e.terms[made.day] == 0
}

// vanishes reports whether an entry would not be shown after an edit.
func (c *company) vanishes(made *entered) bool {
	for _, t := range c.touched {
		if t.id == made.id && t.made != nil {
			return c.without(t, made)
		}
	}
	return false
}

// counterpart returns the index of the entry on another day that corresponds to an entry, or -1.
func counterpart(from []entry, index int, to []entry) int {
	partner := map[int]int{}
	used := map[int]bool{}
	inOrder := func(list []entry) []int {
		order := make([]int, len(list))
		for i := range list {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].start, list[b].start) })
		return order
	}
	pass := func(same func(a, b entry) bool) {
		for _, i := range inOrder(from) {
			for _, k := range inOrder(to) {
				if _, has := partner[i]; !has && !used[k] && from[i].payCode == to[k].payCode && same(from[i], to[k]) {
					partner[i], used[k] = k, true
				}
			}
		}
	}
	pass(func(a, b entry) bool { return a == b })
	pass(func(a, b entry) bool { return a.start < b.end && b.start < a.end })
	for _, payCode := range []bool{false, true} {
		var left, right []int
		for i := range from {
			if _, has := partner[i]; !has && from[i].payCode == payCode {
				left = append(left, i)
			}
		}
		for k := range to {
			if !used[k] && to[k].payCode == payCode {
				right = append(right, k)
			}
		}
		if len(left) == 1 && len(right) == 1 {
			partner[left[0]] = right[0]
		}
	}
	if k, has := partner[index]; has {
		return k
	}
	return -1
}

// In this night the clock goes from two to three. A time that does not exist is an hour later;
// patterns of the model have none.
const (
	clockChange        day = 27
	gapStart, gapEnd       = 120, 180
	minutesOfTheChange     = int(clockChange) * 1440
)

// isSkipped reports whether the clock skips a time of a day.
func isSkipped(d day, minutes int) bool {
	at := int(d)*1440 + minutes - minutesOfTheChange
	return at >= gapStart && at < gapEnd
}

// shown describes an entry that a schedule shows.
type shown struct {
	employee   int
	day        day
	payCode    bool
	label      string
	start, end int
	generated  bool
	locked     bool
	assignment int64
	id         int64 // only of entered shifts; the product chooses the others
}

func (s shown) String() string {
	return fmt.Sprintf("employee %d day %d: %s %d-%d generated %t locked %t of %d, id %d",
		s.employee, s.day, s.label, s.start, s.end, s.generated, s.locked, s.assignment, s.id)
}

// dayLock is a lock that a schedule shows: the days of an employee from one to another, which is
// excluded.
type dayLock struct {
	id       int64
	employee int
	from, to day
}

func (l dayLock) on(employee int, d day) bool {
	return l.employee == employee && l.from <= d && d < l.to
}

// schedule returns all entries of the window.
func (c *company) schedule() []shown {
	c.withdraw()
	var list []shown
	for i, e := range c.employees {
		for d := day(0); d < window; d++ {
			for _, l := range c.layers(e, d) {
				for index, en := range l.entries {
					if !c.isHidden(i, d, l, index) && (en.payCode || !e.isCovered(d)) {
						list = append(list, shown{i, d, en.payCode, en.label, en.start, en.end, true, e.isLocked(d), l.assignment, 0})
					}
				}
			}
		}
	}
	for i, e := range c.employees {
		for d := range e.timeOff {
			if d >= 0 && d < window {
				list = append(list, shown{i, d, true, timeOffCode, 0, 1440, false, e.isLocked(d), 0, 0})
			}
		}
	}
	add := func(m *entered) {
		if m.day >= 0 && m.day < window && !m.withdrawn && !c.employees[m.employee].isCovered(m.day) {
			list = append(list, shown{m.employee, m.day, false, m.label, m.start, m.end, false, c.employees[m.employee].isLocked(m.day), 0, m.id})
		}
	}
	for _, m := range c.entered {
		add(m)
	}
	for _, t := range c.touched {
		if t.made != nil {
			add(t.made)
		}
	}
	return list
}

// lock locks a day of an employee.
func (c *company) lock(e *employee, d day) {
	if !e.isLocked(d) {
		e.frozenLeave[d] = e.isCovered(d)
		e.frozen[d] = c.layers(e, d)
	}
}
