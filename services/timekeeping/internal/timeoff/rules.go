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

func missing(path string) *fault.Error {
	return fault.Invalid(timeofffault.CodeMissing, path+" is missing.").WithMembers(path)
}

func invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(fault.CodeInput, path+" "+fmt.Sprintf(format, args...)+".").WithMembers(path)
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
	out.Periods = make([]*timekeepingv1.TimeOffPeriod, len(given.GetPeriods()))
	count := 0
	var errs []error
	for i, p := range given.GetPeriods() {
		path := fmt.Sprintf("periods[%d]", i)
		period, of, err := preparePeriod(path, p, subtype)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for k, other := range days[:i] {
			if out.Periods[k] != nil && other.Overlaps(of) && (whole(period) || whole(out.Periods[k])) {
				errs = append(errs, invalid(path, "must not have a day that periods[%d] has", k))
				break
			}
		}
		period.Id = proto.Int64(int64(i + 1))
		out.Periods[i], days[i] = period, of
		if before := count; before <= maxDays {
			if count += of.Days(); count > maxDays {
				errs = append(errs, invalid("periods", "must have at most %d days together", maxDays))
			}
		}
	}
	if len(errs) > 0 {
		return nil, nil, fault.Join(errs...)
	}
	if size := proto.Size(out); size > maxBytes {
		return nil, nil, invalid("The request", "must have at most %d bytes; it has %d", maxBytes, size).WithMembers()
	}
	return out, days, nil
}

// preparePeriod validates a period and fills in the defaults.
func preparePeriod(path string, given *timekeepingv1.TimeOffPeriod, subtype *timekeepingv1.TimeOffRequestSubtype) (*timekeepingv1.TimeOffPeriod, civil.Range, error) {
	p := proto.CloneOf(given)
	days, err := parsePeriod(path, p)
	errs := []error{err}
	p.EndDate = (days.To - 1).String()
	if p.PayCode = cmp.Or(p.GetPayCode(), subtype.GetDefaultPayCode()); !timeofffault.Named(p.GetPayCode()) {
		errs = append(errs, missing(path+".payCode"))
	}
	if p.GetStartTime() != "" {
		at, err := civil.ParseTimeOfDay(p.GetStartTime())
		if err != nil {
			errs = append(errs, fault.Invalid(fault.CodeTime, path+".startTime: "+err.Error()+".").WithMembers(path+".startTime"))
		}
		p.StartTime = at.String()
	}
	errs = append(errs, prepareAmount(path, p, subtype))
	return p, days, fault.Join(errs...)
}

// parsePeriod parses the days of a period. The default of its end is its start.
func parsePeriod(path string, p *timekeepingv1.TimeOffPeriod) (days civil.Range, err error) {
	if p.GetEndDate() == "" {
		day, err := parseDay(path+".startDate", p.GetStartDate())
		return civil.Through(day, day), err
	}
	days, err = parseDays(path, p.GetStartDate(), p.GetEndDate())
	if err == nil && days.Days() > maxDays {
		err = invalid(path+".endDate", "must be less than %d days after startDate", maxDays)
	}
	return days, err
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
	from, badFirst := parseDay(firstAt, first)
	to, badLast := parseDay(lastAt, last)
	if badFirst != nil || badLast != nil {
		return civil.Range{}, fault.Join(badFirst, badLast)
	}
	days := civil.Through(from, to)
	if days.Empty() {
		return civil.Range{}, invalid(lastAt, "must not be before %s", firstAt[strings.LastIndex(firstAt, ".")+1:])
	}
	return days, nil
}

// parseDay parses a day at a path of a request.
func parseDay(path, text string) (civil.Date, error) {
	if text == "" {
		return 0, missing(path)
	}
	day, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".").WithMembers(path)
	}
	if day < civil.Beginning || day >= civil.Forever {
		return 0, invalid(path, "must be from %s and before %s", civil.Beginning, civil.Forever)
	}
	return day, nil
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
