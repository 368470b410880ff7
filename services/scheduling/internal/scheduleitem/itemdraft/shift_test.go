package itemdraft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

const longest = 16 * time.Hour

// baker is an employee in Berlin, where clocks go on at 2 o'clock on 29 March 2026.
func baker(t *testing.T) *projection.Employee {
	t.Helper()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	return &projection.Employee{
		ID: 7, PersonNumber: "E-7", Zone: zone,
		Jobs: []projection.Job{{Days: civil.Range{From: civil.Of(2026, time.March, 1), To: civil.Forever}, Path: "Shop/Baker"}},
	}
}

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(name)} }

func refByID(id int64) *commonv1.Ref { return &commonv1.Ref{Id: proto.Int64(id)} }

// segmentAt is a segment of 2 March 2026.
func segmentAt(start, end string) *schedulingv1.ShiftSegment {
	return &schedulingv1.ShiftSegment{StartDateTime: "2026-03-02T" + start, EndDateTime: "2026-03-02T" + end}
}

// shift is one of 2 March 2026 from 8 to 16 o'clock.
func shift(segments ...*schedulingv1.ShiftSegment) *schedulingv1.Shift {
	return &schedulingv1.Shift{StartDateTime: "2026-03-02T08:00:00", EndDateTime: "2026-03-02T16:00:00", Segments: segments}
}

func TestTimesOfShifts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, start, end string
		code             string // "" for a shift of the days
		from, to         civil.Date
	}{
		{"of a day", "2026-03-02T08:00:00", "2026-03-02T16:00:00", "", civil.Of(2026, 3, 2), civil.Of(2026, 3, 2)},
		{"of a night", "2026-03-02T22:00:00", "2026-03-03T06:00:00", "", civil.Of(2026, 3, 2), civil.Of(2026, 3, 3)},
		{"until midnight", "2026-03-02T16:00:00", "2026-03-03T00:00:00", "", civil.Of(2026, 3, 2), civil.Of(2026, 3, 2)},
		{"until the second after midnight", "2026-03-02T16:00:00", "2026-03-03T00:00:01", "", civil.Of(2026, 3, 2), civil.Of(2026, 3, 3)},
		{"of the longest", "2026-03-02T08:00:00", "2026-03-03T00:00:00", "", civil.Of(2026, 3, 2), civil.Of(2026, 3, 2)},
		{"of more than the longest", "2026-03-02T08:00:00", "2026-03-03T00:00:01", itemfault.CodeShiftLength, 0, 0},
		{"without a start", "", "2026-03-02T16:00:00", fault.CodeInput, 0, 0},
		{"without an end", "2026-03-02T08:00:00", "", fault.CodeInput, 0, 0},
		{"that take no time", "2026-03-02T08:00:00", "2026-03-02T08:00:00", fault.CodeInput, 0, 0},
		{"that take no second", "2026-03-02T08:00:00.1", "2026-03-02T08:00:00.9", fault.CodeInput, 0, 0},
		{"that go back", "2026-03-02T16:00:00", "2026-03-02T08:00:00", fault.CodeInput, 0, 0},
		{"with a zone", "2026-03-02T08:00:00Z", "2026-03-02T16:00:00Z", fault.CodeDate, 0, 0},
		{"of no day", "2026-02-29T08:00:00", "2026-03-01T00:00:00", fault.CodeDate, 0, 0},
		{"of the first day", "1900-01-01T00:00:00", "1900-01-01T08:00:00", "", civil.Beginning, civil.Beginning},
		{"of the day before", "1899-12-31T20:00:00", "1900-01-01T04:00:00", fault.CodeInput, 0, 0},
		{"of the last day", "2999-12-31T08:00:00", "2999-12-31T23:59:59", "", civil.Forever - 1, civil.Forever - 1},
		{"of the day after", "2999-12-31T20:00:00", "3000-01-01T00:00:00", fault.CodeInput, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			draft, err := itemdraft.Shift(&schedulingv1.Shift{StartDateTime: c.start, EndDateTime: c.end}, baker(t), longest)
			faulttest.RequireCode(t, c.code, err)
			if c.code != "" {
				return
			}
			assert.Equal(t, []civil.Date{c.from, c.to}, []civil.Date{draft.From, draft.To})
			assert.Equal(t, civil.Range{From: c.from, To: c.from + 1}, draft.Occupies, "it belongs to the day it starts")
		})
	}
}

func TestSegmentsOfShifts(t *testing.T) {
	t.Parallel()
	typed := func(s *schedulingv1.ShiftSegment, kind string, ref *commonv1.Ref) *schedulingv1.ShiftSegment {
		s.Type, s.SegmentTypeRef = kind, ref
		return s
	}
	for _, c := range []struct {
		name string
		sent []*schedulingv1.ShiftSegment
		want []string // nothing when they are refused
	}{
		{"none", nil, []string{"REGULAR_SEGMENT 08:00:00 16:00:00"}},
		{"with a gap", []*schedulingv1.ShiftSegment{segmentAt("08:00:00", "10:00:00"), segmentAt("12:00:00", "13:00:00")}, []string{"REGULAR_SEGMENT 08:00:00 10:00:00", "REGULAR_SEGMENT 12:00:00 13:00:00"}},
		{"out of order", []*schedulingv1.ShiftSegment{segmentAt("12:00:00", "16:00:00"), segmentAt("08:00:00", "12:00:00")}, []string{"REGULAR_SEGMENT 08:00:00 12:00:00", "REGULAR_SEGMENT 12:00:00 16:00:00"}},
		{"by a type", []*schedulingv1.ShiftSegment{typed(segmentAt("08:00:00", "09:00:00"), "BREAK_SEGMENT", nil)}, []string{"BREAK_SEGMENT 08:00:00 09:00:00"}},
		{"by a name", []*schedulingv1.ShiftSegment{typed(segmentAt("08:00:00", "09:00:00"), "BREAK_SEGMENT", refByName("TRANSFER_SEGMENT"))}, []string{"TRANSFER_SEGMENT 08:00:00 09:00:00"}},
		{"by an id", []*schedulingv1.ShiftSegment{typed(segmentAt("08:00:00", "09:00:00"), "REGULAR_SEGMENT", &commonv1.Ref{Id: proto.Int64(2), Qualifier: proto.String("TRANSFER_SEGMENT")})}, []string{"BREAK_SEGMENT 08:00:00 09:00:00"}},
		{"of an unknown type", []*schedulingv1.ShiftSegment{typed(segmentAt("08:00:00", "09:00:00"), "PAUSE", nil)}, nil},
		{"of an unknown id", []*schedulingv1.ShiftSegment{typed(segmentAt("08:00:00", "09:00:00"), "", refByID(4))}, nil},
		{"of an id below one", []*schedulingv1.ShiftSegment{typed(segmentAt("08:00:00", "09:00:00"), "", refByID(-1))}, nil},
		{"that overlap", []*schedulingv1.ShiftSegment{segmentAt("08:00:00", "12:00:01"), segmentAt("12:00:00", "16:00:00")}, nil},
		{"that overlap, out of order", []*schedulingv1.ShiftSegment{segmentAt("12:00:00", "16:00:00"), segmentAt("08:00:00", "12:00:01")}, nil},
		{"before the shift", []*schedulingv1.ShiftSegment{segmentAt("07:59:59", "12:00:00")}, nil},
		{"after the shift", []*schedulingv1.ShiftSegment{segmentAt("12:00:00", "16:00:01")}, nil},
		{"without times", []*schedulingv1.ShiftSegment{{}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			draft, err := itemdraft.Shift(shift(c.sent...), baker(t), longest)
			if c.want == nil {
				faulttest.RequireCode(t, fault.CodeInput, err)
				return
			}
			require.NoError(t, err)
			var got []string
			for _, s := range draft.Segmented.(*schedulingv1.Shift).GetSegments() {
				assert.Equal(t, s.GetType(), s.GetSegmentTypeRef().GetQualifier())
				got = append(got, s.GetType()+" "+s.GetStartDateTime()[11:]+" "+s.GetEndDateTime()[11:])
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestTimesThatClockChangesSkip(t *testing.T) {
	t.Parallel()
	sent := &schedulingv1.Shift{StartDateTime: "2026-03-28T22:00:00", EndDateTime: "2026-03-29T06:00:00", Segments: []*schedulingv1.ShiftSegment{
		{StartDateTime: "2026-03-28T22:00:00", EndDateTime: "2026-03-29T02:30:00"}, {StartDateTime: "2026-03-29T02:30:00", EndDateTime: "2026-03-29T06:00:00"},
	}}
	for _, c := range []struct {
		name     string
		employee *projection.Employee
		middle   string
	}{
		{"go forward where somebody works", baker(t), "2026-03-29T03:30:00"},
		{"stay in an open shift", nil, "2026-03-29T02:30:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			draft, err := itemdraft.Shift(sent, c.employee, longest)
			require.NoError(t, err)
			out := draft.Segmented.(*schedulingv1.Shift)
			assert.Equal(t, c.employee == nil, out.GetOpen())
			assert.Equal(t, c.middle, out.GetSegments()[0].GetEndDateTime())
			assert.Equal(t, c.middle, out.GetSegments()[1].GetStartDateTime())
		})
	}
	assert.Equal(t, "2026-03-29T02:30:00", sent.GetSegments()[0].GetEndDateTime(), "what was sent stays")
}

// On 29 March 2026 no clock in Berlin shows 2:00 to 3:00. The segments of a shift are stored in the
// same way as the segments of a pattern are shown: a segment that would end before it begins takes
// no time.
func TestEntriesAroundTimesThatClockChangesSkip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		whole string   // "start end", of the night to 29 March
		sent  []string // "type start end"
		want  []string // the shift, then the segments; nothing when they are refused
	}{
		{
			"a break that begins in them", "22:00 06:00",
			[]string{"REGULAR 22:00 02:45", "BREAK 02:45 03:15", "REGULAR 03:15 06:00"},
			[]string{"22:00 06:00", "REGULAR 22:00 03:45", "BREAK 03:45 03:45", "REGULAR 03:45 06:00"},
		},
		{"a break that lies in them", "22:00 06:00", []string{"BREAK 02:15 02:45"}, []string{"22:00 06:00", "BREAK 03:15 03:45"}},
		{"a break that ends in them", "22:00 06:00", []string{"BREAK 01:45 02:15"}, []string{"22:00 06:00", "BREAK 01:45 03:15"}},
		{
			"a transfer that begins in them", "22:00 06:00",
			[]string{"TRANSFER 03:15 06:00", "REGULAR 22:00 02:30", "TRANSFER 02:30 03:15"},
			[]string{"22:00 06:00", "REGULAR 22:00 03:30", "TRANSFER 03:30 03:30", "TRANSFER 03:30 06:00"},
		},
		{
			"as it is shown", "22:00 06:00",
			[]string{"REGULAR 22:00 03:45", "REGULAR 03:45 06:00", "BREAK 03:45 03:45"},
			[]string{"22:00 06:00", "REGULAR 22:00 03:45", "BREAK 03:45 03:45", "REGULAR 03:45 06:00"},
		},
		{"a shift that begins in them", "02:30 05:00", []string{"BREAK 02:30 02:45"}, []string{"03:30 05:00", "BREAK 03:30 03:45"}},
		{"a shift that would end before it begins", "02:30 03:15", nil, nil},
		{"the longest shift", "11:00 02:59", nil, []string{"11:00 03:59", "REGULAR 11:00 03:59"}},
		{"a shift that lasts too long", "11:00 04:01", nil, nil},
		{"a shift that goes back", "02:45 02:30", nil, nil},
		{"a shift without time before them", "01:30 01:30", nil, nil},
		{"a shift without time in them", "02:30 02:30", nil, nil},
		{"a shift without time after them", "04:00 04:00", nil, nil},
		{"a break that goes back", "22:00 06:00", []string{"BREAK 02:45 02:30"}, nil},
		{"segments that overlap", "22:00 06:00", []string{"REGULAR 22:00 02:45", "BREAK 02:30 03:15"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent := &schedulingv1.Shift{}
			sent.StartDateTime, sent.EndDateTime = nightTimes(t, c.whole)
			for _, text := range c.sent {
				kind, times, _ := strings.Cut(text, " ")
				s := &schedulingv1.ShiftSegment{Type: kind + "_SEGMENT"}
				s.StartDateTime, s.EndDateTime = nightTimes(t, times)
				sent.Segments = append(sent.Segments, s)
			}
			draft, err := itemdraft.Shift(sent, baker(t), longest)
			if c.want == nil {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			out := draft.Segmented.(*schedulingv1.Shift)
			clocks := func(start, end string) string { return start[11:16] + " " + end[11:16] }
			got := []string{clocks(out.GetStartDateTime(), out.GetEndDateTime())}
			for _, s := range out.GetSegments() {
				got = append(got, strings.TrimSuffix(s.GetType(), "_SEGMENT")+" "+clocks(s.GetStartDateTime(), s.GetEndDateTime()))
			}
			assert.Equal(t, c.want, got)
		})
	}
	t.Run("a tag", func(t *testing.T) {
		t.Parallel()
		sent := &schedulingv1.ScheduleTag{StartDateTime: "2026-03-29T02:45:00", EndDateTime: "2026-03-29T04:00:00"}
		draft, err := itemdraft.ScheduleTag(sent, baker(t))
		require.NoError(t, err)
		assert.Equal(t, "2026-03-29T03:45:00", draft.Segmented.(*schedulingv1.ScheduleTag).GetStartDateTime())
		sent.EndDateTime = "2026-03-29T03:15:00"
		_, err = itemdraft.ScheduleTag(sent, baker(t))
		faulttest.RequireCode(t, fault.CodeInput, err)
		assert.ErrorContains(t, err, "which a clock change moves to 2026-03-29T03:45:00")
	})
}

// nightTimes reads "start end", of the night to 29 March 2026.
func nightTimes(t *testing.T, text string) (string, string) {
	t.Helper()
	on := func(clock string) string {
		if clock >= "11:00" {
			return "2026-03-28T" + clock + ":00"
		}
		return "2026-03-29T" + clock + ":00"
	}
	start, end, ok := strings.Cut(text, " ")
	require.True(t, ok, text)
	return on(start), on(end)
}

func TestShiftsKeepJobsAndTransfers(t *testing.T) {
	t.Parallel()
	job := func(ref *commonv1.Ref, entered *bool) *schedulingv1.ShiftSegment {
		s := segmentAt("08:00:00", "16:00:00")
		s.OrgJobRef, s.UserEnteredOrgJob = ref, entered
		return s
	}
	rest := segmentAt("15:00:00", "16:00:00")
	rest.Type = "BREAK_SEGMENT"
	transfer := &schedulingv1.ShiftTransfer{OrgJobId: proto.Int64(5)}
	for _, c := range []struct {
		name string
		sent *schedulingv1.Shift
		job  *commonv1.Ref // of the first segment
	}{
		{"a job that was entered", shift(job(refByName("Shop/Cashier"), nil)), refByName("Shop/Cashier")},
		{"the primary job that was entered", shift(job(refByName("Shop/Baker"), proto.Bool(true))), refByName("Shop/Baker")},
		{"the primary job, of which nobody says how it came", shift(job(refByName("Shop/Baker"), nil)), refByName("Shop/Baker")},
		{"not the primary job as it is shown", shift(job(refByName("Shop/Baker"), proto.Bool(false))), nil},
		{"another job as it is shown", shift(job(refByName("Shop/Cashier"), proto.Bool(false))), refByName("Shop/Cashier")},
		{"a job by its id", shift(job(refByID(3), proto.Bool(false))), refByID(3)},
		{"the job of a transfer", &schedulingv1.Shift{StartDateTime: shift().StartDateTime, EndDateTime: shift().EndDateTime, Transfer: transfer}, refByID(5)},
		{"a segment's own job in a transfer", &schedulingv1.Shift{
			StartDateTime: shift().StartDateTime, EndDateTime: shift().EndDateTime, Transfer: transfer, Segments: []*schedulingv1.ShiftSegment{job(refByID(3), nil)},
		}, refByID(3)},
		{"no job of a transfer for a break", &schedulingv1.Shift{
			StartDateTime: shift().StartDateTime, EndDateTime: shift().EndDateTime, Transfer: transfer, Segments: []*schedulingv1.ShiftSegment{rest},
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			draft, err := itemdraft.Shift(c.sent, baker(t), longest)
			require.NoError(t, err)
			out := draft.Segmented.(*schedulingv1.Shift)
			assert.Nil(t, out.GetTransfer())
			assert.True(t, proto.Equal(c.job, out.GetSegments()[0].GetOrgJobRef()), "%v", out)
		})
	}
	t.Run("not what responses add", func(t *testing.T) {
		t.Parallel()
		sent := shift()
		sent.Id, sent.Version, sent.Employee, sent.Generated = proto.Int64(4), proto.Int64(2), refByID(8), proto.Bool(true)
		sent.Position = refByName("Shop/Baker")
		for _, kind := range []string{"FROM_PATTERNITEM_TO_ITEM", "FROM_GROUPITEM_TO_ITEM", "OTHER"} {
			sent.Relations = append(sent.Relations, &schedulingv1.Relation{Type: kind})
		}
		draft, err := itemdraft.Shift(sent, baker(t), longest)
		require.NoError(t, err)
		out := draft.Segmented.(*schedulingv1.Shift)
		assert.True(t, out.Id == nil && out.Version == nil && out.Employee == nil && !out.GetGenerated() && out.Position == nil, "%v", out)
		require.Len(t, out.GetRelations(), 1)
		assert.Equal(t, "OTHER", out.GetRelations()[0].GetType())
	})
	t.Run("no more than fits", func(t *testing.T) {
		t.Parallel()
		sent := shift()
		sent.Label = strings.Repeat("x", 16<<10)
		_, err := itemdraft.Shift(sent, baker(t), longest)
		faulttest.RequireCode(t, fault.CodeInput, err)
	})
}

func TestShiftsNameTheirEmployees(t *testing.T) {
	t.Parallel()
	shifts := []*schedulingv1.Shift{
		{EmployeeId: proto.Int64(8)}, {EmployeeId: proto.Int64(8), Employee: refByID(7)}, {},
	}
	itemdraft.ResolveEmployeeIDs(shifts...)
	assert.EqualValues(t, 8, shifts[0].GetEmployee().GetId())
	assert.EqualValues(t, 7, shifts[1].GetEmployee().GetId(), "the reference wins")
	assert.Nil(t, shifts[2].GetEmployee(), "an open shift")
}
