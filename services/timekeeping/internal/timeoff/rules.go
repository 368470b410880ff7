package timeoff

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Codes of the specified API.
const (
	// CodeChange (400): the status cannot be changed to this one, or the request is over. See
	// nextValidStatuses.
	CodeChange = "WFS-101902"
	// CodeInconsistent (400): the employee already has a request for one of the days. Retract or
	// cancel that request first.
	CodeInconsistent = "WFS-101921"
	// CodeNotAllowed (400): the caller may not create or decide requests of this employee.
	CodeNotAllowed = "WFS-101923"
	// CodeStatus (400): the status does not exist.
	CodeStatus = "WFS-101926"
)

const (
	// maxDays is the maximum number of days of a request.
	maxDays = 366
	// maxHours is the maximum duration on a day.
	maxHours = 24
	// maxBytes is the maximum size of a request with all its properties, because a read returns
	// many requests.
	maxBytes = 16 << 10
)

func missing(path string) error {
	return fault.Invalid(timeofffault.CodeMissing, path+" is missing.")
}

func invalid(path, format string, args ...any) error {
	return fault.Invalid(fault.CodeInput, path+" "+fmt.Sprintf(format, args...)+".")
}

// prepare validates the properties of a request for time off that are stored. It returns the stored
// form and the days of each period.
func prepare(given *timekeepingv1.TimeOffRequest, subtype *timekeepingv1.TimeOffRequestSubtype) (*timekeepingv1.TimeOffRequest, []civil.Range, error) {
	out := &timekeepingv1.TimeOffRequest{
		RequestSubType: &timekeepingv1.TimeOffSubtype{
			Id: subtype.Id, Name: subtype.GetName(), Description: subtype.GetDescription(),
			Symbol: subtype.GetSymbol(), RequestType: subtype.GetRequestType(),
		},
		CommentNotes: given.GetCommentNotes(), Position: given.GetPosition(),
		CreateOpenShiftsExcludedOn: given.GetCreateOpenShiftsExcludedOn(), FreeOnHolidays: proto.Bool(!subtype.GetChargeHolidays()),
	}
	if len(given.GetPeriods()) == 0 {
		return nil, nil, missing("periods")
	}
	days := make([]civil.Range, len(given.GetPeriods()))
	count := 0
	for i, p := range given.GetPeriods() {
		period, of, err := preparePeriod(fmt.Sprintf("periods[%d]", i), p, subtype)
		if err != nil {
			return nil, nil, err
		}
		for k, other := range days[:i] {
			if other.Overlaps(of) && (whole(period) || whole(out.Periods[k])) {
				return nil, nil, invalid(fmt.Sprintf("periods[%d]", i), "must not have a day that periods[%d] has", k)
			}
		}
		period.Id = proto.Int64(int64(i + 1))
		out.Periods, days[i] = append(out.Periods, period), of
		if count += of.Days(); count > maxDays {
			return nil, nil, invalid("periods", "must have at most %d days together", maxDays)
		}
	}
	if size := proto.Size(out); size > maxBytes {
		return nil, nil, invalid("The request", "must have at most %d bytes; it has %d", maxBytes, size)
	}
	return out, days, nil
}

// preparePeriod validates a period and fills in the defaults.
func preparePeriod(path string, given *timekeepingv1.TimeOffPeriod, subtype *timekeepingv1.TimeOffRequestSubtype) (*timekeepingv1.TimeOffPeriod, civil.Range, error) {
	p := proto.CloneOf(given)
	days, err := parseDays(path, p.GetStartDate(), cmp.Or(p.GetEndDate(), p.GetStartDate()))
	if err != nil {
		return nil, civil.Range{}, err
	}
	if days.Days() > maxDays {
		return nil, civil.Range{}, invalid(path+".endDate", "must be less than %d days after startDate", maxDays)
	}
	p.EndDate = (days.To - 1).String()
	if p.PayCode = cmp.Or(p.GetPayCode(), subtype.GetDefaultPayCode()); !timeofffault.Named(p.GetPayCode()) {
		return nil, civil.Range{}, missing(path + ".payCode")
	}
	if p.GetStartTime() != "" {
		at, err := civil.ParseTimeOfDay(p.GetStartTime())
		if err != nil {
			return nil, civil.Range{}, fault.Invalid(fault.CodeTime, path+".startTime: "+err.Error()+".")
		}
		p.StartTime = at.String()
	}
	return p, days, prepareAmount(path, p, subtype)
}

// prepareAmount validates how much a period uses of its days. A period that does not specify this
// uses the default of the subtype.
func prepareAmount(path string, p *timekeepingv1.TimeOffPeriod, subtype *timekeepingv1.TimeOffRequestSubtype) error {
	inHours := symbolicamount.IsHours(p.GetSymbolicAmount())
	if inHours {
		p.SymbolicAmount = nil
	}
	if p.GetDuration() == 0 && !timeofffault.Named(p.GetSymbolicAmount()) {
		amounts, fixed := subtype.GetDefaultSymbolicAmounts(), subtype.GetFixedValueHours().GetSeconds()
		if inHours || len(amounts) > 0 && symbolicamount.IsHours(amounts[0]) {
			amounts = nil
		}
		switch {
		case len(amounts) > 0:
			p.SymbolicAmount = proto.CloneOf(amounts[0])
		case fixed > 0:
			p.Duration = proto.Float64(float64(fixed) / 3600)
		}
	}
	hours := p.GetDuration()
	if math.IsNaN(hours) || hours < 0 || hours > maxHours {
		return invalid(path+".duration", "must be from 0 to %d hours", maxHours)
	}
	symbolic := timeofffault.Named(p.GetSymbolicAmount())
	if err := fault.AtMostOne(fault.CodeInput, path, "symbolicAmount and duration", symbolic, hours > 0); err != nil {
		return err
	}
	switch {
	case hours > 0:
		p.SymbolicAmount, p.StartTime = nil, cmp.Or(p.GetStartTime(), subtype.GetDefaultStartTime())
		return nil
	case inHours:
		return missing(path + ".duration")
	case !symbolic:
		return missing(path + ".symbolicAmount")
	}
	p.Duration = nil
	id, name, ok := symbolicamount.Find(p.GetSymbolicAmount())
	if !ok {
		return invalid(path+".symbolicAmount", "must be -1 %s, -2 %s or, with a duration, %s",
			symbolicamount.FullDay, symbolicamount.HalfDay, symbolicamount.Hours)
	}
	p.SymbolicAmount = &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name)}
	return nil
}

// whole reports whether a period uses its whole days.
func whole(p *timekeepingv1.TimeOffPeriod) bool {
	return p.GetSymbolicAmount().GetQualifier() == symbolicamount.FullDay
}

// parseDays parses the first and the last day of a range.
func parseDays(path, first, last string) (civil.Range, error) {
	return daysBetween(path+".startDate", first, path+".endDate", last)
}

// daysBetween parses the first and the last day of a range, which are at two paths of a request.
func daysBetween(firstAt, first, lastAt, last string) (civil.Range, error) {
	if first == "" {
		return civil.Range{}, missing(firstAt)
	}
	if last == "" {
		return civil.Range{}, missing(lastAt)
	}
	var ends [2]civil.Date
	for i, text := range []string{first, last} {
		at := [...]string{firstAt, lastAt}[i]
		var err error
		if ends[i], err = civil.ParseDate(text); err != nil {
			return civil.Range{}, fault.Invalid(fault.CodeDate, at+": "+err.Error()+".")
		}
		if ends[i] < civil.Beginning || ends[i] >= civil.Forever {
			return civil.Range{}, invalid(at, "must be from %s and before %s", civil.Beginning, civil.Forever)
		}
	}
	days := civil.Through(ends[0], ends[1])
	if days.Empty() {
		return civil.Range{}, invalid(lastAt, "must not be before %s", firstAt[strings.LastIndex(firstAt, ".")+1:])
	}
	return days, nil
}

// edits returns the pay code edits of a request on the schedule: one for each day.
func edits(r *timekeepingv1.TimeOffRequest) ([]*schedulingv1.PayCodeEdit, error) {
	var out []*schedulingv1.PayCodeEdit
	for _, p := range r.GetPeriods() {
		days, err := parseDays("periods", p.GetStartDate(), p.GetEndDate())
		if err != nil {
			return nil, err
		}
		for day := days.From; day < days.To; day++ {
			edit := &schedulingv1.PayCodeEdit{
				PayCodeRef: p.GetPayCode(), StartDate: day.String(), EndDate: day.String(), StartTime: p.GetStartTime(),
				SymbolicValueRef: p.GetSymbolicAmount(), Position: r.GetPosition(),
			}
			if r.GetFreeOnHolidays() {
				edit.FreeOnHolidays = proto.Bool(true)
			}
			if p.GetDuration() > 0 {
				edit.DurationInTime = proto.Int64(int64(math.Round(p.GetDuration() * 3600)))
			}
			out = append(out, edit)
		}
	}
	return out, nil
}

// extent returns the first and the last day of periods.
func extent(days []civil.Range) (first, last civil.Date) {
	first, last = days[0].From, days[0].To-1
	for _, d := range days[1:] {
		first, last = min(first, d.From), max(last, d.To-1)
	}
	return first, last
}
