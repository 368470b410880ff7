package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// leaveEdit stores leave as the projection does; times are "HH:MM", none without.
func (f *fixture) leaveEdit(id, employee int64, from, start, to, end string, amount int64, symbolic string) {
	f.t.Helper()
	edit := &schedulingv1.LeaveEdit{
		StartDate: from, EndDate: to, DurationInTime: proto.Int64(amount), LeaveCase: ref(4, "C4"), LeaveCaseCode: "C4",
		PaidSegment: &schedulingv1.LeaveEditSegment{Id: proto.Int64(1), DurationInTime: proto.Int64(amount), SymbolicValue: symbolicamount.Ref(symbolic)},
		Locked:      proto.Bool(false), Deleted: proto.Bool(false),
	}
	if start != "" {
		edit.StartTime, edit.EndTime = start+":00", end+":00"
	}
	body, err := proto.Marshal(edit)
	require.NoError(f.t, err)
	f.Exec(f.t, "INSERT INTO leave_edit VALUES ($1, $2, $3, $4, $5, 6, $6)", tenantID, id, employee, from, to, body)
}

// hours lists start and end of shifts, and of their segments.
func hours(shifts *schedulingv1.ShiftList) []string {
	out := []string{}
	for _, s := range shifts.GetShifts() {
		text := s.GetStartDateTime()[8:16] + "-" + s.GetEndDateTime()[8:16]
		for _, segment := range s.GetSegments() {
			text += " " + segment.GetStartDateTime()[11:16] + "-" + segment.GetEndDateTime()[11:16]
		}
		out = append(out, text)
	}
	return out
}

func TestLeaveCoversShifts(t *testing.T) {
	t.Parallel()
	const hour = 3600
	type leave struct {
		from, start, to, end string
		amount               int64
		symbolic             string
	}
	const day = "2025-03-05"
	for name, test := range map[string]struct {
		leave []leave
		want  []string
	}{
		"none":                     {nil, []string{"05T08:00-05T16:30 08:00-12:00 12:00-12:30 12:30-16:30"}},
		"the whole shift":          {[]leave{{day, "08:00", day, "16:30", 0, ""}}, []string{}},
		"more than the shift":      {[]leave{{"2025-03-04", "00:00", "2025-03-06", "00:00", 0, ""}}, []string{}},
		"its beginning":            {[]leave{{day, "07:00", day, "10:00", 0, ""}}, []string{"05T10:00-05T16:30 10:00-12:00 12:00-12:30 12:30-16:30"}},
		"up to inside the break":   {[]leave{{day, "08:00", day, "12:15", 0, ""}}, []string{"05T12:30-05T16:30 12:30-16:30"}},
		"its middle":               {[]leave{{day, "09:00", day, "10:00", 0, ""}}, []string{"05T08:00-05T16:30 08:00-09:00 10:00-12:00 12:00-12:30 12:30-16:30"}},
		"its end":                  {[]leave{{day, "12:30", day, "20:00", 0, ""}}, []string{"05T08:00-05T12:00 08:00-12:00"}},
		"both ends":                {[]leave{{day, "06:00", day, "09:00", 0, ""}, {day, "14:00", day, "17:00", 0, ""}}, []string{"05T09:00-05T14:00 09:00-12:00 12:00-12:30 12:30-14:00"}},
		"another time":             {[]leave{{day, "16:30", day, "20:00", 0, ""}, {"2025-03-04", "", "2025-03-04", "", 8 * hour, ""}}, []string{"05T08:00-05T16:30 08:00-12:00 12:00-12:30 12:30-16:30"}},
		"a full day":               {[]leave{{day, "", day, "", 0, "FULL_DAY"}}, []string{}},
		"half a day":               {[]leave{{day, "", day, "", 0, "HALF_DAY"}}, []string{"05T12:30-05T16:30 12:30-16:30"}},
		"two halves":               {[]leave{{day, "", day, "", 0, "HALF_DAY"}, {day, "", day, "", 0, "HALF_DAY"}}, []string{}},
		"as much as is worked":     {[]leave{{day, "", day, "", 8 * hour, ""}}, []string{}},
		"six hours from its start": {[]leave{{day, "", day, "", 6 * hour, ""}}, []string{"05T14:30-05T16:30 14:30-16:30"}},
		"no time":                  {[]leave{{day, "", day, "", 0, ""}, {day, "10:00", day, "10:00", 0, ""}}, []string{"05T08:00-05T16:30 08:00-12:00 12:00-12:30 12:30-16:30"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.employee(1, "UTC")
			f.employee(2, "UTC")
			p := f.pattern(cycle(1, shift(1, "08:00", "16:30",
				segment("08:00", "12:00", regular()), segment("12:00", "12:30", pause()), segment("12:30", "16:30", regular()))))
			f.span(span{employee: 1, from: day, to: "2025-03-06", pattern: p})
			f.span(span{employee: 2, from: day, to: "2025-03-06", pattern: p})
			for i, l := range test.leave {
				f.leaveEdit(int64(i+1), 1, l.from, l.start, l.to, l.end, l.amount, l.symbolic)
			}
			got := f.read(window(day, day, onlyShifts(), 1))
			assert.Equal(t, test.want, hours(got.GetShifts()))
			assert.Nil(t, got.GetLeaveEdits(), "it was not selected")
			both := f.read(window(day, day, []string{"SHIFTS", "SCHEDULEDAYS"}, 2, 1))
			assert.Equal(t, append([]string{"05T08:00-05T16:30 08:00-12:00 12:00-12:30 12:30-16:30"}, test.want...), hours(both.GetShifts()))
			assert.Equal(t, len(test.want) > 0, both.GetScheduleDayList().GetDays()[1].GetHasShift())
			f.Exec(f.t, "DELETE FROM leave_edit")
			assert.Len(t, f.read(window(day, day, onlyShifts(), 1)).GetShifts().GetShifts(), 1, "the shift comes back")
		})
	}
}

// Leave of a day takes the night that begins on it, and nothing from a shift of the next
// day that begins before the night is over. Leave with times takes from both.
func TestLeaveOfADayTakesShiftsOfThatDay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		leave func(f *fixture)
		want  []string
	}{
		"a full day":        {func(f *fixture) { f.leaveEdit(1, 1, "2025-03-05", "", "2025-03-05", "", 0, "FULL_DAY") }, []string{"06T01:00-06T09:00"}},
		"four hours":        {func(f *fixture) { f.leaveEdit(1, 1, "2025-03-05", "", "2025-03-05", "", 4*3600, "") }, []string{"06T02:00-06T06:00 02:00-06:00", "06T01:00-06T09:00"}},
		"the next full day": {func(f *fixture) { f.leaveEdit(1, 1, "2025-03-06", "", "2025-03-06", "", 0, "FULL_DAY") }, []string{"05T22:00-06T06:00 22:00-06:00"}},
		"times":             {func(f *fixture) { f.leaveEdit(1, 1, "2025-03-05", "22:00", "2025-03-06", "06:00", 0, "") }, []string{"06T06:00-06T09:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.employee(1, "UTC")
			p := f.pattern(cycle(1, shift(1, "22:00", "06:00")))
			f.span(span{employee: 1, from: "2025-03-05", to: "2025-03-06", pattern: p})
			f.item(70, 1, "SHIFT", "2025-03-06", "2025-03-06", newShift("2025-03-06T01:00:00", "2025-03-06T09:00:00"))
			test.leave(f)
			assert.ElementsMatch(t, test.want, hours(f.read(window("2025-03-05", "2025-03-06", onlyShifts(), 1)).GetShifts()))
		})
	}
}

func TestLeaveIsShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	p := f.pattern(cycle(1, shift(1, "22:00", "06:00")))
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-08", pattern: p})
	f.lock(1, "2025-03-05", "2025-03-06")
	f.item(70, 1, "SHIFT", "2025-03-05", "2025-03-05", newShift("2025-03-05T08:00:00", "2025-03-05T12:00:00"))
	f.leaveEdit(12, 1, "2025-03-05", "10:00", "2025-03-06", "02:00", 16*3600, "")
	f.leaveEdit(11, 1, "2025-03-02", "", "2025-03-02", "", 0, "FULL_DAY")
	f.keepLeave(1, "2025-03-05", "2025-03-06")

	got := f.read(window("2025-03-03", "2025-03-06", []string{"SHIFTS", "LEAVEEDITS"}, 1))
	assert.Equal(t, []string{
		"03T22:00-04T06:00 22:00-06:00", "04T22:00-05T06:00 22:00-06:00", "05T08:00-05T10:00",
		"06T02:00-06T06:00 02:00-06:00", "06T22:00-07T06:00 22:00-06:00",
	}, hours(got.GetShifts()), "the night shift of the 2nd is covered, though its leave is not shown")
	cut := got.GetShifts().GetShifts()[3]
	assert.Equal(t, entryID(t, 1, "2025-03-05", 0, 0), cut.GetId())
	assert.True(t, cut.GetLocked())
	assert.Equal(t, int64(7), cut.GetVersion())
	assert.Equal(t, "FROM_GROUPITEM_TO_ITEM", cut.GetRelations()[0].GetType())

	require.Len(t, got.GetLeaveEdits().GetLeaveEdits(), 1)
	edit := got.GetLeaveEdits().GetLeaveEdits()[0]
	assert.Equal(t, int64(12), edit.GetId())
	assert.Equal(t, "P1", edit.GetEmployee().GetQualifier())
	assert.Equal(t, int64(6), edit.GetVersion())
	assert.Equal(t, "2025-03-06", edit.GetEndDate())
	assert.True(t, edit.GetLocked())
	assert.Equal(t, "C4", edit.GetLeaveCaseCode())
	assert.Empty(t, f.read(window("2025-03-07", "2025-03-07", []string{"leaveEdits"}, 1)).GetLeaveEdits().GetLeaveEdits())
	later := f.read(window("2025-03-06", "2025-03-06", []string{"LeaveEdits"}, 1)).GetLeaveEdits().GetLeaveEdits()
	assert.Len(t, later, 1, "it lasts until the 6th")
}

// What clock changes do to a shift is settled before leave is taken from it.
func TestLeaveOfAShiftAcrossAClockChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "Europe/Zurich")
	p := f.pattern(cycle(1, shift(1, "02:30", "08:00")))
	f.span(span{employee: 1, from: "2025-03-30", to: "2025-03-31", pattern: p})
	f.leaveEdit(1, 1, "2025-03-30", "06:00", "2025-03-30", "08:00", 2*3600, "")
	got := f.read(window("2025-03-30", "2025-03-30", onlyShifts(), 1))
	assert.Equal(t, []string{"30T03:30-30T06:00 03:30-06:00"}, hours(got.GetShifts()))
}

// A shift is the same whether the window ends with its first day or later.
func TestLeaveBehindTheWindowCoversWhatReachesOutOfIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "UTC")
	p := f.pattern(cycle(1, shift(1, "22:00", "06:00")))
	f.span(span{employee: 1, from: "2025-03-01", to: "2025-03-02", pattern: p})
	f.leaveEdit(1, 1, "2025-03-02", "03:00", "2025-03-02", "06:00", 3*3600, "")
	for last, shown := range map[string]int{"2025-03-01": 0, "2025-03-02": 1} {
		t.Run(last, func(t *testing.T) {
			got := f.read(window("2025-03-01", last, []string{"SHIFTS", "LEAVEEDITS"}, 1))
			assert.Equal(t, []string{"01T22:00-02T03:00 22:00-03:00"}, hours(got.GetShifts()), last)
			assert.Len(t, got.GetLeaveEdits().GetLeaveEdits(), shown, "leave of a day behind the window is not shown")
		})
	}
}

// keepLeave keeps the leave of days that are locked, as whoever locks them does.
func (f *fixture) keepLeave(employee int64, from, to string) {
	f.t.Helper()
	f.Exec(f.t, `INSERT INTO locked_leave SELECT tenant_id, employee_id, $2::text::date, $3::text::date, id, from_day, to_day, version, body
		FROM leave_edit WHERE employee_id = $1`, employee, from, to)
}

// On locked days leave replaces the work that it replaced when they were locked.
func TestLeaveOnLockedDays(t *testing.T) {
	t.Parallel()
	const day, next = "2025-03-05", "2025-03-06"
	whole := []string{"04T22:00-05T06:00 22:00-06:00", "05T08:00-05T16:00 08:00-16:00", "06T08:00-06T16:00 08:00-16:00"}
	for name, test := range map[string]struct {
		before, after func(f *fixture)
		want          []string
	}{
		"came after the lock": {
			func(*fixture) {}, func(f *fixture) { f.leaveEdit(1, 1, day, "", day, "", 0, "FULL_DAY") }, whole,
		},
		"went after the lock": {
			func(f *fixture) { f.leaveEdit(1, 1, day, "", day, "", 0, "FULL_DAY") }, func(f *fixture) { f.Exec(f.t, "DELETE FROM leave_edit") },
			[]string{whole[0], whole[2]},
		},
		"became shorter": {
			func(f *fixture) { f.leaveEdit(1, 1, day, "07:00", next, "12:00", 0, "") },
			func(f *fixture) {
				f.Exec(f.t, "DELETE FROM leave_edit")
				f.leaveEdit(1, 1, next, "07:00", next, "10:00", 0, "")
			},
			[]string{whole[0], "06T10:00-06T16:00 10:00-16:00"},
		},
		"of the night before, which is not locked": {
			func(*fixture) {}, func(f *fixture) { f.leaveEdit(1, 1, day, "02:00", day, "12:00", 0, "") },
			[]string{"04T22:00-05T02:00 22:00-02:00", whole[1], whole[2]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.employee(1, "UTC")
			f.span(span{employee: 1, from: "2025-03-04", to: day, pattern: f.pattern(cycle(1, shift(1, "22:00", "06:00")))})
			f.span(span{employee: 1, lane: 1, from: day, to: "2025-03-07", pattern: f.pattern(cycle(1, shift(1, "08:00", "16:00")))})
			test.before(f)
			f.lock(1, day, next)
			f.keepLeave(1, day, next)
			test.after(f)
			assert.Equal(t, test.want, hours(f.read(window("2025-03-04", "2025-03-07", onlyShifts(), 1)).GetShifts()))
			assert.Equal(t, test.want[len(test.want)-1:], hours(f.read(window(next, next, onlyShifts(), 1)).GetShifts()))
		})
	}
}
