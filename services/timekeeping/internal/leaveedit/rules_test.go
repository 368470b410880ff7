package leaveedit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

// march is a leave case of employee 5, of all of March 2026.
func march() *leavecase.Case {
	return &leavecase.Case{ID: 3, EmployeeID: 5, Days: civil.Through(civil.Of(2026, 3, 1), civil.Of(2026, 3, 31))}
}

// hours is a segment of some hours.
func hours(n int64) *timekeepingv1.LeaveSegment {
	return &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(n * 3600)}
}

func symbolic(value string) *timekeepingv1.LeaveSegment {
	return &timekeepingv1.LeaveSegment{SymbolicValue: value}
}

// edit is an edit of eight hours on 10 March.
func edit(change func(e *timekeepingv1.LeaveEdit)) *timekeepingv1.LeaveEdit {
	e := &timekeepingv1.LeaveEdit{Date: "2026-03-10", PaidSegment: hours(8), TrackingSegment: hours(8)}
	if change != nil {
		change(e)
	}
	return e
}

func berlin(t *testing.T) *civil.Zone {
	t.Helper()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	return zone
}

func payCode(id int64, name string) *timekeepingv1.LeaveOverrideSegment {
	s := &timekeepingv1.LeaveOverrideSegment{AmountInSeconds: proto.Int64(60), PayCode: &commonv1.Ref{}}
	if id != 0 {
		s.PayCode.Id = proto.Int64(id)
	}
	if name != "" {
		s.PayCode.Qualifier = proto.String(name)
	}
	return s
}

func TestEditsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, code string
		change     func(e *timekeepingv1.LeaveEdit)
	}{
		{"no paid segment", CodePaidMissing, func(e *timekeepingv1.LeaveEdit) { e.PaidSegment = nil }},
		{"no tracking segment", CodeTrackingMissing, func(e *timekeepingv1.LeaveEdit) { e.TrackingSegment = nil }},
		{"no amount", CodeAmountMissing, func(e *timekeepingv1.LeaveEdit) { e.PaidSegment.AmountInSeconds = nil }},
		{"a negative amount", CodeAmountNegative, func(e *timekeepingv1.LeaveEdit) { e.TrackingSegment = hours(-1) }},
		{"an amount of more than a year", CodeTooMuch, func(e *timekeepingv1.LeaveEdit) { e.PaidSegment = hours(maxDays*24 + 1) }},
		{"an unknown symbolic value", fault.CodeValue, func(e *timekeepingv1.LeaveEdit) { e.PaidSegment = symbolic("MOST_OF_IT") }},
		{"no date", CodeDateMissing, func(e *timekeepingv1.LeaveEdit) { e.Date = "" }},
		{"a date that is none", fault.CodeDate, func(e *timekeepingv1.LeaveEdit) { e.Date = "2026-02-29" }},
		{"a start that is none", fault.CodeDate, func(e *timekeepingv1.LeaveEdit) { e.StartDateTime = "2026-03-10 08:00" }},
		{"a start on another day", fault.CodeInput, func(e *timekeepingv1.LeaveEdit) { e.StartDateTime = "2026-03-11T08:00:00" }},
		{"an end without a start", CodeStartMissing, func(e *timekeepingv1.LeaveEdit) { e.EndDateTime = "2026-03-10T17:00:00" }},
		{"an end before the start", leavecase.CodeStartAfterEnd, func(e *timekeepingv1.LeaveEdit) {
			e.StartDateTime, e.EndDateTime = "2026-03-10T08:00:00", "2026-03-10T07:59:59"
		}},
		{"a full day with a start only", fault.CodeInput, func(e *timekeepingv1.LeaveEdit) {
			e.StartDateTime, e.PaidSegment = "2026-03-10T08:00:00", symbolic(fullDay)
		}},
		{"the day before the case", CodeOutsideCase, func(e *timekeepingv1.LeaveEdit) { e.Date = "2026-02-28" }},
		{"the day after the case", CodeOutsideCase, func(e *timekeepingv1.LeaveEdit) { e.Date = "2026-04-01" }},
		{"an end two days after the case", CodeOutsideCase, func(e *timekeepingv1.LeaveEdit) {
			e.Date, e.StartDateTime, e.EndDateTime = "", "2026-03-31T22:00:00", "2026-04-02T06:00:00"
		}},
		{"another case by its id", CodeOtherCase, func(e *timekeepingv1.LeaveEdit) { e.LeaveCase = &commonv1.Ref{Id: proto.Int64(4)} }},
		{"another case by its code", CodeOtherCase, func(e *timekeepingv1.LeaveEdit) { e.LeaveCase = &commonv1.Ref{Qualifier: proto.String("other")} }},
		{"another employee", fault.CodeInput, func(e *timekeepingv1.LeaveEdit) { e.Employee = &timekeepingv1.LeaveEmployee{Id: proto.Int64(6)} }},
		{"an override without a pay code", CodeTypeMissing, func(e *timekeepingv1.LeaveEdit) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{payCode(0, "")}
		}},
		{"overrides that repeat an id", CodeTypeRepeated, func(e *timekeepingv1.LeaveEdit) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{payCode(1, "A"), payCode(1, "B")}
		}},
		{"overrides that repeat a name", CodeTypeRepeated, func(e *timekeepingv1.LeaveEdit) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{payCode(0, "A"), payCode(2, "A")}
		}},
		{"a name of a pay code that is too long", CodeTooMuch, func(e *timekeepingv1.LeaveEdit) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{payCode(0, strings.Repeat("x", maxPayCode+1))}
		}},
		{"an override without an amount", CodeAmountMissing, func(e *timekeepingv1.LeaveEdit) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{{PayCode: &commonv1.Ref{Id: proto.Int64(1)}}}
		}},
		{"too many overrides", CodeTooMuch, func(e *timekeepingv1.LeaveEdit) {
			for i := range maxOverrides + 1 {
				e.OverrideSegments = append(e.OverrideSegments, payCode(int64(i+1), ""))
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := newDraft(edit(test.change), nil, march(), berlin(t))
			assert.True(t, fault.HasCode(err, test.code), "%v", err)
		})
	}
}

func TestTimesOfEdits(t *testing.T) {
	t.Parallel()
	nine := civil.TimeOfDay(9 * 3600)
	tests := []struct {
		name       string
		clock      *civil.TimeOfDay
		change     func(e *timekeepingv1.LeaveEdit)
		start, end string
		last       civil.Date
	}{
		{"a day without times", nil, nil, "", "", civil.Of(2026, 3, 10)},
		{
			"the amount says the end", nil, func(e *timekeepingv1.LeaveEdit) { e.StartDateTime = "2026-03-10T08:00:00" },
			"2026-03-10T08:00:00.000", "2026-03-10T16:00:00.000", civil.Of(2026, 3, 10),
		},
		{
			"the larger amount counts", nil, func(e *timekeepingv1.LeaveEdit) { e.StartDateTime, e.TrackingSegment = "2026-03-10T08:00:00", hours(9) },
			"2026-03-10T08:00:00.000", "2026-03-10T17:00:00.000", civil.Of(2026, 3, 10),
		},
		{"the request has a start for all", &nine, nil, "2026-03-10T09:00:00.000", "2026-03-10T17:00:00.000", civil.Of(2026, 3, 10)},
		{"a full day needs none", &nine, func(e *timekeepingv1.LeaveEdit) { e.PaidSegment = symbolic(fullDay) }, "", "", civil.Of(2026, 3, 10)},
		{
			"midnight is the end of a day", nil, func(e *timekeepingv1.LeaveEdit) { e.StartDateTime = "2026-03-10T16:00:00" },
			"2026-03-10T16:00:00.000", "2026-03-11T00:00:00.000", civil.Of(2026, 3, 10),
		},
		{
			"a night", nil, func(e *timekeepingv1.LeaveEdit) { e.StartDateTime = "2026-03-10T22:00:00" },
			"2026-03-10T22:00:00.000", "2026-03-11T06:00:00.000", civil.Of(2026, 3, 11),
		},
		{
			"clocks go forward", nil, func(e *timekeepingv1.LeaveEdit) { e.Date, e.StartDateTime = "2026-03-29", "2026-03-29T00:00:00" },
			"2026-03-29T00:00:00.000", "2026-03-29T09:00:00.000", civil.Of(2026, 3, 29),
		},
		{
			"a start that clocks skip", nil, func(e *timekeepingv1.LeaveEdit) { e.Date, e.StartDateTime = "2026-03-29", "2026-03-29T02:30:00" },
			"2026-03-29T03:30:00.000", "2026-03-29T11:30:00.000", civil.Of(2026, 3, 29),
		},
		{
			"what would end before it begins takes no time", nil,
			func(e *timekeepingv1.LeaveEdit) {
				e.Date, e.StartDateTime, e.EndDateTime = "2026-03-29", "2026-03-29T02:45:00", "2026-03-29T03:15:00"
			},
			"2026-03-29T03:45:00.000", "2026-03-29T03:45:00.000", civil.Of(2026, 3, 29),
		},
		{
			"the night that begins on the last day is the case's", nil, func(e *timekeepingv1.LeaveEdit) { e.Date, e.StartDateTime = "", "2026-03-31T22:00:00" },
			"2026-03-31T22:00:00.000", "2026-04-01T06:00:00.000", civil.Of(2026, 3, 31),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			sent := edit(test.change)
			before := proto.CloneOf(sent)
			d, err := newDraft(sent, test.clock, march(), berlin(t))
			require.NoError(t, err)
			assert.True(t, proto.Equal(before, sent), "what was sent stays as it is")
			assert.Equal(t, test.start, d.body.GetStartDateTime())
			assert.Equal(t, test.end, d.body.GetEndDateTime())
			assert.Equal(t, test.last, d.last)
			assert.Equal(t, d.first.String(), d.body.GetDate())
		})
	}
}

func TestSegmentsAreNumbered(t *testing.T) {
	t.Parallel()
	d, err := newDraft(edit(func(e *timekeepingv1.LeaveEdit) {
		e.PaidSegment, e.OverrideSegments = symbolic(halfDay), []*timekeepingv1.LeaveOverrideSegment{payCode(1, "A"), payCode(2, "B")}
	}), nil, march(), berlin(t))
	require.NoError(t, err)
	assert.EqualValues(t, 1, d.body.GetPaidSegment().GetId())
	assert.EqualValues(t, 2, d.body.GetTrackingSegment().GetId())
	assert.EqualValues(t, 3, d.body.GetOverrideSegments()[0].GetId())
	assert.EqualValues(t, 4, d.body.GetOverrideSegments()[1].GetId())
	require.NotNil(t, d.body.GetPaidSegment().AmountInSeconds, "a symbolic value has an amount, too")
	assert.Zero(t, d.body.GetPaidSegment().GetAmountInSeconds())
}

func TestTheCaseMayBeNamedAsResponsesNameIt(t *testing.T) {
	t.Parallel()
	_, err := newDraft(edit(func(e *timekeepingv1.LeaveEdit) {
		e.LeaveCase, e.Employee = march().Ref(), march().Employee()
	}), nil, march(), berlin(t))
	require.NoError(t, err)
	assert.False(t, differs(0, 3, "m-1", "M-1"), "codes are compared without case")
	assert.False(t, differs(3, 3, "other", "M-1"), "the id counts")
	assert.True(t, differs(4, 3, "M-1", "M-1"))
}
