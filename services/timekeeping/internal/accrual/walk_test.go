package accrual

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// balanceByDay is the model of balance: it looks at each day from the first to the last one.
func balanceByDay(a *account, first, last civil.Date, totals map[civil.Date][]*timekeepingv1.WorkedTimeTotal) *big.Rat {
	sum := new(big.Rat)
	for day := first; day <= last; day++ {
		a.step(sum, day, first, totals[day])
	}
	return sum
}

// lowestByDay is the model of lowest.
func lowestByDay(a *account, first, from, last civil.Date, totals map[civil.Date][]*timekeepingv1.WorkedTimeTotal) (civil.Date, *big.Rat) {
	sum := new(big.Rat)
	lowest, on := (*big.Rat)(nil), from
	for day := first; day <= last; day++ {
		a.step(sum, day, first, totals[day])
		if day >= from && (lowest == nil || sum.Cmp(lowest) < 0) {
			lowest, on = new(big.Rat).Set(sum), day
		}
	}
	if lowest == nil {
		lowest = sum
	}
	return on, lowest
}

// randomTotals are what an employee takes in some years: hours, days, halves of days and
// corrections that give them back, also under pay codes that no accrual code takes from.
func randomTotals(random *rand.Rand, first civil.Date, days int) map[civil.Date][]*timekeepingv1.WorkedTimeTotal {
	totals := map[civil.Date][]*timekeepingv1.WorkedTimeTotal{}
	for range random.IntN(80) {
		day := first.AddDays(random.IntN(days+60) - 30)
		t := &timekeepingv1.WorkedTimeTotal{PayCode: ref(7, "Vacation")}
		switch random.IntN(4) {
		case 0:
			t.Days = []string{"1", "0.5", "-0.5", "2"}[random.IntN(4)]
		case 1:
			t.Seconds, t.Kind = -int64(random.IntN(9))*3600, timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION
		case 2:
			t.PayCode, t.Seconds = ref(8, "Other"), 3600
		default:
			t.Seconds = int64(random.IntN(12 * 3600))
		}
		totals[day] = append(totals[day], t)
	}
	return totals
}

// Balances equal those of the model on each day of several years.
func TestBalancesEqualThoseThatAreCountedByDay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(27, seed))
			policy := &timekeepingv1.AccrualPolicy{
				GrantAmount: proto.Float64(float64(random.IntN(400)) / 10), GrantFrequency: []string{yearly, monthly, once}[random.IntN(3)],
				YearStart: fmt.Sprintf("%02d-%02d", 1+random.IntN(12), 1+random.IntN(28)),
			}
			if random.IntN(3) > 0 {
				policy.CarryOverLimit = proto.Float64(float64(random.IntN(80)) / 10)
			}
			a := opened(t, policy, []string{unitHour, unitDay}[random.IntN(2)])
			first := civil.Of(2019, 1, 1).AddDays(random.IntN(800))
			if random.IntN(4) == 0 {
				first = a.year(first).To // A profile that begins with a year.
			}
			const days = 3 * 366
			totals := randomTotals(random, first, days)
			model := new(big.Rat)
			for last := first - 2; last < first+days; last++ {
				if last >= first {
					a.step(model, last, first, totals[last])
				}
				if got := a.balance(first, last, totals); model.Cmp(got) != 0 {
					t.Fatalf("on %s: %s instead of %s", last, got, model)
				}
			}
			require.Zero(t, model.Cmp(balanceByDay(a, first, first+days-1, totals)))
			for range 50 {
				from := first.AddDays(random.IntN(days))
				last := from.AddDays(random.IntN(500) - 5)
				wantDay, want := lowestByDay(a, first, from, last, totals)
				gotDay, got := a.lowest(first, from, last, totals)
				if wantDay != gotDay || want.Cmp(got) != 0 {
					t.Fatalf("from %s to %s: %s on %s instead of %s on %s", from, last, got, gotDay, want, wantDay)
				}
			}
		})
	}
}
