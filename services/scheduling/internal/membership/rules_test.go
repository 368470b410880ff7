package membership

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func days(from, to string) civil.Range {
	first, err := civil.ParseDate(from)
	if err != nil {
		panic(err)
	}
	end, err := civil.ParseDate(to)
	if err != nil {
		panic(err)
	}
	return civil.Range{From: first, To: end}
}

func TestRewrite(t *testing.T) {
	t.Parallel()
	old := []membership{{1, days("2024-01-01", "2025-01-01")}, {2, days("2025-01-01", "3000-01-01")}}
	for name, c := range map[string]struct {
		span  civil.Range
		fresh []membership
		want  []membership
	}{
		"all days, nothing new": {always, nil, []membership{}},
		"all days, one new":     {always, []membership{{3, days("2026-01-01", "2027-01-01")}}, []membership{{3, days("2026-01-01", "2027-01-01")}}},
		"before everything":     {days("2020-01-01", "2024-01-01"), nil, old},
		"cuts one in two":       {days("2024-03-01", "2024-04-01"), nil, []membership{{1, days("2024-01-01", "2024-03-01")}, {1, days("2024-04-01", "2025-01-01")}, old[1]}},
		"over the end of one":   {days("2024-12-01", "2025-02-01"), []membership{{3, days("2024-12-15", "2025-01-15")}}, []membership{{1, days("2024-01-01", "2024-12-01")}, {3, days("2024-12-15", "2025-01-15")}, {2, days("2025-02-01", "3000-01-01")}}},
		"exactly one, replaced": {days("2024-01-01", "2025-01-01"), []membership{{3, days("2024-01-01", "2025-01-01")}}, []membership{{3, days("2024-01-01", "2025-01-01")}, old[1]}},
		"new ones in any order": {always, []membership{{3, days("2026-01-01", "2027-01-01")}, {4, days("2025-01-01", "2026-01-01")}}, []membership{{4, days("2025-01-01", "2026-01-01")}, {3, days("2026-01-01", "2027-01-01")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, rewrite(old, c.span, c.fresh))
		})
	}
}

// TestRewriteDayByDay compares with a simple model: a day of the span has the new term or none, and
// any other day keeps its term.
func TestRewriteDayByDay(t *testing.T) {
	t.Parallel()
	const length = 40
	rapid.Check(t, func(t *rapid.T) {
		span := drawRange(t, "span", 0, length)
		var old []membership
		for from := civil.Date(0); from < length; {
			r := drawRange(t, "old", from, length+1)
			old = append(old, membership{rapid.Int64Range(1, 3).Draw(t, "term"), r})
			from = r.To
		}
		var fresh []membership
		if rapid.Bool().Draw(t, "one new") && !span.Empty() {
			fresh = append(fresh, membership{9, drawRange(t, "fresh", span.From, span.To)})
		}
		got := rewrite(old, span, fresh)
		for day := civil.Date(0); day <= length; day++ {
			want := termOn(old, day)
			if span.Contains(day) {
				want = termOn(fresh, day)
			}
			require.Equal(t, want, termOn(got, day), "day %d", day)
		}
	})
}

// drawRange draws a range with at least one day between two days.
func drawRange(t *rapid.T, label string, from, to civil.Date) civil.Range {
	first := civil.Date(rapid.Int32Range(int32(from), int32(to)-1).Draw(t, label+" from"))
	return civil.Range{From: first, To: civil.Date(rapid.Int32Range(int32(first)+1, int32(to)).Draw(t, label+" to"))}
}

// termOn returns the one term of a day, 0 for none, -1 for several.
func termOn(list []membership, day civil.Date) int64 {
	found := int64(0)
	for _, m := range list {
		if m.days.Contains(day) {
			if found != 0 {
				return -1
			}
			found = m.term
		}
	}
	return found
}
