package timecard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// What one call may ask for.
const (
	maxEmployees = 500
	maxDays      = 366
)

// WorkedTime serves WorkedTimeService.
type WorkedTime struct {
	timekeepingv1.UnsafeWorkedTimeServiceServer
	reader *Reader
}

var _ timekeepingv1.WorkedTimeServiceServer = (*WorkedTime)(nil)

// NewWorkedTime returns a WorkedTime of the timecards of a reader.
func NewWorkedTime(reader *Reader) *WorkedTime { return &WorkedTime{reader: reader} }

// ReadWorkedTime returns what the timecards of employees add up to.
func (h *WorkedTime) ReadWorkedTime(ctx context.Context, req *timekeepingv1.ReadWorkedTimeRequest) (*timekeepingv1.ReadWorkedTimeResponse, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	from, err := civil.ParseDate(req.GetStartDate())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "startDate: "+err.Error()+".")
	}
	last, err := civil.ParseDate(req.GetEndDate())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "endDate: "+err.Error()+".")
	}
	days := civil.Through(from, last)
	if n := len(req.GetEmployeeIds()); n > maxEmployees || days.Empty() || days.Days() > maxDays {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d employees on %d days are more than the allowed %d on %d, or none.", n, days.Days(), maxEmployees, maxDays))
	}
	cards, err := h.reader.read(ctx, tenantID, req.GetEmployeeIds(), window{days: days})
	if err != nil {
		return nil, err
	}
	out := &timekeepingv1.ReadWorkedTimeResponse{Employees: make([]*timekeepingv1.EmployeeWorkedTime, len(cards))}
	for i, c := range cards {
		out.Employees[i] = c.workedTime()
	}
	return out, nil
}

func (c *card) workedTime() *timekeepingv1.EmployeeWorkedTime {
	out := &timekeepingv1.EmployeeWorkedTime{EmployeeId: c.id, Totals: c.totals()}
	if c.through != nil {
		out.SignedOffThrough = c.through.String()
	}
	out.PayRule, _ = c.setup.rules.On(c.payRule(c.days.To-1), c.days.To-1)
	for _, e := range c.result.Exceptions {
		if c.shows(e.Day) && (e.Fault == worktime.MissedIn || e.Fault == worktime.MissedOut) {
			out.MissedPunches++
		}
	}
	return out
}

// totals adds up a timecard by day, pay code and job.
func (c *card) totals() []*timekeepingv1.WorkedTimeTotal {
	var out []*timekeepingv1.WorkedTimeTotal
	sums := map[worktime.Key]int64{}
	for key, seconds := range c.result.Totals() {
		if c.shows(key.Day) && seconds != 0 {
			key.Job = c.job(key.Job, key.Day)
			sums[key] += seconds
		}
	}
	for key, seconds := range sums {
		out = append(out, &timekeepingv1.WorkedTimeTotal{
			Date: key.Day.String(), PayCode: payCodeRef(key.PayCode), OrgJob: jobRef(key.Job),
			Kind: timekeepingv1.TotalKind_TOTAL_KIND_WORKED, Seconds: seconds,
		})
	}
	slices.SortFunc(out, func(a, b *timekeepingv1.WorkedTimeTotal) int {
		return cmp.Or(cmp.Compare(a.GetDate(), b.GetDate()), cmp.Compare(a.GetKind(), b.GetKind()),
			strings.Compare(a.GetPayCode().GetQualifier(), b.GetPayCode().GetQualifier()), cmp.Compare(a.GetPayCode().GetId(), b.GetPayCode().GetId()),
			cmp.Compare(a.GetOrgJob().GetId(), b.GetOrgJob().GetId()), strings.Compare(a.GetOrgJob().GetQualifier(), b.GetOrgJob().GetQualifier()),
			cmp.Compare(a.GetHistoricalDate(), b.GetHistoricalDate()))
	})
	return out
}

func payCodeRef(code worktime.PayCode) *commonv1.Ref {
	ref := &commonv1.Ref{Qualifier: proto.String(code.Name)}
	if code.ID != 0 {
		ref.Id = proto.Int64(code.ID)
	}
	return ref
}

// byID begins the name of a job of which only the id is known.
const byID = "\x01"

func jobRef(job string) *commonv1.Ref {
	if job == "" {
		return nil
	}
	if id, ok := strings.CutPrefix(job, byID); ok {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			return &commonv1.Ref{Id: &n}
		}
	}
	return &commonv1.Ref{Qualifier: &job}
}
