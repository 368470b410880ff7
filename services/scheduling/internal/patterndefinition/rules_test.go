package patterndefinition_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

func shift(start, end string) *schedulingv1.ShiftTemplate {
	return &schedulingv1.ShiftTemplate{StartDateTime: start, EndDateTime: end}
}

func early() *schedulingv1.ShiftTemplate { return shift("1900-01-01T06:00:00", "1900-01-01T14:00:00") }

func segment(start, end string, kind *commonv1.Ref) *schedulingv1.ShiftTemplateSegment {
	return &schedulingv1.ShiftTemplateSegment{StartDateTime: start, EndDateTime: end, SegmentType: kind}
}

func name(text string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(text)} }

func id(n int64) *commonv1.Ref { return &commonv1.Ref{Id: proto.Int64(n)} }

func TestShiftRules(t *testing.T) {
	t.Parallel()
	with := func(segments ...*schedulingv1.ShiftTemplateSegment) *schedulingv1.ShiftTemplate {
		s := early()
		s.Segments = segments
		return s
	}
	cases := []struct {
		name  string
		shift *schedulingv1.ShiftTemplate
		code  string // "" is accepted
		at    string
	}{
		{"a day shift", early(), "", ""},
		{"a shift past midnight", shift("1900-01-01T22:00:00", "1900-01-02T06:00:00"), "", ""},
		{"a shift of exactly 24 hours", shift("1900-01-01T06:00:00", "1900-01-02T06:00:00"), "", ""},
		{"a shift one second longer", shift("1900-01-01T06:00:00", "1900-01-02T06:00:01"), patterndefinition.CodeInvalid, "shift.endDateTime"},
		{"a shift that ends two days on", shift("1900-01-01T23:00:00", "1900-01-03T01:00:00"), patterndefinition.CodeInvalid, "shift.endDateTime"},
		{"an end at the start", shift("1900-01-01T06:00:00", "1900-01-01T06:00:00"), patterndefinition.CodeInvalid, "shift.endDateTime"},
		{"an end before the start", shift("1900-01-01T06:00:00", "1900-01-01T05:00:00"), patterndefinition.CodeInvalid, "shift.endDateTime"},
		{"another anchor", shift("2025-03-03T06:00:00", "2025-03-03T14:00:00"), patterndefinition.CodeInvalid, "shift.startDateTime"},
		{"a start before the anchor", shift("1899-12-31T22:00:00", "1900-01-01T06:00:00"), patterndefinition.CodeInvalid, "shift.startDateTime"},
		{"a start on the day after the anchor", shift("1900-01-02T00:00:00", "1900-01-02T06:00:00"), patterndefinition.CodeInvalid, "shift.startDateTime"},
		{"no start", shift("", "1900-01-01T06:00:00"), patterndefinition.CodeMissing, "shift.startDateTime"},
		{"no end", shift("1900-01-01T06:00:00", ""), patterndefinition.CodeMissing, "shift.endDateTime"},
		{"no time", shift("1900-01-01", "1900-01-01T06:00:00"), fault.CodeDate, "shift.startDateTime"},
		{"segments one after the other, with a gap", with(
			segment("1900-01-01T06:00:00", "1900-01-01T10:00:00", nil),
			segment("1900-01-01T10:00:00", "1900-01-01T10:30:00", name("BREAK_SEGMENT")),
			segment("1900-01-01T11:00:00", "1900-01-01T14:00:00", id(3))), "", ""},
		{"a segment that begins before the shift", with(
			segment("1900-01-01T05:00:00", "1900-01-01T10:00:00", nil)), patterndefinition.CodeInvalid, "shift.segments[0]"},
		{"a segment that ends after the shift", with(
			segment("1900-01-01T06:00:00", "1900-01-01T15:00:00", nil)), patterndefinition.CodeInvalid, "shift.segments[0]"},
		{"segments that overlap", with(
			segment("1900-01-01T06:00:00", "1900-01-01T10:00:00", nil),
			segment("1900-01-01T09:00:00", "1900-01-01T14:00:00", nil)), patterndefinition.CodeInvalid, "shift.segments[1]"},
		{"segments out of order", with(
			segment("1900-01-01T10:00:00", "1900-01-01T14:00:00", nil),
			segment("1900-01-01T06:00:00", "1900-01-01T10:00:00", nil)), patterndefinition.CodeInvalid, "shift.segments[1]"},
		{"a segment without length", with(
			segment("1900-01-01T06:00:00", "1900-01-01T06:00:00", nil)), patterndefinition.CodeInvalid, "shift.segments[0].endDateTime"},
		{"a kind of segment that does not exist", with(
			segment("1900-01-01T06:00:00", "1900-01-01T14:00:00", name("LUNCH"))), patterndefinition.CodeInvalid, "shift.segments[0].segmentType"},
		{
			"a bad id of a kind beside a good name", with(
				segment("1900-01-01T06:00:00", "1900-01-01T14:00:00", &commonv1.Ref{Id: proto.Int64(0), Qualifier: proto.String("BREAK_SEGMENT")})),
			patterndefinition.CodeInvalid, "shift.segments[0].segmentType",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, patterndefinition.NewRules(patterndefinition.Settings{}).Shift("shift", c.shift), c.code, c.at)
		})
	}
}

// requireRefused checks that err has a code and names a property; without a
// code, that there is none.
func requireRefused(t *testing.T, err error, code, at string) {
	t.Helper()
	if code == "" {
		require.NoError(t, err)
		return
	}
	f := fault.FromError(err)
	require.NotNil(t, f, "it was accepted")
	assert.Equal(t, code, f.Code, f.Message)
	assert.Equal(t, 400, f.Status)
	assert.Contains(t, f.Message, at)
}

func TestShiftIsCompleted(t *testing.T) {
	t.Parallel()
	s := shift("1900-01-01T22:00:00.500", "1900-01-02T06:00:00")
	require.NoError(t, patterndefinition.NewRules(patterndefinition.Settings{}).Shift("shift", s))
	assert.Equal(t, "1900-01-01T22:00:00", s.GetStartDateTime(), "a fraction of a second is cut")
	require.Len(t, s.GetSegments(), 1)
	assert.True(t, proto.Equal(segment(s.GetStartDateTime(), s.GetEndDateTime(),
		&commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("REGULAR_SEGMENT")}), s.GetSegments()[0]))
}

func TestLongestShiftIsASetting(t *testing.T) {
	t.Parallel()
	rules := patterndefinition.NewRules(patterndefinition.Settings{MaxShift: 36 * time.Hour})
	require.NoError(t, rules.Shift("shift", shift("1900-01-01T18:00:00", "1900-01-03T06:00:00")))
	requireRefused(t, rules.Shift("shift", shift("1900-01-01T18:00:00", "1900-01-03T06:00:01")), patterndefinition.CodeInvalid, "36h")
}

// What ends later than the longest shift may is told how long one may be, and what ends on
// a day that no shift reaches, where to anchor it.
func TestDaysThatNoShiftReaches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		longest time.Duration
		end, at string
	}{
		{"a day, which reaches one on", 24 * time.Hour, "1900-01-02T23:59:59", "at most 24h"},
		{"a day, two on", 24 * time.Hour, "1900-01-03T00:00:00", "anchored"},
		{"a day and a second, which reaches two on", 24*time.Hour + time.Second, "1900-01-03T00:00:00", "at most 24h"},
		{"two days, which reach two on", 48 * time.Hour, "1900-01-03T23:59:59", "at most 48h"},
		{"two days, three on", 48 * time.Hour, "1900-01-04T00:00:00", "anchored"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rules := patterndefinition.NewRules(patterndefinition.Settings{MaxShift: c.longest})
			requireRefused(t, rules.Shift("shift", shift("1900-01-01T00:00:00", c.end)), patterndefinition.CodeInvalid, c.at)
		})
	}
}

func item(day int32, t *schedulingv1.ShiftTemplate) *schedulingv1.SchedulePatternItem {
	return &schedulingv1.SchedulePatternItem{Day: proto.Int32(day), ShiftTemplate: t}
}

func pattern(days int32, items ...*schedulingv1.SchedulePatternItem) *schedulingv1.SchedulePattern {
	return &schedulingv1.SchedulePattern{
		DayCount: proto.Int32(days), TimePeriodType: &schedulingv1.TimePeriodType{Name: "Weekly"}, Items: items,
	}
}

func TestPatternRules(t *testing.T) {
	t.Parallel()
	change := func(do func(p *schedulingv1.SchedulePattern)) *schedulingv1.SchedulePattern {
		p := pattern(7, item(1, early()))
		do(p)
		return p
	}
	payCodeEdit := func(p *schedulingv1.PayCodeEditTemplate) *schedulingv1.SchedulePattern {
		return pattern(7, &schedulingv1.SchedulePatternItem{Day: proto.Int32(2), PayCodeEditTemplate: p})
	}
	available := func(s ...*schedulingv1.AvailabilityTemplateSegment) *schedulingv1.SchedulePattern {
		return pattern(7, &schedulingv1.SchedulePatternItem{Day: proto.Int32(2), AvailabilityTemplate: &schedulingv1.AvailabilityTemplate{Segments: s}})
	}
	tagged := func(tag *schedulingv1.ScheduleTagTemplate) *schedulingv1.SchedulePattern {
		return pattern(7, &schedulingv1.SchedulePatternItem{Day: proto.Int32(2), ScheduleTagTemplate: tag})
	}
	many := func(n int) *schedulingv1.SchedulePattern {
		return change(func(p *schedulingv1.SchedulePattern) {
			for range n - 1 {
				p.Items = append(p.Items, item(1, early()))
			}
		})
	}
	training := name("Training")
	cases := []struct {
		name    string
		pattern *schedulingv1.SchedulePattern
		code    string
		at      string
	}{
		{"a week with a shift", pattern(7, item(1, early())), "", ""},
		{"the longest cycle", pattern(364, item(364, early())), "", ""},
		{"a shift that is only named", pattern(1, item(1, &schedulingv1.ShiftTemplate{Name: "Early"})), "", ""},
		{"a shift that has a name and a start", pattern(1, item(1, &schedulingv1.ShiftTemplate{Name: "Early", StartDateTime: "1900-01-01T06:00:00"})), patterndefinition.CodeMissing, "shiftTemplate.endDateTime"},
		{"a shift that has a name and an end", pattern(1, item(1, &schedulingv1.ShiftTemplate{Name: "Early", EndDateTime: "1900-01-01T06:00:00"})), patterndefinition.CodeMissing, "shiftTemplate.startDateTime"},
		{"a shift that has a name and a segment", pattern(1, item(1, &schedulingv1.ShiftTemplate{Name: "Early", Segments: []*schedulingv1.ShiftTemplateSegment{segment("1900-01-01T06:00:00", "1900-01-01T14:00:00", nil)}})), patterndefinition.CodeMissing, "shiftTemplate.startDateTime"},
		{"nothing", nil, patterndefinition.CodeMissing, "p is missing"},
		{"a cycle that is too long", pattern(365, item(1, early())), patterndefinition.CodeInvalid, "p.dayCount"},
		{"a cycle of no day", pattern(0, item(1, early())), patterndefinition.CodeInvalid, "p.dayCount"},
		{"no dayCount", change(func(p *schedulingv1.SchedulePattern) { p.DayCount = nil }), patterndefinition.CodeMissing, "p.dayCount"},
		{"no item", pattern(7), patterndefinition.CodeMissing, "p.items"},
		{"no day", change(func(p *schedulingv1.SchedulePattern) { p.Items[0].Day = nil }), patterndefinition.CodeMissing, "p.items[0].day"},
		{"day 0", pattern(7, item(1, early()), item(0, early())), patterndefinition.CodeInvalid, "p.items[1].day"},
		{"a day above dayCount", pattern(7, item(8, early())), patterndefinition.CodeInvalid, "p.items[0].day"},
		{"an item without template", pattern(7, item(1, nil)), patterndefinition.CodeMissing, "p.items[0].shiftTemplate"},
		{"a bad shift", pattern(7, item(1, shift("1900-01-01T06:00:00", ""))), patterndefinition.CodeMissing, "p.items[0].shiftTemplate.endDateTime"},
		{"a bad start date", change(func(p *schedulingv1.SchedulePattern) { p.StartDate = "2025-02-30" }), fault.CodeDate, "p.startDate"},
		{"16 entries on a day", many(16), "", ""},
		{"17 entries on a day", many(17), patterndefinition.CodeInvalid, "p.items[16]"},

		{"a pay code edit with times", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, StartDateTime: "1900-01-01T08:00:00", EndDateTime: "1900-01-01T12:00:00"}), "", ""},
		{"a pay code edit with a start and a duration", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, StartDateTime: "1900-01-01T08:00:00", DurationInTime: proto.Int64(3600)}), "", ""},
		{"a pay code edit in days", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInDays: proto.Float64(0.5)}), "", ""},
		{"a pay code edit of money", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, MoneyAmount: proto.Float64(-12.5)}), "", ""},
		{"no pay code", payCodeEdit(&schedulingv1.PayCodeEditTemplate{DurationInTime: proto.Int64(1)}), patterndefinition.CodeMissing, "p.items[0].payCodeEditTemplate.payCode"},
		{"a pay code edit of nothing", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training}), patterndefinition.CodeMissing, "durationInTime"},
		{"a pay code edit with a start only", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, StartDateTime: "1900-01-01T08:00:00"}), patterndefinition.CodeMissing, "endDateTime"},
		{"a pay code edit with an end only", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, EndDateTime: "1900-01-01T08:00:00", DurationInTime: proto.Int64(1)}), patterndefinition.CodeMissing, "startDateTime"},
		{"a pay code edit on another anchor", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, StartDateTime: "1900-01-02T08:00:00", DurationInTime: proto.Int64(1)}), patterndefinition.CodeInvalid, "startDateTime"},
		{"a duration of no time", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInTime: proto.Int64(0)}), patterndefinition.CodeInvalid, "durationInTime"},
		{"a duration beyond the longest shift", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInTime: proto.Int64(86401)}), patterndefinition.CodeInvalid, "durationInTime"},
		{"a pay code by its id", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: id(7), DurationInDays: proto.Float64(1)}), "", ""},
		{"a pay code edit that begins at the midnight after", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, StartDateTime: "1900-01-02T00:00:00", DurationInTime: proto.Int64(1)}), patterndefinition.CodeInvalid, "startDateTime"},
		{"a duration of the longest shift", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInTime: proto.Int64(86400)}), "", ""},
		{"a year of days", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInDays: proto.Float64(366)}), "", ""},
		{"more than a year of days", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInDays: proto.Float64(366.5)}), patterndefinition.CodeInvalid, "durationInDays"},
		{"no days", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInDays: proto.Float64(0)}), patterndefinition.CodeInvalid, "durationInDays"},
		{"days that are no number", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, DurationInDays: proto.Float64(math.NaN())}), patterndefinition.CodeInvalid, "durationInDays"},
		{"money that is no number", payCodeEdit(&schedulingv1.PayCodeEditTemplate{PayCode: training, MoneyAmount: proto.Float64(math.Inf(1))}), patterndefinition.CodeInvalid, "moneyAmount"},

		{"an availability", available(&schedulingv1.AvailabilityTemplateSegment{AvailabilityType: name("Unavailable"), StartTime: "00:00", EndTime: "12:00"}), "", ""},
		{"an availability without segments", available(), patterndefinition.CodeMissing, "availabilityTemplate.segments"},
		{"an availability of no kind", available(&schedulingv1.AvailabilityTemplateSegment{StartTime: "00:00", EndTime: "12:00"}), patterndefinition.CodeMissing, "segments[0].availabilityType"},
		{"an availability at no time", available(&schedulingv1.AvailabilityTemplateSegment{AvailabilityType: name("Unavailable"), StartTime: "00:00"}), patterndefinition.CodeMissing, "segments[0].endTime"},
		{"an availability at a bad time", available(&schedulingv1.AvailabilityTemplateSegment{AvailabilityType: name("Unavailable"), StartTime: "25:00", EndTime: "12:00"}), fault.CodeTime, "segments[0].startTime"},

		{"a tag for the whole day", tagged(&schedulingv1.ScheduleTagTemplate{Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: name("On call")}}}), "", ""},
		{"a tag of its kind", tagged(&schedulingv1.ScheduleTagTemplate{Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: name("x"), SegmentType: name("ON_CALL_SHIFT")}}}), "", ""},
		{"a tag of no known kind", tagged(&schedulingv1.ScheduleTagTemplate{Segments: []*schedulingv1.ScheduleTagTemplateSegment{{TagDefinition: name("x"), SegmentType: name("NOPE")}}}), patterndefinition.CodeInvalid, "segments[0].segmentType"},
		{"a shift of much text", pattern(7, item(1, &schedulingv1.ShiftTemplate{Label: strings.Repeat("x", 20_000), StartDateTime: early().StartDateTime, EndDateTime: early().EndDateTime})), patterndefinition.CodeInvalid, "p.items[0].shiftTemplate"},
		{"a tag that is none", tagged(&schedulingv1.ScheduleTagTemplate{Segments: []*schedulingv1.ScheduleTagTemplateSegment{{}}}), patterndefinition.CodeMissing, "segments[0].tagDefinition"},
		{"a tag without segments", tagged(&schedulingv1.ScheduleTagTemplate{}), patterndefinition.CodeMissing, "scheduleTagTemplate.segments"},
		{"a tag with one time", tagged(&schedulingv1.ScheduleTagTemplate{StartDateTime: "1900-01-01T08:00:00"}), patterndefinition.CodeMissing, "endDateTime"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requireRefused(t, patterndefinition.NewRules(patterndefinition.Settings{}).Pattern("p", c.pattern), c.code, c.at)
		})
	}
}

func TestPatternsWithoutPeriodNameDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		given, kept *schedulingv1.TimePeriodType
	}{
		{"none", nil, &schedulingv1.TimePeriodType{Name: "Daily"}},
		{"an empty one", &schedulingv1.TimePeriodType{}, &schedulingv1.TimePeriodType{Name: "Daily"}},
		{"one by its name", &schedulingv1.TimePeriodType{Name: "Weekly"}, &schedulingv1.TimePeriodType{Name: "Weekly"}},
		{"one by its id", &schedulingv1.TimePeriodType{Id: proto.Int64(2)}, &schedulingv1.TimePeriodType{Id: proto.Int64(2)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := pattern(7, item(1, early()))
			p.TimePeriodType = c.given
			require.NoError(t, patterndefinition.NewRules(patterndefinition.Settings{}).Pattern("p", p))
			assert.True(t, proto.Equal(c.kept, p.GetTimePeriodType()), "%v", p.GetTimePeriodType())
		})
	}
}
