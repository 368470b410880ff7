package approval_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/approval"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newApprovals has the employees 1 to 9, in Berlin. It is the noon of 2026-03-20.
func newApprovals(t *testing.T) (context.Context, *pg.Pool, *approval.Handler) {
	t.Helper()
	ctx, pool := tenant.With(t.Context(), 1), pooltest.New(t)
	persontest.Add(ctx, t, pool, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-03-20"))
	return ctx, pool, approval.New(pool, timecards.Reader, requested.New(person.NewDirectory(pool, nil, nil), nil))
}

// callerContext returns the context of a user who sees all employees and is a person, or no person for 0.
func callerContext(ctx context.Context, person int64) context.Context {
	return authn.With(ctx, &authn.Principal{Tenant: 1, Subject: fmt.Sprint("user-", person), PersonID: person, Rows: "all"}, "")
}

func days(employee int64, first, last string) *timekeepingv1.TimecardApprovalRequest {
	return &timekeepingv1.TimecardApprovalRequest{Employee: &timekeepingv1.TimecardApprovalBody{Id: &employee}, StartDate: first, EndDate: last}
}

func ownDays(first, last string) *timekeepingv1.EmployeeTimecardApprovalRequest {
	return &timekeepingv1.EmployeeTimecardApprovalRequest{StartDate: first, EndDate: last}
}

// listApprovals returns the approvals of an employee in March, by their days.
func listApprovals(t *testing.T, ctx context.Context, h *approval.Handler, employee int64) []string {
	t.Helper()
	list, err := h.ListTimecardApprovals(ctx, &timekeepingv1.ListTimecardApprovalsRequest{EmployeeId: &employee, StartDate: "2026-03-01", EndDate: "2026-03-31"})
	require.NoError(t, err)
	out := []string{}
	for _, a := range list.GetApprovals() {
		out = append(out, fmt.Sprintf("%s %s..%s %s", a.GetApprover(), a.GetStartDate()[8:], a.GetEndDate()[8:], a.GetApprovedBy()))
	}
	return out
}

func TestApprovalsThatAreRefused(t *testing.T) {
	t.Parallel()
	ctx, _, h := newApprovals(t)
	for _, c := range []struct {
		name, code  string
		caller      int64
		first, last string
	}{
		{"of the last day that is over", "", 1, "2026-03-19", "2026-03-19"},
		{"of today", timecardfault.CodeNotOver, 1, "2026-03-19", "2026-03-20"},
		{"of one's own days", fault.CodeOwnRecord, 7, "2026-03-19", "2026-03-19"},
		{"of days backwards", timecardfault.CodeNoRange, 1, "2026-03-19", "2026-03-18"},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller := callerContext(ctx, c.caller)
			p, _ := authn.From(caller)
			_, err := h.ApproveTimecard(authn.WithOwnRecord(caller, p, []string{"timekeeping.timecard_approval"}), days(7, c.first, c.last))
			assert.Equal(t, c.code == "", err == nil, "%v", err)
			assert.Equal(t, c.code != "", fault.HasCode(err, c.code), "%v", err)
		})
	}
	t.Run("of one's own by who is no employee", func(t *testing.T) {
		_, err := h.ApproveEmployeeTimecard(callerContext(ctx, 0), ownDays("2026-03-19", "2026-03-19"))
		assert.True(t, fault.HasCode(err, timecardfault.CodeOwn), "%v", err)
	})
	assert.Equal(t, []string{"MANAGER 19..19 user-1"}, listApprovals(t, ctx, h, 7))
}

// An approval replaces approvals of the same side that share a day with it. A removal removes whole
// approvals.
func TestApprovalsReplaceOthers(t *testing.T) {
	t.Parallel()
	ctx, _, h := newApprovals(t)
	for i, c := range []struct {
		name        string
		first, last string
		approved    []string // when the days are approved
		removed     []string // when their approvals are removed; nil where none is
	}{
		{"the days before", "2026-03-05", "2026-03-09", []string{"MANAGER 05..09 user-9", "EMPLOYEE 10..12", "MANAGER 10..12 user-9"}, nil},
		{"the days after", "2026-03-13", "2026-03-14", []string{"EMPLOYEE 10..12", "MANAGER 10..12 user-9", "MANAGER 13..14 user-9"}, nil},
		{"through the first day", "2026-03-09", "2026-03-10", []string{"MANAGER 09..10 user-9", "EMPLOYEE 10..12"}, []string{"EMPLOYEE 10..12"}},
		{"from the last day on", "2026-03-12", "2026-03-13", []string{"EMPLOYEE 10..12", "MANAGER 12..13 user-9"}, []string{"EMPLOYEE 10..12"}},
		{"a day within", "2026-03-11", "2026-03-11", []string{"EMPLOYEE 10..12", "MANAGER 11..11 user-9"}, []string{"EMPLOYEE 10..12"}},
		{"all days and more", "2026-03-09", "2026-03-13", []string{"MANAGER 09..13 user-9", "EMPLOYEE 10..12"}, []string{"EMPLOYEE 10..12"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			employee := int64(i + 1)
			self := fmt.Sprint(" user-", employee)
			with := func(list []string) []string {
				out := []string{}
				for _, line := range list {
					if line == "EMPLOYEE 10..12" {
						line += self
					}
					out = append(out, line)
				}
				return out
			}
			before := with([]string{"EMPLOYEE 10..12", "MANAGER 10..12 user-9"})
			start := func() {
				_, err := h.RemoveTimecardApproval(callerContext(ctx, 9), days(employee, "2026-03-01", "2026-03-19"))
				require.True(t, err == nil || fault.HasCode(err, timecardfault.CodeNotApproved), "%v", err)
				_, err = h.ApproveTimecard(callerContext(ctx, 9), days(employee, "2026-03-10", "2026-03-12"))
				require.NoError(t, err)
				_, err = h.ApproveEmployeeTimecard(callerContext(ctx, employee), ownDays("2026-03-10", "2026-03-12"))
				require.NoError(t, err)
				require.Equal(t, before, listApprovals(t, ctx, h, employee))
			}
			start()
			_, err := h.ApproveTimecard(callerContext(ctx, 9), days(employee, c.first, c.last))
			require.NoError(t, err)
			assert.Equal(t, with(c.approved), listApprovals(t, ctx, h, employee))

			start()
			_, err = h.RemoveTimecardApproval(callerContext(ctx, 9), days(employee, c.first, c.last))
			if c.removed == nil {
				require.True(t, fault.HasCode(err, timecardfault.CodeNotApproved), "%v", err)
				assert.Equal(t, before, listApprovals(t, ctx, h, employee))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, with(c.removed), listApprovals(t, ctx, h, employee))
		})
	}
}

// A change of a day removes the approvals of the day and of the previous day, because its shift may
// end on the changed day.
func TestChangesDropApprovals(t *testing.T) {
	t.Parallel()
	ctx, pool, h := newApprovals(t)
	for i, c := range []struct {
		name  string
		day   int
		stays bool
	}{
		{"the day before", 9, true},
		{"the first day", 10, false},
		{"the last day", 12, false},
		{"the day after", 13, false},
		{"two days after", 14, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			employee := int64(i + 1)
			_, err := h.ApproveTimecard(callerContext(ctx, 9), days(employee, "2026-03-10", "2026-03-12"))
			require.NoError(t, err)
			require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				return approval.Drop(ctx, tx, map[int64]map[civil.Date]bool{employee: {civil.Of(2026, 3, c.day): true}, 8: {civil.Of(2026, 3, 11): true}})
			}))
			assert.Equal(t, c.stays, len(listApprovals(t, ctx, h, employee)) == 1)
		})
	}
}
