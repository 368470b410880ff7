package requested_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// commons knows the symbolic period 7, also called March. Its hyperfinds find the ids of
// their names' employees.
type commons struct {
	finds map[string][]int64
	// asked is what a hyperfind was asked for.
	asked *commonsv1.ExecuteHyperfindRequest
}

func (*commons) ReadSymbolicPeriod(_ context.Context, req *commonsv1.ReadSymbolicPeriodRequest, _ ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error) {
	switch req.GetWhere().GetSymbolicPeriodId() {
	case "7", "March":
		return &commonsv1.SymbolicPeriodSpan{StartDate: "2026-03-01", EndDate: "2026-03-31"}, nil
	case "broken":
		return nil, fault.Unavailable("later", 0)
	}
	return nil, fault.NotFound("WCO-1", "no")
}

func (c *commons) ExecuteHyperfind(_ context.Context, req *commonsv1.ExecuteHyperfindRequest, _ ...grpc.CallOption) (*commonsv1.HyperfindResponse, error) {
	c.asked = req
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

func named(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &name} }

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
		{"the first of the calendar", &dates{StartDate: card.First.String(), EndDate: card.First.String()}, "", fmt.Sprint(card.First, " ", card.First+1)},
		{"the day before", &dates{StartDate: (card.First - 1).String(), EndDate: card.First.String()}, timecardfault.CodeInvalid, ""},
		{"the last of the calendar", &dates{StartDate: card.Last.String(), EndDate: card.Last.String()}, "", fmt.Sprint(card.Last, " ", card.Last+1)},
		{"the day after", &dates{StartDate: card.Last.String(), EndDate: (card.Last + 1).String()}, timecardfault.CodeInvalid, ""},
		{"a period by name", &dates{SymbolicPeriod: named("March")}, "", "2026-03-01 2026-04-01"},
		{"a period by id, which wins", &dates{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("May")}}, "", "2026-03-01 2026-04-01"},
		{"an unknown period", &dates{SymbolicPeriod: named("May")}, timecardfault.CodePeriod, ""},
		{"a period that cannot be read now", &dates{SymbolicPeriod: named("broken")}, fault.CodeUnavailable, ""},
		{"a period and a date", &dates{SymbolicPeriod: named("March"), EndDate: "2026-03-01"}, timecardfault.CodeInvalid, ""},
		{"none", nil, timecardfault.CodeNoRange, ""},
		{"no first day", &dates{EndDate: "2026-03-01"}, timecardfault.CodeNoRange, ""},
		{"no last day", &dates{StartDate: "2026-03-01"}, timecardfault.CodeNoRange, ""},
		{"backwards", &dates{StartDate: "2026-03-02", EndDate: "2026-03-01"}, timecardfault.CodeNoRange, ""},
		{"a first day that is not", &dates{StartDate: "2026-02-29", EndDate: "2026-03-01"}, fault.CodeDate, ""},
		{"a last day that is not", &dates{StartDate: "2026-02-28", EndDate: "2026-02-29"}, fault.CodeDate, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			days, err := requested.New(nil, &commons{}).Days(t.Context(), "where", c.sent)
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

func TestDaysOfQueries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, period, start, end string
		want                     *commonv1.DateRange
	}{
		{"dates", "", "2026-03-01", "2026-03-02", &commonv1.DateRange{StartDate: "2026-03-01", EndDate: "2026-03-02"}},
		{"the id of a period", "7", "", "", &commonv1.DateRange{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(7)}}},
		{"the name of a period", "March", "", "", &commonv1.DateRange{SymbolicPeriod: named("March")}},
		{"a number that is no id", "99999999999999999999", "", "", &commonv1.DateRange{SymbolicPeriod: named("99999999999999999999")}},
		{"both, which is refused later", "7", "2026-03-01", "", &commonv1.DateRange{SymbolicPeriod: &commonv1.Ref{Id: proto.Int64(7)}, StartDate: "2026-03-01"}},
		{"nothing", "", "", "", &commonv1.DateRange{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := requested.Dates(c.period, c.start, c.end)
			assert.True(t, proto.Equal(c.want, got), "%v", got)
		})
	}
}
