package timecard

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// noPeriods knows no symbolic period, and keeps the last request for one.
type noPeriods struct {
	requested.Commons
	asked *commonsv1.SymbolicPeriodWhere
}

func (p *noPeriods) ReadSymbolicPeriod(_ context.Context, req *commonsv1.ReadSymbolicPeriodRequest, _ ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error) {
	p.asked = req.GetWhere()
	return nil, fault.NotFound("WCO-1", "no")
}

// "Yesterday" of the own timecard is the caller's yesterday, and of other timecards the tenant's.
func TestPeriodsOfOwnTimecards(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	stored, timecards := newTimecards(t, ctx, timecardtest.Noon(t, "2026-03-10"))
	ctx = authn.With(ctx, &authn.Principal{Tenant: 1, Subject: "t", PersonID: 7, Rows: "all"}, "")
	periods := &noPeriods{}
	finder := requested.New(person.NewDirectory(stored.pool, nil, nil), periods)
	h := NewTimecards(stored.pool, timecards.Reader, finder, timecards.Signoffs, stored.room, stored.jobs, nil)
	approvals := approval.New(stored.pool, timecards.Reader, finder)
	const yesterday = "Yesterday"
	of := &commonv1.Ref{Id: proto.Int64(7)}
	period := &commonv1.Ref{Qualifier: proto.String(yesterday)}
	ownApproval := &timekeepingv1.EmployeeTimecardApprovalRequest{TimeframeId: yesterday}
	for _, test := range []struct {
		name string
		own  bool
		call func() error
	}{
		{"read the own timecard", true, func() error {
			_, err := h.GetEmployeeTimecard(ctx, &timekeepingv1.GetEmployeeTimecardRequest{SymbolicPeriodId: yesterday})
			return err
		}},
		{"read parts of the own timecard", true, func() error {
			_, err := h.MultiReadEmployeeTimecards(ctx, &timekeepingv1.MultiReadTimecardsRequest{
				Where: &timekeepingv1.TimecardsWhere{DateRange: &commonv1.DateRange{SymbolicPeriod: period}},
			})
			return err
		}},
		{"change the own timecard", true, func() error {
			_, err := h.UpdateEmployeeTimecard(ctx, &timekeepingv1.UpdateTimecardRequest{
				Where: &timekeepingv1.TimecardWhere{DateRange: &timekeepingv1.TimecardDates{SymbolicPeriod: period}},
			})
			return err
		}},
		{"approve own days", true, func() error {
			_, err := approvals.ApproveEmployeeTimecard(ctx, ownApproval)
			return err
		}},
		{"remove the own approval", true, func() error {
			_, err := approvals.RemoveEmployeeTimecardApproval(ctx, ownApproval)
			return err
		}},
		{"list the own approvals", true, func() error {
			_, err := approvals.ListEmployeeTimecardApprovals(ctx, ownApproval)
			return err
		}},
		{"read a timecard", false, func() error {
			_, err := h.GetTimecard(ctx, &timekeepingv1.GetTimecardRequest{EmployeeId: of.Id, SymbolicPeriodId: yesterday})
			return err
		}},
		{"change a timecard", false, func() error {
			_, err := h.UpdateTimecard(ctx, &timekeepingv1.UpdateTimecardRequest{
				Where: &timekeepingv1.TimecardWhere{Employee: of, DateRange: &timekeepingv1.TimecardDates{SymbolicPeriod: period}},
			})
			return err
		}},
		{"list the approvals of an employee", false, func() error {
			_, err := approvals.ListTimecardApprovals(ctx, &timekeepingv1.ListTimecardApprovalsRequest{EmployeeId: of.Id, TimeframeId: yesterday})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			periods.asked = nil
			err := test.call()
			require.True(t, fault.HasCode(err, timecardfault.CodePeriod), "%v", err)
			assert.Equal(t, test.own, periods.asked.GetCurrentUser())
			assert.Equal(t, !test.own, periods.asked.GetCurrentTenant())
		})
	}
}
