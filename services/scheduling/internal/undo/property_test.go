package undo_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// pairs is the number of employees in each of the two worlds of a case.
const pairs = 3

// firstDay is the first of the days that are compared.
var firstDay = mustDate("2025-03-01")

const comparedDays = 60

func mustDate(text string) civil.Date {
	date, err := civil.ParseDate(text)
	if err != nil {
		panic(err)
	}
	return date
}

// worlds are two terms with employees of the same history. One of the terms has a change that is
// undone; the other never had it.
type worlds struct {
	*fixture
	*rand.Rand

	number int64
	// assignments has the assignments of both worlds, at the same positions.
	assignments [2][]int64
	// series maps the series of entries from the changed world to the other.
	series map[int64]int64
	// moved has the employees whose memberships changed while the change was there. If one left and
	// came back, the other world has new numbers, and the undo restores the former ones.
	moved map[int64]bool
	// locks has the locked days by employee, and frozen the locked days that keep the shifts of the change.
	locks, frozen map[int64][]civil.Range
	steps         []string
}

// term returns the term of a world: 0 has the change, 1 has not.
func (c *worlds) term(world int64) int64 { return 100 + 2*c.number + world }

func (c *worlds) employee(world, i int64) int64 { return 10_000*(c.number+1) + 1000*world + i }

// A change and its undo leave what there would be without the change, whatever happens in between:
// edits by hand, locked days, changed memberships, leave, and killed workers.
func TestUndoLeavesWhatTheChangeFound(t *testing.T) {
	t.Parallel()
	cases, seed := int64(12), rand.Uint64()
	if os.Getenv("ROTALOOM_FAULTS") == "long" {
		cases = 300
	}
	if text := os.Getenv("ROTALOOM_UNDO_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("ROTALOOM_UNDO_SEED=%d", seed)
	w := newFixture(t)
	for number := range cases {
		c := &worlds{
			fixture: w, Rand: rand.New(rand.NewPCG(seed, uint64(number))), number: number,
			series: map[int64]int64{}, moved: map[int64]bool{}, locks: map[int64][]civil.Range{}, frozen: map[int64][]civil.Range{},
		}
		c.play()
	}
}

// play runs one case.
func (c *worlds) play() {
	c.begin()
	for range c.IntN(4) {
		c.meddle(false)
	}
	c.compare("before the change")
	changed := c.change()
	c.settleUnderFire()
	for range c.IntN(6) {
		c.meddle(true)
	}
	for range 1 + 2*c.IntN(2) { // Sometimes the undo is undone, and that again.
		changed = c.undo(changed)
		c.note("undo")
		c.settleUnderFire()
	}
	c.compare("after the undo")
}

func (c *worlds) note(format string, args ...any) {
	c.steps = append(c.steps, fmt.Sprintf(format, args...))
}

// begin makes two equal worlds.
func (c *worlds) begin() {
	for world := range int64(2) {
		c.fixture.term(c.term(world))
		for i := range int64(pairs) {
			c.fixture.employee(c.employee(world, i), c.term(world))
		}
	}
	for range 1 + c.IntN(3) {
		from, to, names, override := c.anyDay(20), c.anyDay(30).AddDays(25), c.anyNames(), c.IntN(3) == 0
		for world := range int64(2) {
			id, _ := c.assign(c.term(world), from.String(), to.String(), override, names...)
			c.assignments[world] = append(c.assignments[world], id)
		}
		c.note("assign %s..%s %v override %v", from, to, names, override)
		c.settle() // Both worlds number the entries of one assignment after the other.
	}
	if c.IntN(2) == 0 {
		from, names := c.anyDay(40), c.anyNames()
		for world := range int64(2) {
			c.assignOwn(c.employee(world, 0), from.String(), "", false, names...)
		}
		c.note("assign own %s %v", from, names)
	}
	c.settle()
}

func (c *worlds) anyDay(among int) civil.Date { return firstDay.AddDays(c.IntN(among)) }

func (c *worlds) anyNames() []string {
	names := make([]string, 1+c.IntN(3))
	for i := range names {
		names[i] = []string{"EARLY", "LATE", "NIGHT", "MIDDAY", ""}[c.IntN(5)]
	}
	names[0] = []string{"EARLY", "LATE"}[c.IntN(2)]
	return names
}

// change changes the first world, and returns the propagation.
func (c *worlds) change() int64 {
	k := c.IntN(len(c.assignments[0]))
	id := c.assignments[0][k]
	from, to := c.anyDay(25), c.anyDay(20).AddDays(30)
	names := c.anyNames()
	kind := c.IntN(8)
	c.note("change %d of %d: %s..%s %v", kind, k, from, to, names)
	switch kind {
	case 0, 1:
		_, propagation := c.assign(c.term(0), from.String(), to.String(), kind == 0, names...)
		return propagation
	case 2:
		return c.recreate(id, append(names, "MIDDAY", "NIGHT", "MIDDAY")...)
	case 3: // on a day of the assignment
		return c.replaceFrom(id, firstDay.AddDays(20).String(), append(names, "MIDDAY", "NIGHT", "MIDDAY")...)
	case 4:
		return c.takeAway(id, firstDay.AddDays(20).String(), firstDay.AddDays(22).String())
	case 5:
		return c.remove(id)
	case 6:
		return c.passOn(c.term(0), false)
	default:
		_, propagation := c.assignOwn(c.employee(0, 1), from.String(), "", c.IntN(2) == 0, names...)
		return propagation
	}
}

// meddle does one thing to the same employee of both worlds.
func (c *worlds) meddle(changed bool) {
	i := c.Int64N(pairs)
	day, kind := c.anyDay(50), c.IntN(6)
	if kind < 3 && slices.ContainsFunc(c.locks[i], func(days civil.Range) bool { return days.Contains(day) }) {
		return // Nobody changes locked days.
	}
	switch kind {
	case 0, 1:
		if !changed {
			c.learn()
		}
		c.editEntry(i, day, kind == 0)
	case 2:
		for world := range int64(2) {
			c.enterShift(c.employee(world, i), day)
		}
		c.note("enter a shift for %d on %s", i, day)
	case 3:
		to := day.AddDays(c.IntN(4))
		for world := range int64(2) {
			c.lock(c.employee(world, i), day.String(), to.String())
		}
		days := civil.Range{From: day, To: to.AddDays(1)}
		if c.locks[i] = append(c.locks[i], days); changed {
			c.frozen[i] = append(c.frozen[i], days)
		}
		c.note("lock %s..%s of %d", day, to, i)
	case 4:
		from := []string{"", "2025-01-01", day.String()}[c.IntN(3)]
		for world := range int64(2) {
			c.member(c.employee(world, i), c.term(world), from)
		}
		c.moved[i] = c.moved[i] || changed
		c.note("member %d from %q", i, from)
		c.settleUnderFire()
	case 5:
		for world := range int64(2) {
			c.putLeave(c.employee(world, i), day)
		}
		c.note("leave of %d on %s", i, day)
	}
}

// editEntry changes or deletes a generated entry that both worlds had before the change. Entries
// that only the change made are left out, also at the place of an equal one: what becomes of them
// has no counterpart.
func (c *worlds) editEntry(i int64, day civil.Date, deletes bool) {
	others := map[int64]int64{}
	for _, s := range c.read(c.employee(1, i), day.String(), day.String()) {
		if at, err := entryid.Decode(s.GetId()); err == nil && s.GetGenerated() {
			others[at.Series] = s.GetId()
		}
	}
	for _, s := range c.read(c.employee(0, i), day.String(), day.String()) {
		at, err := entryid.Decode(s.GetId())
		if err != nil || !s.GetGenerated() {
			continue
		}
		other, found := others[c.series[at.Series]]
		if !found {
			continue
		}
		c.note("edit %d on %s, delete %v", i, day, deletes)
		for _, id := range []int64{s.GetId(), other} {
			c.editShift(id, deletes)
		}
		return
	}
}

func (c *worlds) editShift(id int64, deletes bool) {
	if deletes {
		_, err := c.shifts.DeleteShift(c.Ctx, &schedulingv1.DeleteShiftRequest{Id: id})
		require.NoError(c.t, err, c.steps)
		return
	}
	got, err := c.shifts.GetShift(c.Ctx, &schedulingv1.GetShiftRequest{Id: id})
	require.NoError(c.t, err, c.steps)
	got.Label, got.Segments = "changed", nil
	_, err = c.shifts.UpdateShift(c.Ctx, &schedulingv1.UpdateShiftRequest{Id: id, Shift: got})
	require.NoError(c.t, err, c.steps)
}

func (c *worlds) enterShift(employee int64, day civil.Date) {
	_, err := c.shifts.CreateShift(c.Ctx, &schedulingv1.Shift{
		Employee:      &commonv1.Ref{Id: &employee},
		StartDateTime: day.String() + "T02:00:00", EndDateTime: day.String() + "T04:00:00",
	})
	require.NoError(c.t, err, c.steps)
}

func (c *worlds) putLeave(employee int64, day civil.Date) {
	_, err := c.fixture.leave.PutLeave(c.Ctx, &schedulingv1.PutLeaveRequest{Employees: []*schedulingv1.EmployeeLeaveState{{
		EmployeeId: employee, Version: 1, LeaveEdits: []*schedulingv1.LeaveEdit{{
			Id: proto.Int64(employee), Version: proto.Int64(1), StartDate: day.String(), EndDate: day.String(), DurationInTime: proto.Int64(3600),
		}},
	}}})
	require.NoError(c.t, err, c.steps)
}

// settleUnderFire kills workers while they apply changes.
func (c *worlds) settleUnderFire() {
	for range c.IntN(4) {
		c.killWorkers()
	}
	c.settle()
}

// entry is a generated or entered entry, or what hides one, on a day of an employee.
type entry struct {
	day                          civil.Date
	lane                         int16
	what                         string
	pattern, position, series    int64
	deleted, withdrawn, inherits bool
}

// learn maps the series of entries that both worlds have at the same place, if they are new.
func (c *worlds) learn() {
	for i := range int64(pairs) {
		pairSeries(c.series, c.readGenerated(c.employee(0, i)), c.readGenerated(c.employee(1, i)))
	}
}

// pairSeries maps each series of a that is not in the map to the series of b at the same place.
func pairSeries(series map[int64]int64, a, b []entry) {
	for _, x := range a {
		for _, y := range b {
			if x.day == y.day && x.lane == y.lane && x.pattern == y.pattern && x.position == y.position && x.inherits == y.inherits && series[x.series] == 0 {
				series[x.series] = y.series
			}
		}
	}
}

// compare compares the two worlds on the days that no lock froze while the change was there.
func (c *worlds) compare(when string) {
	c.learn()
	for i := range int64(pairs) {
		where := fmt.Sprintf("case %d, employee %d, %s, after %v", c.number, i, when, c.steps)
		a, b := c.readGenerated(c.employee(0, i)), c.readGenerated(c.employee(1, i))
		series := c.series
		if c.moved[i] {
			series = map[int64]int64{}
			pairSeries(series, a, b)
		}
		known := map[int64]bool{}
		for _, number := range series {
			known[number] = true
		}
		isFrozen := func(e entry) bool {
			return slices.ContainsFunc(c.frozen[i], func(days civil.Range) bool { return days.Contains(e.day) })
		}
		a, b = slices.DeleteFunc(a, isFrozen), slices.DeleteFunc(b, isFrozen)
		for k := range a {
			if mapped := series[a[k].series]; mapped != 0 {
				a[k].series = mapped
			}
		}
		for k := range b {
			require.True(c.t, known[b[k].series], where)
		}
		require.Equal(c.t, b, a, where)
		require.Equal(c.t, c.readEntered(c.employee(1, i), isFrozen), c.readEntered(c.employee(0, i), isFrozen), where)
		require.Equal(c.t, c.readLocked(c.employee(1, i)), c.readLocked(c.employee(0, i)), where)
	}
}

// readGenerated lists the spans of an employee by day.
func (c *worlds) readGenerated(employee int64) []entry {
	list := []entry{}
	var e entry
	var from, to civil.Date
	var position, dayCount int32
	err := pg.ForEach(c.Ctx, c.Pool, []any{&from, &to, &e.lane, &e.pattern, &position, &dayCount, &e.inherits, &e.series}, func() error {
		for day := max(from, firstDay); day < min(to, firstDay.AddDays(comparedDays)); day++ {
			e.day, e.position = day, int64(rotation.Position(from, position, day, dayCount))
			list = append(list, e)
		}
		return nil
	}, `SELECT from_date, to_date, lane, pattern_id, position, day_count, inherited, series FROM span
		WHERE tenant_id = 1 AND employee_id = $1 ORDER BY from_date, lane`, employee)
	require.NoError(c.t, err)
	slices.SortFunc(list, func(a, b entry) int {
		if a.day != b.day {
			return int(a.day - b.day)
		}
		return int(a.lane) - int(b.lane)
	})
	return list
}

// readEntered lists the entries that people made, and the places of the generated entries that they
// hide.
func (c *worlds) readEntered(employee int64, isFrozen func(entry) bool) []entry {
	list, err := pg.Collect(c.Ctx, c.Pool, func(row pgx.CollectableRow) (e entry, err error) {
		err = row.Scan(&e.day, &e.what, &e.lane, &e.position, &e.deleted, &e.withdrawn)
		return e, err
	}, `SELECT from_day, kind, coalesce(hidden_lane, -1), coalesce(hidden_ordinal, -1)::bigint, deleted, withdrawn FROM schedule_item
		WHERE tenant_id = 1 AND (employee_id = $1 OR hides_employee_id = $1) ORDER BY from_day, kind, 3, 4, deleted`, employee)
	require.NoError(c.t, err)
	return slices.DeleteFunc(list, isFrozen)
}

// readLocked lists the locked days and the leave of an employee.
func (c *worlds) readLocked(employee int64) []string {
	list, err := pg.Collect(c.Ctx, c.Pool, pgx.RowTo[string], `
		SELECT 'lock ' || from_date || ' ' || to_date FROM day_lock WHERE tenant_id = 1 AND employee_id = $1
		UNION ALL SELECT 'leave ' || from_day FROM leave_edit WHERE tenant_id = 1 AND employee_id = $1 ORDER BY 1`, employee)
	require.NoError(c.t, err)
	return list
}
