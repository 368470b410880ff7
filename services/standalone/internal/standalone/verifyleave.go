package standalone

import (
	"context"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// leavePage is the number of employees that are compared at a time. A comparison with differences is repeated
// each leaveCompareEvery, because leave may be in transit.
const (
	leavePage         = 100
	leaveCompareEvery = 500 * time.Millisecond
)

// compareLeave compares the leave on a tenant's schedules with the decisions of timekeeping.
func (v *Verify) compareLeave(ctx context.Context, log *slog.Logger) (scheduling.CopyDifference, error) {
	found := scheduling.CopyDifference{Service: "scheduling", Topic: "leave_edits"}
	var pools [2]*pg.Pool
	for i, service := range []string{"timekeeping", "scheduling"} {
		database, err := v.database(ctx, log, service)
		if err != nil {
			return found, err
		}
		if pools[i], err = pg.Open(ctx, database, log); err != nil {
			return found, err
		}
		defer pools[i].Close()
	}
	for waited := clock.Start(); ; {
		var err error
		if found.Keys, err = countLeaveDifferences(ctx, pools[0], pools[1]); err != nil {
			return found, err
		}
		if found.Keys == 0 || waited.Elapsed() > scheduling.Settle {
			return found, nil
		}
		if err := backoff.Sleep(ctx, leaveCompareEvery); err != nil {
			return found, err
		}
	}
}

// countLeaveDifferences counts the employees whose leave differs between the databases.
func countLeaveDifferences(ctx context.Context, owner, schedules *pg.Pool) (int, error) {
	scheduled, err := scheduling.EmployeesWithLeave(ctx, schedules)
	if err != nil {
		return 0, err
	}
	unknown := make(map[int64]bool, len(scheduled))
	for _, id := range scheduled {
		unknown[id] = true
	}
	differ, after := 0, int64(0)
	for {
		states, err := timekeeping.LeaveStates(ctx, owner, after, leavePage)
		if err != nil {
			return 0, err
		}
		if len(states) == 0 {
			return differ + len(unknown), nil
		}
		n, err := scheduling.CountLeaveDifferences(ctx, schedules, states)
		if err != nil {
			return 0, err
		}
		differ += n
		for _, s := range states {
			delete(unknown, s.GetEmployeeId())
			after = s.GetEmployeeId()
		}
	}
}
