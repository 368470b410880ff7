package payrollstaging

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// A run stages new days as they are, and of all others by how much they differ from the ledger.
func TestDifference(t *testing.T) {
	t.Parallel()
	regular := func(day civil.Date, hours int64) Total {
		return Total{Date: day, Kind: Worked, PayCode: "Regular", Seconds: hours}
	}
	corrected := func(day, apply civil.Date, hours int64) Total {
		return Total{Date: apply, Historical: &day, Kind: Correction, PayCode: "Regular", Seconds: hours}
	}
	february := march(0) // The last day of February.
	all := &rules{}
	onlySick := parseMarch(t, &timekeepingv1.PayrollStagingRequest{IncludePayCodes: []*commonv1.Ref{{Qualifier: new("Sick")}}})
	for it, c := range map[string]struct {
		covered     []coverage
		paid        map[civil.Date]int64
		corrections []Total
		totals      []Total
		want        []string
	}{
		"a day that nobody staged": {totals: []Total{regular(march(2), 8)}, want: []string{"2026-03-02 WORKED 8"}},
		"a day that was staged, and is the same": {
			covered: []coverage{{civil.Through(march(1), march(2)), all}}, paid: map[civil.Date]int64{march(2): 8}, totals: []Total{regular(march(2), 8)},
		},
		"a day of the range that changed": {
			covered: []coverage{{civil.Through(march(1), march(2)), all}}, paid: map[civil.Date]int64{march(2): 8}, totals: []Total{regular(march(2), 9)},
			want: []string{"2026-03-02 HISTORICAL_CORRECTION 1 of 2026-03-02 AFTER_STAGING"},
		},
		"a day before the range that lost everything": {
			covered: []coverage{{civil.Through(february, february), all}}, paid: map[civil.Date]int64{february: 8},
			want: []string{"2026-03-01 HISTORICAL_CORRECTION -8 of 2026-02-28 AFTER_STAGING"},
		},
		"a day before the range that no run staged is none of its business": {totals: []Total{regular(february, 8)}},
		"a day that a run staged for another pay code": {
			covered: []coverage{{civil.Through(march(1), march(31)), onlySick}}, totals: []Total{regular(march(2), 8)}, want: []string{"2026-03-02 WORKED 8"},
		},
		"a correction of a day that no run staged": {
			corrections: []Total{corrected(february, march(5), 1)}, want: []string{"2026-03-05 HISTORICAL_CORRECTION 1 of 2026-02-28 AFTER_SIGN_OFF"},
		},
		"a correction that was staged": {corrections: []Total{corrected(february, march(5), 1)}, paid: map[civil.Date]int64{february: 1}},
		"a second correction of the same day": {
			corrections: []Total{corrected(february, march(5), 1), corrected(february, march(6), 2)}, paid: map[civil.Date]int64{february: 1},
			want: []string{"2026-03-06 HISTORICAL_CORRECTION 2 of 2026-02-28 AFTER_SIGN_OFF"},
		},
		"a day whose correction was staged before it": {
			corrections: []Total{corrected(march(2), march(9), 1)}, paid: map[civil.Date]int64{march(2): 1}, totals: []Total{regular(march(2), 8)},
			want: []string{"2026-03-02 WORKED 8"},
		},
		"a day that was opened again: the correction is gone, and the day has it": {
			covered: []coverage{{civil.Through(march(1), march(2)), all}}, paid: map[civil.Date]int64{march(2): 10}, totals: []Total{regular(march(2), 10)},
		},
	} {
		t.Run(it, func(t *testing.T) {
			t.Parallel()
			b := &book{
				Head: payledger.Head{Open: march(1)}, covered: c.covered, corrections: c.corrections,
				paid: map[paidKey]amount.Quantity{}, names: map[paidKey]string{},
			}
			for day, n := range c.paid {
				key := newPaidKey(day, Total{PayCode: "Regular"})
				b.paid[key], b.names[key] = amount.Quantity{Seconds: n}, "Regular"
			}
			var got []string
			for _, row := range parseMarch(t, &timekeepingv1.PayrollStagingRequest{}).difference(b, c.totals) {
				line := fmt.Sprintf("%s %s %d", row.Date, row.Kind, row.Seconds)
				if row.Historical != nil {
					line += fmt.Sprintf(" of %s %s", row.Historical, row.Cause)
				}
				got = append(got, line)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// A run compares days before its own days while they are open, and when they changed.
func TestComparedDays(t *testing.T) {
	t.Parallel()
	day := func(n int) civil.Date { return march(1) + civil.Date(n) }
	through := func(from, to int) civil.Range { return civil.Through(day(from), day(to)) }
	for it, c := range map[string]struct {
		covered []civil.Range
		changed civil.Range
		open    civil.Date
		want    []civil.Range
	}{
		"nothing was staged":                     {open: day(-30)},
		"all staged days are signed off":         {covered: []civil.Range{through(-28, -1)}, open: day(0)},
		"staged days are open":                   {covered: []civil.Range{through(-28, -1)}, open: day(-7), want: []civil.Range{through(-7, -1)}},
		"a signed day changed":                   {covered: []civil.Range{through(-28, -1)}, open: day(0), changed: through(-20, -18), want: []civil.Range{through(-20, -18)}},
		"a signed day long ago changed":          {covered: []civil.Range{through(-900, -871)}, open: day(0), changed: through(-900, -900), want: []civil.Range{through(-900, -900)}},
		"an open day long ago is not looked for": {covered: []civil.Range{through(-900, -871)}, open: day(-1000)},
		"days of the run are no others":          {covered: []civil.Range{through(-2, 5)}, open: day(-30), want: []civil.Range{through(-2, -1)}},
		"runs overlap":                           {covered: []civil.Range{through(-28, -10), through(-14, -1)}, open: day(-30), want: []civil.Range{through(-28, -1)}},
		"a change of days that no run staged":    {covered: []civil.Range{through(-7, -1)}, open: day(0), changed: through(-20, -5), want: []civil.Range{through(-7, -5)}},
	} {
		t.Run(it, func(t *testing.T) {
			t.Parallel()
			b := &book{Head: payledger.Head{Open: c.open, Changed: c.changed}}
			for _, r := range c.covered {
				b.covered = append(b.covered, coverage{days: r, rules: &rules{}})
			}
			assert.Equal(t, c.want, b.findOthers(civil.Through(march(1), march(31))))
		})
	}
}
