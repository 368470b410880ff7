package accrual

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

func ref(id int64, name string) *commonv1.Ref { return &commonv1.Ref{Id: &id, Qualifier: &name} }

// since is the tenure of an employee who has the profile from a day on.
func since(first civil.Date) tenure {
	return tenure{days: civil.Range{From: first, To: civil.Forever}}
}

func openAccount(t *testing.T, policy *timekeepingv1.AccrualPolicy, unit string, of tenure) *account {
	t.Helper()
	profile, err := NewProfiles(&setupname.Names{}).resource.Validate("accrualProfile", &timekeepingv1.AccrualProfile{Name: "Staff", AccrualPolicies: []*timekeepingv1.AccrualPolicy{policy}})
	require.Error(t, err, "without an accrual code")
	assert.Nil(t, profile)
	policy.AccrualCode = ref(1, "Holiday")
	profile, err = NewProfiles(&setupname.Names{}).resource.Validate("accrualProfile", &timekeepingv1.AccrualProfile{Name: "Staff", AccrualPolicies: []*timekeepingv1.AccrualPolicy{policy}})
	require.NoError(t, err)
	code, err := NewCodes(nil).resource.Validate("accrualCode", &timekeepingv1.AccrualCode{Name: "Holiday", Unit: unit, PayCodes: []*commonv1.Ref{ref(7, "Vacation")}})
	require.NoError(t, err)
	a, err := newAccount(profile.GetAccrualPolicies()[0], code, of)
	require.NoError(t, err)
	return a
}

func TestBalance(t *testing.T) {
	t.Parallel()
	taken := func(seconds int64, days string) *timekeepingv1.WorkedTimeTotal {
		return &timekeepingv1.WorkedTimeTotal{PayCode: ref(7, "Vacation"), Seconds: seconds, Days: days}
	}
	first := civil.Of(2026, 7, 1)
	for name, c := range map[string]struct {
		unit        string
		policy      *timekeepingv1.AccrualPolicy
		taken       map[civil.Date][]*timekeepingv1.WorkedTimeTotal
		last        civil.Date
		days        float64
		wantSeconds int64
	}{
		"the part of a year that is left": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(365)}, unit: unitDay, last: first, days: 184, wantSeconds: 184 * 8 * 3600,
		},
		"and a whole one": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(365)}, unit: unitDay, last: civil.Of(2027, 1, 1), days: 184 + 365, wantSeconds: (184 + 365) * 8 * 3600,
		},
		"of which little may stay": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(365), CarryOverLimit: proto.Float64(4.5)}, unit: unitDay, last: civil.Of(2027, 1, 1),
			days: 369.5, wantSeconds: 369.5 * 8 * 3600,
		},
		"a debt stays": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(0), CarryOverLimit: proto.Float64(0)}, unit: unitDay, last: civil.Of(2027, 1, 1),
			taken: map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first: {taken(4*3600, "1")}}, days: -1.5, wantSeconds: -12 * 3600,
		},
		"each month": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(2.5), GrantFrequency: "monthly"}, unit: unitHour, last: civil.Of(2026, 9, 30),
			days: 7.5 / 8, wantSeconds: 27_000,
		},
		"once": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(40), GrantFrequency: once}, unit: unitHour, last: civil.Of(2029, 9, 30),
			taken: map[civil.Date][]*timekeepingv1.WorkedTimeTotal{first + 3: {taken(3600, "0.5"), {PayCode: ref(8, "Vacation"), Seconds: 9}}, civil.Of(2029, 10, 1): {taken(1, "")}},
			days:  35.0 / 8, wantSeconds: 35 * 3600,
		},
		"years of their own": {
			policy: &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(10), YearStart: "07-01"}, unit: unitDay, last: civil.Of(2027, 7, 1), days: 20, wantSeconds: 20 * 8 * 3600,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := openAccount(t, c.policy, c.unit, since(first))
			got := a.convertBalance(chain{a}.balance(c.last, history{totals: c.taken}))
			assert.InDelta(t, c.days, got.Days, 1e-12)
			assert.Equal(t, c.wantSeconds, got.Seconds)
		})
	}
}

// Balances equal a count year by year with the standard library's calendar.
func TestBalanceIsTheSumOfYears(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 11))
	first := civil.Of(2020, 1, 1)
	for range 200 {
		grant, limit := random.IntN(40), random.IntN(20)
		a := openAccount(t, &timekeepingv1.AccrualPolicy{GrantAmount: proto.Float64(float64(grant)), CarryOverLimit: proto.Float64(float64(limit))}, unitDay, since(first))
		totals := map[civil.Date][]*timekeepingv1.WorkedTimeTotal{}
		taken := map[int]int64{}
		for range random.IntN(60) {
			day := first.AddDays(random.IntN(6 * 365))
			totals[day] = append(totals[day], &timekeepingv1.WorkedTimeTotal{PayCode: &commonv1.Ref{Qualifier: proto.String("VACATION")}, Seconds: 4 * 3600})
			taken[day.Time().Year()]++
		}
		want := new(big.Rat)
		for year := 2020; year <= 2025; year++ {
			if most := big.NewRat(int64(limit), 1); year > 2020 && want.Cmp(most) > 0 {
				want.Set(most)
			}
			want.Add(want, big.NewRat(int64(grant), 1))
			want.Sub(want, big.NewRat(taken[year], 2))
		}
		last := civil.FromTime(time.Date(2025, time.December, 31, 0, 0, 0, 0, time.UTC))
		assert.Zero(t, want.Cmp(chain{a}.balance(last, history{totals: totals})), "%s: %s", want, chain{a}.balance(last, history{totals: totals}))
	}
}
