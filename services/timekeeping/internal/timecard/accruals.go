package timecard

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/accrual"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

const (
	// accrualSummary is the word that selects balances. An empty selection does not include it: each
	// balance needs the timecards since the first accrual profile.
	accrualSummary = "ACCRUAL_SUMMARY"
	// accrualReaders is the maximum number of employees whose balances one request reads at a time.
	accrualReaders = 4
)

// addAccruals adds the balances of employees to their metrics if the selection names them.
func (h *Timecards) addAccruals(ctx context.Context, timecards []*calculation.Timecard, list []*timekeepingv1.TimecardMetrics, selected []string) error {
	if len(selected) == 0 || !selection(selected)(accrualSummary) {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(accrualReaders)
	for i, c := range timecards {
		group.Go(func() error {
			balances, err := h.accruals.DailyBalances(ctx, c.ID, c.Days)
			for _, b := range balances {
				list[i].AccrualSummaryData = append(list[i].GetAccrualSummaryData(), summarize(c.ID, c.Days, b))
			}
			return err
		})
	}
	return group.Wait()
}

func summarize(employeeID int64, days civil.Range, b accrual.Daily) *timekeepingv1.AccrualSummary {
	code := b.AccrualCode
	out := &timekeepingv1.AccrualSummary{
		UniqueId: fmt.Sprintf("%d-accrual-%d", employeeID, code.GetId()),
		AccrualCode: &timekeepingv1.SummarizedAccrualCode{
			Id: code.Id, Name: code.GetName(), Qualifier: code.GetName(), ShortName: code.GetShortName(), HoursPerDay: code.HoursPerDay,
		},
	}
	for i, hours := range b.Hours {
		date := (days.From + civil.Date(i)).String()
		out.DailySummaries = append(out.DailySummaries, &timekeepingv1.AccrualDay{
			BalanceDate: date, AvailableBalanceHours: proto.Float64(hours),
			CurrentBalance: &timekeepingv1.AccrualAmount{BalanceDate: date, VestedHoursAmount: proto.Float64(hours)},
		})
	}
	return out
}
