package accrual

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// model calculates balances day by day from a policy. It uses the standard library's calendar, and
// no code of the package.
type model struct {
	policy     *timekeepingv1.AccrualPolicy
	inDays     bool
	from, to   time.Time
	terminated [][2]time.Time
	// seconds and halves of days are taken, and seconds are worked.
	seconds, halves, worked map[time.Time]int64
}

func next(day time.Time) time.Time { return day.AddDate(0, 0, 1) }

func monthDay(day time.Time) string { return day.Format("01-02") }

func exact(n float64) *big.Rat {
	out, _ := new(big.Rat).SetString(strconv.FormatFloat(n, 'f', -1, 64))
	return out
}

// employs reports whether grants are for a day.
func (m *model) employs(day time.Time) bool {
	if day.Before(m.from) {
		return false
	}
	if !m.policy.GetProrateLeavers() {
		return true
	}
	for _, off := range m.terminated {
		if !day.Before(off[0]) && day.Before(off[1]) {
			return false
		}
	}
	return day.Before(m.to)
}

// starts reports whether a period of the grants begins on a day.
func (m *model) starts(day time.Time) bool {
	if strings.EqualFold(m.policy.GetGrantFrequency(), "MONTHLY") {
		return day.Day() == 1
	}
	return monthDay(day) == m.policy.GetYearStart()
}

// boundary returns the day that is some months after another one.
func boundary(day time.Time, months int) time.Time {
	first := time.Date(day.Year(), day.Month()+time.Month(months), 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 1, -1)
	return first.AddDate(0, 0, min(day.Day(), last.Day())-1)
}

// part returns the part of its period that an employment from a day on earns.
func (m *model) part(day time.Time) *big.Rat {
	end := next(day)
	for m.employs(end) && !m.starts(end) {
		end = next(end)
	}
	whole := int64(12)
	if m.policy.GetGrantFrequency() == "MONTHLY" {
		whole = 1
	}
	months := int64(0)
	for !boundary(day, int(months)+1).After(end) {
		months++
	}
	switch m.policy.GetProration() {
	case "DAYS":
		first, last := day, end
		for !m.starts(first) {
			first = first.AddDate(0, 0, -1)
		}
		for !m.starts(last) {
			last = next(last)
		}
		return big.NewRat(int64(end.Sub(day)/(24*time.Hour)), int64(last.Sub(first)/(24*time.Hour)))
	case "STARTED_MONTHS":
		if boundary(day, int(months)).Before(end) {
			months++
		}
		return big.NewRat(months, whole)
	case "FULL_MONTHS":
		return big.NewRat(months, whole)
	}
	return big.NewRat(1, 1)
}

// year is a year of the policy in the model.
type year struct {
	start          time.Time
	carried, fresh *big.Rat
	net            *big.Rat
	// used is the amount of carried that was taken before it expired; nil before that.
	used    *big.Rat
	seconds int64
}

func (m *model) earn(seconds int64) *big.Rat {
	if m.policy.GetGrantFrequency() != "WORKED" {
		return new(big.Rat)
	}
	hours := big.NewRat(seconds, 3600)
	out := hours.Quo(hours.Mul(hours, exact(m.policy.GetGrantAmount())), exact(m.policy.GetWorkedHoursPerGrant()))
	if m.policy.YearlyGrantLimit != nil && out.Cmp(exact(m.policy.GetYearlyGrantLimit())) > 0 {
		return exact(m.policy.GetYearlyGrantLimit())
	}
	return out
}

func (m *model) balance(y *year) *big.Rat {
	out := new(big.Rat).Sub(y.fresh, y.net)
	out.Add(out, m.earn(y.seconds))
	if y.used != nil {
		return out.Add(out, y.used)
	}
	return out.Add(out, y.carried)
}

// expires reports whether the carried amount expires before a day.
func (m *model) expires(y *year, day time.Time) bool {
	if until := m.policy.GetCarryOverUntil(); until != "" {
		return monthDay(day.AddDate(0, 0, -1)) == until
	}
	months := int(m.policy.GetCarryOverMonths())
	return months > 0 && day.Equal(y.start.AddDate(0, months, 0))
}

// balances returns the balance at the end of each day from the first one on.
func (m *model) balances(days int) []*big.Rat {
	y := &year{carried: new(big.Rat), fresh: new(big.Rat), net: new(big.Rat)}
	given := new(big.Rat)
	var out []*big.Rat
	for day := m.from; len(out) < days; day = next(day) {
		if m.expires(y, day) && y.used == nil && y.carried.Sign() > 0 {
			y.used = new(big.Rat)
			if y.net.Sign() > 0 {
				y.used.Set(y.net)
			}
			if y.used.Cmp(y.carried) > 0 {
				y.used.Set(y.carried)
			}
		}
		if monthDay(day) == m.policy.GetYearStart() && day.After(m.from) {
			carried := m.balance(y)
			if m.policy.CarryOverLimit != nil && carried.Cmp(exact(m.policy.GetCarryOverLimit())) > 0 {
				carried = exact(m.policy.GetCarryOverLimit())
			}
			y = &year{start: day, carried: carried, fresh: new(big.Rat), net: new(big.Rat)}
		}
		if m.starts(day) {
			given.SetInt64(0)
		}
		y.fresh.Add(y.fresh, m.grant(day, given))
		hours := big.NewRat(m.seconds[day], 3600)
		if m.inDays {
			y.net.Add(y.net, hours.Quo(hours, big.NewRat(8, 1)))
			y.net.Add(y.net, big.NewRat(m.halves[day], 2))
		} else {
			y.net.Add(y.net, hours)
			y.net.Add(y.net, big.NewRat(4*m.halves[day], 1))
		}
		y.seconds += m.worked[day]
		out = append(out, m.balance(y))
	}
	return out
}

// grant returns the grant of a day, and adds its part to the grants of the period.
func (m *model) grant(day time.Time, given *big.Rat) *big.Rat {
	amount := exact(m.policy.GetGrantAmount())
	switch m.policy.GetGrantFrequency() {
	case "WORKED":
		return new(big.Rat)
	case "ONCE":
		if !day.Equal(m.from) {
			return new(big.Rat)
		}
		return amount
	}
	if !m.employs(day) || !m.starts(day) && m.employs(day.AddDate(0, 0, -1)) {
		return new(big.Rat)
	}
	part := m.part(day)
	if most := new(big.Rat).Sub(big.NewRat(1, 1), given); part.Cmp(most) > 0 {
		part = most
	}
	given.Add(given, part)
	return amount.Mul(amount, part)
}

func pick[T any](random *rand.Rand, of ...T) T { return of[random.IntN(len(of))] }

func tenths(random *rand.Rand, n int) *float64 { return proto.Float64(float64(random.IntN(n)) / 10) }

func randomPolicy(random *rand.Rand) *timekeepingv1.AccrualPolicy {
	p := &timekeepingv1.AccrualPolicy{
		GrantAmount: tenths(random, 400), GrantFrequency: pick(random, "YEARLY", "YEARLY", "MONTHLY", "MONTHLY", "ONCE", "WORKED", "WORKED"),
		YearStart: fmt.Sprintf("%02d-%02d", 1+random.IntN(12), pick(random, 1, 1, 1+random.IntN(28))),
	}
	switch p.GetGrantFrequency() {
	case "WORKED":
		p.WorkedHoursPerGrant = proto.Float64(float64(1+random.IntN(600)) / 10)
		if random.IntN(2) == 0 {
			p.YearlyGrantLimit = tenths(random, 3000)
		}
	case "YEARLY", "MONTHLY":
		p.Proration = pick(random, "DAYS", "FULL_MONTHS", "STARTED_MONTHS", "NONE")
		p.ProrateLeavers = p.GetProration() != "NONE" && random.IntN(3) > 0
	}
	if random.IntN(3) > 0 {
		p.CarryOverLimit = tenths(random, 80)
	}
	switch random.IntN(3) {
	case 0:
		start, _ := time.Parse("2006-01-02", "2001-"+p.GetYearStart())
		p.CarryOverUntil = monthDay(start.AddDate(0, 0, pick(random, -1, 0, random.IntN(365))))
	case 1:
		p.CarryOverMonths = proto.Int32(pick[int32](random, 12, 3, 1+random.Int32N(12)))
	}
	return p
}

// randomModel is an employee who works, takes time in hours and days, and gets some of it back;
// the employment ends and begins again.
func randomModel(random *rand.Rand, days int) *model {
	day := func() time.Time {
		at := time.Date(2019, 1, 1+random.IntN(days), 0, 0, 0, 0, time.UTC)
		return pick(random, at, at.AddDate(0, 0, 1-at.Day()))
	}
	m := &model{
		policy: randomPolicy(random), inDays: random.IntN(2) == 0, from: day(), to: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC),
		seconds: map[time.Time]int64{}, halves: map[time.Time]int64{}, worked: map[time.Time]int64{},
	}
	for range random.IntN(5) {
		off := m.from.AddDate(0, 0, random.IntN(days))
		off = pick(random, off, off.AddDate(0, 0, 1-off.Day()))
		m.terminated = append(m.terminated, [2]time.Time{off, off.AddDate(0, 0, 1+random.IntN(pick(random, 20, 500)))})
	}
	if random.IntN(3) == 0 {
		m.to = m.from.AddDate(0, 0, 1+random.IntN(days))
	}
	for range random.IntN(90) {
		at := m.from.AddDate(0, 0, random.IntN(days))
		switch random.IntN(3) {
		case 0:
			m.halves[at] += pick[int64](random, 1, 2, 4, -1)
		case 1:
			m.seconds[at] -= int64(random.IntN(9)) * 3600
		default:
			m.seconds[at] += int64(random.IntN(12 * 3600))
		}
	}
	for at := m.from; at.Before(m.from.AddDate(0, 0, days)); at = next(at) {
		if random.IntN(3) == 0 {
			m.worked[at] = int64(random.IntN(12 * 3600))
		}
	}
	return m
}

// openModel returns the account of the product, with what takes from it under two pay codes.
func (m *model) openModel(t *testing.T) (*account, history) {
	t.Helper()
	of := tenure{days: civil.Range{From: civil.FromTime(m.from), To: civil.FromTime(m.to)}}
	for _, off := range m.terminated {
		of.terminated = append(of.terminated, civil.Range{From: civil.FromTime(off[0]), To: civil.FromTime(off[1])})
	}
	h := history{totals: map[civil.Date][]*timekeepingv1.WorkedTimeTotal{}, worked: map[civil.Date]int64{}}
	for at, n := range m.halves {
		day := civil.FromTime(at)
		h.totals[day] = append(h.totals[day], &timekeepingv1.WorkedTimeTotal{PayCode: ref(7, "Vacation"), Days: strconv.FormatFloat(float64(n)/2, 'f', -1, 64)})
	}
	for at, n := range m.seconds {
		day := civil.FromTime(at)
		h.totals[day] = append(h.totals[day], &timekeepingv1.WorkedTimeTotal{PayCode: ref(7, "Vacation"), Seconds: n},
			&timekeepingv1.WorkedTimeTotal{PayCode: ref(8, "Other"), Seconds: 3600})
	}
	for at, n := range m.worked {
		h.worked[civil.FromTime(at)] = n
	}
	unit := "HOUR"
	if m.inDays {
		unit = "DAY"
	}
	return openAccount(t, m.policy, unit, of), h
}

// Balances, and the lowest balances of some days, equal the balances of the model over several
// years.
func TestBalancesEqualThoseThatAreCountedByDay(t *testing.T) {
	t.Parallel()
	const days = 4 * 366
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(27, seed))
			m := randomModel(random, days)
			a, h := m.openModel(t)
			first, want := civil.FromTime(m.from), m.balances(days)
			require.Zero(t, chain{a}.balance(first-1, h).Sign(), "before the profile")
			for i := random.IntN(20); i < days; i += 20 {
				if got := (chain{a}).balance(first.AddDays(i), h); want[i].Cmp(got) != 0 {
					t.Fatalf("on %s: %s instead of %s\n%s\n%v", first.AddDays(i), got, want[i], m.policy, m.terminated)
				}
			}
			from := random.IntN(days) - 10
			for i, hours := range (chain{a}).daily(civil.Through(first.AddDays(from), first.AddDays(from+20)), h) {
				balance := new(big.Rat)
				if on := from + i; on >= 0 && on < days {
					balance = want[on]
				} else if on >= days {
					break
				}
				require.Equal(t, a.convertHours(balance), hours, "on %s", first.AddDays(from+i)) //nolint:testifylint // The same conversion of equal numbers.
			}
			for range 30 {
				from := random.IntN(days - 1)
				last := min(days-1, from+random.IntN(500))
				lowest := from
				for i := from; i <= last; i++ {
					if want[i].Cmp(want[lowest]) < 0 {
						lowest = i
					}
				}
				on, got := (chain{a}).lowest(first.AddDays(from), first.AddDays(last), h)
				if on != first.AddDays(lowest) || got.Cmp(want[lowest]) != 0 {
					t.Fatalf("from day %d to %d: %s on %s instead of %s on %s", from, last, got, on, want[lowest], first.AddDays(lowest))
				}
			}
		})
	}
}
