package timecard

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// options control the form of a timecard in responses.
type options struct {
	breakSpans, consolidate, rollup bool
}

// rollups are the allowed groupings of totals.
var rollups = []string{"ALL", "SHIFT", "TIMEITEM", "DAILY", "PERIOD_TO_DATE", "ACTIVITY_EVENT", "RAW"}

func parseOptions(o *timekeepingv1.TimecardReadOptions) (options, error) {
	by := strings.ToUpper(o.GetTotalsRollupBy())
	if by != "" && !slices.Contains(rollups, by) {
		return options{}, timecardfault.Invalid("multiReadOptions.totalsRollupBy must be one of %s", strings.Join(rollups, ", "))
	}
	return options{breakSpans: o.GetBreakSpanAtMidnight(), consolidate: o.GetConsolidateScheduleSegments(), rollup: by == "ALL"}, nil
}

// apply changes the form of shifts.
func (o options) apply(t *timekeepingv1.Timecard) {
	if o.breakSpans {
		for _, s := range t.GetWorkedShifts() {
			var spans []*timekeepingv1.WorkedSpan
			for _, span := range s.GetWorkedSpans() {
				spans = append(spans, splitByDay(span)...)
			}
			s.WorkedSpans = spans
		}
	}
	if o.consolidate {
		for _, s := range t.GetScheduleShifts() {
			s.Segments = joinSegments(s.GetSegments())
		}
	}
}

// splitByDay splits a span at the midnights within it. The first and the last part keep the
// punches.
func splitByDay(span *timekeepingv1.WorkedSpan) []*timekeepingv1.WorkedSpan {
	start, err := civil.ParseDateTime(span.GetStartDateTime())
	end, errEnd := civil.ParseDateTime(span.GetEndDateTime())
	if err != nil || errEnd != nil {
		return []*timekeepingv1.WorkedSpan{span} // A punch is missing.
	}
	var out []*timekeepingv1.WorkedSpan
	for midnight := start.Date + 1; midnight < end.Date || midnight == end.Date && end.Seconds > 0; midnight++ {
		part := proto.CloneOf(span)
		part.EndDateTime, part.EndPunchId = midnight.At(0).String(), nil
		out = append(out, part)
		span = proto.CloneOf(span)
		span.StartDateTime, span.StartPunchId = part.GetEndDateTime(), nil
	}
	return append(out, span)
}

// joinSegments joins consecutive segments with the same job.
func joinSegments(list []*timekeepingv1.TimecardScheduleSegment) []*timekeepingv1.TimecardScheduleSegment {
	var out []*timekeepingv1.TimecardScheduleSegment
	for _, s := range list {
		if n := len(out); n > 0 && out[n-1].GetEndDateTime() == s.GetStartDateTime() && proto.Equal(out[n-1].GetOrgJob(), s.GetOrgJob()) {
			out[n-1].EndDateTime = s.GetEndDateTime()
			continue
		}
		out = append(out, s)
	}
	return out
}
