package requested_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// commons knows the symbolic period 7, also called March. Its hyperfinds find the ids of
// their names' employees.
type commons struct {
	finds map[string][]int64
	// request is the request to a hyperfind.
	request *commonsv1.ExecuteHyperfindRequest
	// periods are the requests for symbolic periods.
	periods []*commonsv1.SymbolicPeriodWhere
}

func (c *commons) ReadSymbolicPeriod(_ context.Context, req *commonsv1.ReadSymbolicPeriodRequest, _ ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error) {
	c.periods = append(c.periods, req.GetWhere())
	switch req.GetWhere().GetSymbolicPeriodId() {
	case "7", "March":
		return &commonsv1.SymbolicPeriodSpan{StartDate: "2026-03-01", EndDate: "2026-03-31"}, nil
	case "broken":
		return nil, fault.Unavailable("later", 0)
	}
	return nil, fault.NotFound("WCO-1", "no")
}

func (c *commons) ExecuteHyperfind(_ context.Context, req *commonsv1.ExecuteHyperfindRequest, _ ...grpc.CallOption) (*commonsv1.HyperfindResponse, error) {
	c.request = req
	switch name := req.GetHyperfind().GetQualifier(); name {
	case "Unknown":
		return nil, fault.Invalid("WCO-2", "There is no hyperfind.")
	case "Everybody":
		return nil, fault.TooLarge("WCO-3", "too many")
	case "broken":
		return nil, fault.Unavailable("later", 0)
	default:
		out := &commonsv1.HyperfindRefList{}
		for _, id := range c.finds[name] {
			out.Refs = append(out.Refs, &commonv1.Ref{Id: &id})
		}
		return &commonsv1.HyperfindResponse{Result: &commonsv1.HyperfindResult{Refs: out}}, nil
	}
}

func refByName(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

func TestDays(t *testing.T) {
	t.Parallel()
	type dates = commonv1.DateRange
	for _, c := range []struct {
		name string
		sent *dates
		code string // "" for the days want
		want string // from, and up to and not including
	}{
		{"one day", &dates{StartDate: "2026-03-01", EndDate: "2026-03-01"}, "", "2026-03-01 2026-03-02"},
		{"as many as may be", &dates{StartDate: "2026-01-01", EndDate: "2027-01-01"}, "", "2026-01-01 2027-01-02"},
		{"one more", &dates{StartDate: "2026-01-01", EndDate: "2027-01-02"}, timecardfault.CodeLimit, ""},
		{"the first of the calendar", &dates{StartDate: calculation.First.String(), EndDate: calculation.First.String()}, "", fmt.Sprint(calculation.First, " ", calculation.First+1)},
		{"the day before", &dates{StartDate: (calculation.First - 1).String(), EndDate: calculation.First.String()}, timecardfault.CodeInvalid, ""},
		{"the last of the calendar", &dates{StartDate: calculation.Last.String(), EndDate: calculation.Last.String()}, "", fmt.Sprint(calculation.Last, " ", calculation.Last+1)},
		{"the day after", &dates{StartDate: calculation.Last.String(), EndDate: (calculation.Last + 1).String()}, timecardfault.CodeInvalid, ""},
		{"a period by name", &dates{SymbolicPeriod: refByName("March")}, "", "2026-03-01 2026-04-01"},
		{"a period by id, which wins", &dates{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("May")}}, "", "2026-03-01 2026-04-01"},
		{"an unknown period", &dates{SymbolicPeriod: refByName("May")}, timecardfault.CodePeriod, ""},
		{"a period that cannot be read now", &dates{SymbolicPeriod: refByName("broken")}, fault.CodeUnavailable, ""},
		{"a period and a date", &dates{SymbolicPeriod: refByName("March"), EndDate: "2026-03-01"}, timecardfault.CodeInvalid, ""},
		{"none", nil, timecardfault.CodeNoRange, ""},
		{"no first day", &dates{EndDate: "2026-03-01"}, timecardfault.CodeNoRange, ""},
		{"no last day", &dates{StartDate: "2026-03-01"}, timecardfault.CodeNoRange, ""},
		{"backwards", &dates{StartDate: "2026-03-02", EndDate: "2026-03-01"}, timecardfault.CodeNoRange, ""},
		{"a first day that is not", &dates{StartDate: "2026-02-29", EndDate: "2026-03-01"}, fault.CodeDate, ""},
		{"a last day that is not", &dates{StartDate: "2026-02-28", EndDate: "2026-02-29"}, fault.CodeDate, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			days, err := requested.New(nil, &commons{}).Days(t.Context(), requested.InRange("where.dateRange", c.sent))
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				assert.Equal(t, c.code == timecardfault.CodeLimit, fault.HasStatus(err, http.StatusRequestEntityTooLarge))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, fmt.Sprint(days.From, " ", days.To))
		})
	}
}

// Symbolic periods of the caller's own timecard begin and end at the caller's midnight.
func TestTheCallersTodayIsForTheOwnTimecard(t *testing.T) {
	t.Parallel()
	asked := &commons{}
	finder := requested.New(nil, asked)
	dates := requested.InQuery(&timekeepingv1.EmployeeTimecardApprovalRequest{TimeframeId: "March"})
	for _, d := range []requested.Dates{dates, dates.Own()} {
		_, err := finder.Days(t.Context(), d)
		require.NoError(t, err)
	}
	require.Len(t, asked.periods, 2)
	assert.True(t, asked.periods[0].GetCurrentTenant())
	assert.Nil(t, asked.periods[0].CurrentUser)
	assert.True(t, asked.periods[1].GetCurrentUser())
	assert.Nil(t, asked.periods[1].CurrentTenant)
}

// Messages name the properties that the caller sent: properties of a range, or single parameters.
func TestDaysOfQueries(t *testing.T) {
	t.Parallel()
	inRange := func(period *commonv1.Ref, start, end string) requested.Dates {
		return requested.InRange("dateRange", &commonv1.DateRange{SymbolicPeriod: period, StartDate: start, EndDate: end})
	}
	frame := func(period, start, end string) requested.Dates {
		return requested.InQuery(&timekeepingv1.TimecardApprovalRequest{TimeframeId: period, StartDate: start, EndDate: end})
	}
	item := func(period, start, end string) requested.Dates {
		return requested.InItem(&timekeepingv1.NewTimecardSignoff{TimeframeId: period, StartDate: start, EndDate: end})
	}
	period := func(period, start, end string) requested.Dates {
		return requested.InPeriodQuery(&timekeepingv1.GetTimecardRequest{SymbolicPeriodId: period, StartDate: start, EndDate: end})
	}
	for _, c := range []struct {
		name string
		sent requested.Dates
		none bool
		want string // from, and up to and not including, or the error
	}{
		{"dates", frame("", "2026-03-01", "2026-03-02"), false, "2026-03-01 2026-03-03"},
		{"the id of a period", frame("7", "", ""), false, "2026-03-01 2026-04-01"},
		{"the name of a period", period("March", "", ""), false, "2026-03-01 2026-04-01"},
		{"a number that is no id", frame("99999999999999999999", "", ""), false, `There is no symbolic period "99999999999999999999".`},
		{"both", frame("7", "2026-03-01", ""), false, "start_date and end_date, or timeframe_id, must be given, not both."},
		{"both, of another name", period("7", "2026-03-01", ""), false, "start_date and end_date, or symbolic_period_id, must be given, not both."},
		{"both of an item", item("7", "2026-03-01", ""), false, "startDate and endDate, or timeframeId, must be given, not both."},
		{"both in a range", inRange(refByName("7"), "2026-03-01", ""), false, "dateRange.startDate and dateRange.endDate, or dateRange.symbolicPeriod, must be given, not both."},
		{"nothing", frame("", "", ""), true, "start_date and end_date, or timeframe_id, must be given."},
		{"nothing in a range", inRange(nil, "", ""), true, "dateRange.startDate and dateRange.endDate, or dateRange.symbolicPeriod, must be given."},
		{"a first day that is not", frame("", "x", "2026-03-02"), false, `start_date: "x" does not have the form YYYY-MM-DD.`},
		{"a last day of a range that is not", inRange(nil, "2026-03-02", "x"), false, `dateRange.endDate: "x" does not have the form YYYY-MM-DD.`},
		{"backwards", period("", "2026-03-02", "2026-03-01"), false, "end_date is before start_date."},
		{"backwards in a range", inRange(nil, "2026-03-02", "2026-03-01"), false, "dateRange.endDate is before dateRange.startDate."},
		{"too many", frame("", "2026-01-01", "2028-01-01"), false, "From start_date to end_date are 731 days; at most 366 are allowed."},
		{"beyond the calendar of a range", inRange(nil, "1800-01-01", "1800-01-01"), false, "dateRange.startDate and dateRange.endDate must be from "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.none, c.sent.None())
			days, err := requested.New(nil, &commons{}).Days(t.Context(), c.sent)
			if got := fmt.Sprint(days.From, " ", days.To); err != nil {
				assert.True(t, strings.HasPrefix(fault.FromError(err).Message, c.want), "%v", err)
			} else {
				assert.Equal(t, c.want, got)
			}
		})
	}
}
