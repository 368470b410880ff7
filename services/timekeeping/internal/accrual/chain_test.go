package accrual

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// A balance stays when the accrual profile changes, and each profile grants for its own days.
func TestChangeOfTheProfile(t *testing.T) {
	t.Parallel()
	type policy = timekeepingv1.AccrualPolicy
	amount := proto.Float64
	day := civil.Of
	taken := func(days string) []*timekeepingv1.WorkedTimeTotal {
		return []*timekeepingv1.WorkedTimeTotal{{PayCode: ref(7, "Vacation"), Days: days}}
	}
	for name, c := range map[string]struct {
		before, after *policy
		first, change civil.Date
		totals        map[civil.Date][]*timekeepingv1.WorkedTimeTotal
		last          civil.Date
		want          string
	}{
		"at the turn of the year": {
			&policy{GrantAmount: amount(24)}, &policy{GrantAmount: amount(30)}, day(2026, 1, 1), day(2027, 1, 1), nil, day(2027, 2, 1), "54",
		},
		"before the change": {
			&policy{GrantAmount: amount(24)}, &policy{GrantAmount: amount(30)}, day(2026, 1, 1), day(2027, 1, 1), nil, day(2026, 12, 31), "24",
		},
		"the former limit applies to the former year": {
			&policy{GrantAmount: amount(24), CarryOverLimit: amount(5)}, &policy{GrantAmount: amount(30)}, day(2026, 1, 1), day(2027, 1, 1), nil, day(2027, 2, 1), "35",
		},
		"the new limit applies to the next year": {
			&policy{GrantAmount: amount(24)}, &policy{GrantAmount: amount(30), CarryOverLimit: amount(5)}, day(2026, 1, 1), day(2027, 1, 1), nil, day(2028, 2, 1), "35",
		},
		"within a year, each grants its months": {
			&policy{GrantAmount: amount(24), Proration: "FULL_MONTHS"}, &policy{GrantAmount: amount(30), Proration: "FULL_MONTHS"}, day(2026, 1, 1), day(2026, 7, 1), nil, day(2026, 12, 31), "27",
		},
		"from a year to months": {
			&policy{GrantAmount: amount(24)}, &policy{GrantAmount: amount(2), GrantFrequency: "MONTHLY"}, day(2026, 1, 1), day(2027, 1, 1), nil, day(2027, 3, 31), "30",
		},
		"deductions stay": {
			&policy{GrantAmount: amount(24)}, &policy{GrantAmount: amount(30)}, day(2026, 1, 1), day(2027, 1, 1),
			map[civil.Date][]*timekeepingv1.WorkedTimeTotal{day(2026, 8, 3): taken("4"), day(2027, 1, 4): taken("1")},
			day(2027, 2, 1), "49",
		},
		"a profile later": {
			&policy{GrantAmount: amount(12), GrantFrequency: "ONCE"}, &policy{GrantAmount: amount(30)}, day(2026, 1, 1), day(2028, 1, 1), nil, day(2028, 1, 1), "42",
		},
		"the carried-over amount expires by the new policy": {
			&policy{GrantAmount: amount(24)}, &policy{GrantAmount: amount(30), CarryOverMonths: proto.Int32(3)}, day(2026, 1, 1), day(2027, 1, 1),
			map[civil.Date][]*timekeepingv1.WorkedTimeTotal{day(2027, 1, 4): taken("4")},
			day(2027, 4, 1), "30",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			former := tenure{days: civil.Range{From: c.first, To: c.change}, followed: true}
			accounts := chain{openAccount(t, c.before, unitDay, former), openAccount(t, c.after, unitDay, since(c.change))}
			got := accounts.balance(c.last, history{totals: c.totals})
			assert.Equal(t, c.want, got.RatString())
			hours, _ := new(big.Rat).Mul(got, big.NewRat(8, 1)).Float64()
			assert.InDelta(t, hours, accounts.daily(civil.Through(c.last, c.last), history{totals: c.totals})[0], 1e-9)
			on, lowest := accounts.lowest(c.last, c.last, history{totals: c.totals})
			assert.Equal(t, c.last, on)
			assert.Equal(t, c.want, lowest.RatString())
		})
	}
}
