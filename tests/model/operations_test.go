package model

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// maxAssignments bounds the assignments of a term, so that the product's limit of layers is not
// reached.
const maxAssignments = 6

// menu lists the entries of patterns. Some differ in their times only.
var menu = []entry{
	{false, "E", 360, 840},
	{false, "E", 420, 900},
	{false, "L", 840, 1320},
	{false, "N", 1320, 1800},
	{false, "S", 600, 660},
	{true, "Training", 0, 1440},
}

func (w *fixture) anyCycle() cycle {
	c := make(cycle, 1+w.random.IntN(4))
	for i := range c {
		for _, k := range w.random.Perm(len(menu))[:w.random.IntN(4)] {
			c[i] = append(c[i], menu[k])
		}
	}
	if !slices.ContainsFunc(c, func(entries []entry) bool { return len(entries) > 0 }) {
		c[0] = []entry{menu[w.random.IntN(len(menu))]}
	}
	return c
}

// alike returns a pattern with the entries of another in another order, with further entries, or a
// random pattern.
func (w *fixture) alike(c cycle) cycle {
	if w.chance(25) {
		return w.anyCycle()
	}
	out := make(cycle, len(c))
	for i, entries := range c {
		out[i] = slices.Clone(entries)
		w.random.Shuffle(len(out[i]), func(a, b int) { out[i][a], out[i][b] = out[i][b], out[i][a] })
		if extra := menu[w.random.IntN(len(menu))]; w.chance(25) && !slices.Contains(out[i], extra) {
			out[i] = slices.Insert(out[i], w.random.IntN(len(out[i])+1), extra)
		}
	}
	return out
}

func (w *fixture) chance(percent int) bool { return w.random.IntN(100) < percent }

func (w *fixture) anyDay() day { return day(w.random.IntN(int(window))) }

func (w *fixture) anyAssignment() *assignment {
	if len(w.assignments) == 0 {
		return nil
	}
	return w.assignments[w.random.IntN(len(w.assignments))]
}

// undoable is the newest change of assignments, which can be undone.
type undoable struct {
	propagation string
	// before are the assignments before the change.
	before []*assignment
}

// planner performs one change of the assignments, and returns its description.
func (w *fixture) planner() string {
	w.previewed = nil
	before, open := w.copyAssignments(), len(w.open)
	done := w.plan()
	if len(w.open) > open {
		w.undoable = undoable{w.open[len(w.open)-1], before}
	}
	return done
}

func (w *fixture) copyAssignments() []*assignment {
	list := make([]*assignment, len(w.assignments))
	for i, a := range w.assignments {
		kept := *a
		list[i] = &kept
	}
	return list
}

// undo undoes the newest change of assignments. The next undo is then its redo.
func (w *fixture) undo() string {
	undone := w.undoable
	if undone.propagation == "" {
		return ""
	}
	before := w.copyAssignments()
	w.must(http.MethodPost, undone.propagation+"/undo", scenario.Object{"mode": "STRICT", "reason": "the model undoes it"}, nil)
	w.assignments = undone.before
	w.undoable = undoable{w.open[len(w.open)-1], before}
	return "undo " + undone.propagation
}

// plan performs one change of the assignments, and returns its description.
func (w *fixture) plan() string {
	a := w.anyAssignment()
	made := &assignment{term: 1 + w.random.IntN(len(w.terms)-1)}
	if w.chance(40) {
		made = &assignment{of: w.employees[w.random.IntN(len(w.employees))]}
	}
	if a == nil || w.chance(25) && !w.atLimit(made) {
		return w.create(made)
	}
	crowded := w.atLimit(a)
	switch n := w.random.IntN(6); {
	case n == 0 || crowded && n < 3:
		w.must(http.MethodDelete, path(a.words().path, a.id), nil, nil)
		w.assignments = slices.DeleteFunc(w.assignments, func(b *assignment) bool { return b == a })
		return fmt.Sprintf("delete %d", a.id)
	case n == 1:
		return w.recreate(a)
	case n == 2 && !crowded:
		return w.changeAsOf(a)
	case n == 3:
		return w.endOn(a)
	case n == 4 && !crowded:
		return w.takeAway(a)
	default:
		return w.recreate(a)
	}
}

// atLimit reports whether the owner of an assignment has the most assignments.
func (w *fixture) atLimit(a *assignment) bool {
	return len(slices.DeleteFunc(slices.Clone(w.assignments), func(b *assignment) bool { return b.term != a.term || b.of != a.of })) >= maxAssignments
}

func (w *fixture) create(owned *assignment) string {
	from := earliest + 1 + day(w.random.IntN(int(window-earliest-1)))
	w.orders++
	w.lineages++
	a := &assignment{
		lineage: w.lineages, order: w.orders, term: owned.term, of: owned.of, from: from, to: from + 2 + day(w.random.IntN(40)), cycle: w.anyCycle(),
		anchor: from, offset: w.random.IntN(9) - 4, override: w.chance(30),
	}
	if w.chance(40) {
		a.to = never
	}
	w.assign(a)
	w.assignments = append(w.assignments, a)
	return fmt.Sprintf("create %d on term %d, own %t, from %d to %d override %t: %v", a.id, a.term, a.of != nil, a.from, a.to, a.override, a.cycle)
}

func (w *fixture) recreate(a *assignment) string {
	changed := w.alike(a.cycle)
	offset := w.random.IntN(3)
	id := w.change(a, "recreate", scenario.Object{a.words().pattern: scenario.Object{
		"startDateOffset": offset, "schedulePattern": changed.object(),
	}})
	require.Equal(w.t, a.id, id)
	a.cycle, a.offset, a.anchor = changed, offset, a.from
	return fmt.Sprintf("recreate %d: %v", a.id, a.cycle)
}

func (w *fixture) changeAsOf(a *assignment) string {
	date := max(0, a.from+1) + day(w.random.IntN(20))
	if !a.on(date) || date >= window {
		return ""
	}
	part := *a
	part.cycle, part.from, part.anchor, part.offset = w.alike(a.cycle), date, date, 0
	part.id = w.change(a, "updateAsOfDate", scenario.Object{"date": date.date(), a.words().pattern: scenario.Object{
		"schedulePattern": cycle(part.cycle).object(),
	}})
	a.to = date
	w.assignments = append(w.assignments, &part)
	return fmt.Sprintf("as of %d, %d goes on as %d: %v", date, a.id, part.id, part.cycle)
}

func (w *fixture) endOn(a *assignment) string {
	to := max(1, a.from+1) + day(w.random.IntN(40))
	if slices.ContainsFunc(w.assignments, func(b *assignment) bool {
		return b != a && b.lineage == a.lineage && b.from < to && b.to > a.from
	}) {
		return "" // Two parts of one lineage on one day have twins that cannot be told apart.
	}
	w.change(a, "updateEndDate", scenario.Object{"date": (to - 1).date()})
	a.to = to
	return fmt.Sprintf("end %d before %d", a.id, to)
}

func (w *fixture) takeAway(a *assignment) string {
	from := w.anyDay()
	to := from + 1 + day(w.random.IntN(9))
	if from <= a.from || to >= a.to {
		return ""
	}
	w.change(a, "remove", scenario.Object{"startDate": from.date(), "endDate": (to - 1).date()})
	part := *a
	part.from, a.to = to, from
	part.id = w.assignmentFrom(a, to)
	w.assignments = append(w.assignments, &part)
	return fmt.Sprintf("take %d to %d from %d; %d goes on", from, to, a.id, part.id)
}

// move puts an employee on a term, or on none, for some days.
func (w *fixture) move() string {
	i := w.random.IntN(len(w.employees))
	e, term, from := w.employees[i], w.random.IntN(len(w.terms)), w.anyDay()
	to := from + 1 + day(w.random.IntN(20))
	if w.chance(40) {
		to = latest
	}
	for d := from; d < to; d++ {
		if term > 0 && e.terminated[d] {
			return "" // The product refuses it.
		}
	}
	span := scenario.Object{"start": from.date(), "end": to.date()}
	list := []scenario.Object{}
	if term > 0 {
		list = append(list, scenario.Object{
			"employmentTerm": scenario.Object{"id": w.terms[term]}, "effectiveDate": from.date(), "expirationDate": to.date(),
		})
	}
	w.must(http.MethodPost, "/v1/commons/persons/employment_terms/multi_upsert", []scenario.Object{
		{"personIdentity": scenario.Object{"personKey": e.id}, "assignmentSpan": span, "assignments": list},
	}, nil)
	for d := from; d < to; d++ {
		e.terms[d] = term
	}
	return fmt.Sprintf("employee %d is on term %d from %d to %d", i, term, from, to)
}

// enter adds a shift by hand.
func (w *fixture) enter() string {
	made := w.anyEntered()
	body, refused := w.shiftBody(made), w.employees[made.employee].isLocked(made.day)
	var response []struct{ ID int64 }
	if !w.send(http.MethodPost, shifts, body, &response, refused) {
		return fmt.Sprintf("enter a shift on the locked day %d of %d", made.day, made.employee)
	}
	made.id = response[0].ID
	w.entered = append(w.entered, storeEntered(made))
	return fmt.Sprintf("enter %d for employee %d on %d", made.id, made.employee, made.day)
}

func (w *fixture) anyEntered() *entered {
	w.labels++
	start := 60 * w.random.IntN(24)
	return &entered{
		employee: w.random.IntN(len(w.employees)), day: w.anyDay(), label: fmt.Sprint("by hand ", w.labels),
		start: start, end: start + 90 + w.random.IntN(500),
	}
}

// storeEntered returns an entered shift as the product stores it: a time that the clock skips is an
// hour later.
func storeEntered(m *entered) *entered {
	kept := *m
	if isSkipped(m.day, m.start) {
		kept.start += gapEnd - gapStart
	}
	if isSkipped(m.day, m.end) {
		kept.end += gapEnd - gapStart
	}
	return &kept
}

func (w *fixture) shiftBody(m *entered) scenario.Object {
	return scenario.Object{
		"employee": scenario.Object{"id": w.employees[m.employee].id}, "label": m.label,
		"startDateTime": clock(m.day, m.start), "endDateTime": clock(m.day, m.end),
	}
}

// send makes a call that is refused if it concerns a locked day or a day without an employment, and
// reports whether it was carried out.
func (w *fixture) send(method, path string, body, response any, refused bool) bool {
	w.t.Helper()
	if !refused {
		w.must(method, path, body, response)
		return true
	}
	_, err := w.call(method, path, body, response)
	require.Equal(w.t, http.StatusBadRequest, status(err), "it was not refused: %v", err)
	return false
}

// touch edits or deletes a shown entry.
func (w *fixture) touch() string {
	if len(w.last) == 0 {
		return ""
	}
	s := w.last[w.random.IntN(len(w.last))]
	if s.payCode && !s.generated {
		return "" // The entry belongs to a request for time off.
	}
	refused := s.locked
	if s.payCode || w.chance(50) {
		base := shifts
		if s.payCode {
			base = payCodes
		}
		if w.send(http.MethodDelete, path(base, s.id), nil, nil, refused) {
			w.model(s, nil)
		}
		return fmt.Sprint("delete ", s)
	}
	made := w.anyEntered()
	made.id = s.id
	if w.chance(60) {
		made.employee = s.employee
	}
	if w.chance(60) {
		made.day = s.day
	}
	refused = refused || w.employees[made.employee].isLocked(made.day) || w.vanishes(made)
	if w.send(http.MethodPost, path(shifts, s.id), w.shiftBody(made), nil, refused) {
		w.model(s, storeEntered(made))
	}
	return fmt.Sprintf("edit %v into %+v", s, *made)
}

// model records the change of an entry: another entry, or its deletion.
func (w *fixture) model(s shown, made *entered) {
	if !s.generated {
		for i, m := range w.entered {
			if m.id == s.id {
				w.entered = slices.Delete(w.entered, i, i+1)
				if made != nil {
					w.entered = append(w.entered, made)
				}
				return
			}
		}
		for _, t := range w.touched {
			if t.id == s.id {
				t.made = made
				return
			}
		}
	}
	for _, l := range w.layers(w.employees[s.employee], s.day) {
		for index, e := range l.entries {
			if l.assignment == s.assignment && e == (entry{s.payCode, s.label, s.start, s.end}) {
				w.touched = append(w.touched, &touched{
					id: s.id, employee: s.employee, day: s.day, lineage: l.lineage, own: l.own, entries: slices.Clone(l.entries), index: index, made: made,
				})
				return
			}
		}
	}
	require.Fail(w.t, "the model does not know this entry", "%v", s)
}

// freeze locks some days of an employee.
func (w *fixture) freeze() string {
	i := w.random.IntN(len(w.employees))
	e, from := w.employees[i], w.anyDay()
	to := from + 1 + day(w.random.IntN(3))
	w.withdraw()
	w.must(http.MethodPost, "/v1/scheduling/schedule/daylocks/apply_create", scenario.Object{"forEmployees": scenario.Object{"where": scenario.Object{
		"employeeRefs": scenario.Object{"ids": []int64{e.id}}, "startDate": from.date(), "endDate": (to - 1).date(),
	}}}, nil)
	for d := from; d < to; d++ {
		w.lock(e, d)
	}
	return fmt.Sprintf("lock %d to %d of employee %d", from, to, i)
}

// unfreeze deletes one of the locks that were read last. Days without another lock again show their
// patterns and edits.
func (w *fixture) unfreeze() string {
	gone := w.locks[w.random.IntN(len(w.locks))]
	if gone.from < 0 || gone.to > window {
		return "" // Locks that were not read may lie on its days.
	}
	e := w.employees[gone.employee]
	w.must(http.MethodPost, "/v1/scheduling/schedule", scenario.Object{
		"employeeRef": scenario.Object{"id": e.id}, "dayLocks": scenario.Object{"delete": []int64{gone.id}},
	}, nil)
	for d := gone.from; d < gone.to; d++ {
		if !slices.ContainsFunc(w.locks, func(l dayLock) bool { return l.id != gone.id && l.on(gone.employee, d) }) {
			delete(e.frozen, d)
			delete(e.frozenLeave, d)
		}
	}
	return fmt.Sprintf("unlock %d to %d of employee %d", gone.from, gone.to, gone.employee)
}
