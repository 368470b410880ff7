package request

import (
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// CodeForgotten (400): the history does not go back to the startDateTime or asOfDateTime. Send an instant that
// is not before historyFrom of GET /v1/platform/limits.
const CodeForgotten = "WRL-00451"

// changeDays limits the time range of a request for changes. A part of a day counts as a day.
var changeDays = policy.FindLimit[*schedulingv1.EmployeeScheduleChanges]("days of changes")

// The range of schedule days around the instants if the request names none.
const (
	daysBefore = 40
	daysAfter  = 92
)

// selectChanges are the parts of a schedule that have a history.
const selectChanges = SelectShifts | SelectPayCodeEdits | SelectLeaveEdits | SelectDayLocks | SelectTags

// Changes is a request for the changes of schedules between two instants.
type Changes struct {
	// Query selects employees and days. If it has no days, Between sets them.
	Query
	// From and Until are the instants. A zero Until means now.
	From, Until time.Time
}

// ParseChanges parses the request.
func ParseChanges(req *schedulingv1.MultiReadScheduleChangesRequest) (*Changes, error) {
	c := &Changes{Query: Query{Selected: selectChanges}}
	var err error
	if len(req.GetSelect()) > 0 {
		if c.Selected, err = parseChanged(req.GetSelect()); err != nil {
			return nil, err
		}
	}
	where := req.GetWhere().GetEmployees()
	if where == nil {
		return nil, fault.Invalid(codeNoCriterion, "where.employees is missing.")
	}
	c.Employees = where.GetEmployees()
	if where.GetStartDateTime() == "" {
		return nil, fault.Invalid(codeNoStartDate, "where.employees.startDateTime is missing.")
	}
	if c.From, err = ParseInstant("where.employees.startDateTime", where.GetStartDateTime()); err != nil {
		return nil, err
	}
	if text := where.GetEndDateTime(); text != "" {
		if c.Until, err = ParseInstant("where.employees.endDateTime", text); err != nil {
			return nil, err
		}
	}
	return c, c.parseSpan("where.employees.entityFilterSpan", where.GetEntityFilterSpan())
}

func parseChanged(names []string) (Selection, error) {
	var selected Selection
	for _, name := range names {
		one, err := parseSelect([]string{name})
		if err != nil || one&selectChanges == 0 {
			return 0, fault.Invalid(codeInvalidValue,
				suggest.NotOneOf("select", name, "SHIFTS", "PAYCODEEDITS", "LEAVEEDITS", "DAYLOCKS", "SCHEDULETAGS"))
		}
		selected |= one
	}
	return selected, nil
}

// parseSpan parses the days of the schedule.
func (c *Changes) parseSpan(path string, span *schedulingv1.EntityFilterSpan) error {
	if span == nil {
		return nil
	}
	first, err := parseSpanDay(path+".start", codeNoStartDate, span.GetStart(), false)
	if err != nil {
		return err
	}
	// A range that ends at midnight does not include the day that begins then.
	last, err := parseSpanDay(path+".end", codeNoEndDate, span.GetEnd(), true)
	if err != nil {
		return err
	}
	if last < first {
		return fault.Newf(codeDateOrder, http.StatusBadRequest, "%s.end %s is before start %s.", path, last, first)
	}
	c.Days = civil.Through(first, last)
	return nil
}

// parseSpanDay parses a date, or the date of a date-time. end marks the end of a range.
func parseSpanDay(path, missing, text string, end bool) (civil.Date, error) {
	if text == "" {
		return 0, fault.Invalid(missing, path+" is missing.")
	}
	if day, err := civil.ParseDate(text); err == nil {
		return day.Clamp(), nil
	}
	at, err := civil.ParseDateTime(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+" must have the form YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS.")
	}
	if end && at.Seconds == 0 {
		at.Date--
	}
	return at.Date.Clamp(), nil
}

// localForm is a date-time without a zone, which means UTC. A fraction can follow.
const localForm = "2006-01-02T15:04:05"

// ParseInstant parses a date-time in UTC, with or without a trailing Z.
func ParseInstant(path, text string) (time.Time, error) {
	for _, form := range []string{localForm, localForm + "Z07:00"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC().Truncate(time.Microsecond), nil
		}
	}
	return time.Time{}, fault.Invalid(fault.CodeTime, path+" must have the form YYYY-MM-DDTHH:MM:SS, in UTC.")
}

// FormatInstant formats an instant in the form that ParseInstant accepts.
func FormatInstant(at time.Time) string { return at.UTC().Format(localForm + ".999999") }

// CheckKept returns an error if the history no longer goes back to an instant, which a property of the request
// names. keep is the retention of the history; a negative one means forever.
func CheckKept(path string, at, now time.Time, keep time.Duration) error {
	if keep < 0 || !at.Before(now.Add(-keep)) {
		return nil
	}
	return fault.Newf(CodeForgotten, http.StatusBadRequest, "%s must not be before %s: older changes are deleted.",
		path, FormatInstant(HistoryFrom(now, keep)))
}

// HistoryFrom returns the first instant that can be named as past for at least a part of a day: a midnight in UTC.
func HistoryFrom(now time.Time, keep time.Duration) time.Time {
	const day = 24 * time.Hour
	return now.Add(-keep).Truncate(day).Add(day)
}

// Between completes the request. settled is the latest instant with a complete history; it includes
// all changes committed before the requested end. It can be later than now if the clock once ran
// ahead. keep is the retention of changes; a negative one means forever. Without days, Between
// chooses days around both instants.
func (c *Changes) Between(settled, now time.Time, keep time.Duration) error {
	const day = 24 * time.Hour
	switch requested := c.Until; {
	case !settled.Before(c.From):
	case requested.IsZero() || !requested.Before(c.From):
		return fault.Newf(codeDateOrder, http.StatusBadRequest, "where.employees.startDateTime %s is later than now.", FormatInstant(c.From))
	default:
		return fault.Newf(codeDateOrder, http.StatusBadRequest, "where.employees.endDateTime %s is before startDateTime %s.",
			FormatInstant(requested), FormatInstant(c.From))
	}
	c.Until = settled
	if err := CheckKept("where.employees.startDateTime", c.From, now, keep); err != nil {
		return err
	}
	end := c.Until
	if end.After(now) {
		end = now // The clock shows that no more time has passed.
	}
	if err := changeDays.Check(int((end.Sub(c.From) + day - 1) / day)); err != nil {
		return err
	}
	if c.Days.Days() == 0 {
		first := c.From
		if first.After(end) {
			first = end
		}
		c.Days = civil.Through(civil.FromTime(first).AddDays(-daysBefore).Clamp(), civil.FromTime(end).AddDays(daysAfter).Clamp())
	}
	return nil
}
