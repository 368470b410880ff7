package record

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func on(key, value string, from, to civil.Date) DatedElement {
	return DatedElement{Days: civil.Range{From: from, To: to}, key: key, value: key + value}
}

func TestOverlay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, fresh, want []DatedElement }{
		"splits what it lies inside":     {[]DatedElement{on("", "a", 0, 9)}, []DatedElement{on("", "b", 3, 5)}, []DatedElement{on("", "a", 0, 3), on("", "b", 3, 5), on("", "a", 5, 9)}},
		"ends what came before":          {[]DatedElement{on("", "a", 0, 9)}, []DatedElement{on("", "b", 4, 20)}, []DatedElement{on("", "a", 0, 4), on("", "b", 4, 20)}},
		"swallows what it covers":        {[]DatedElement{on("", "a", 2, 4), on("", "b", 4, 6)}, []DatedElement{on("", "c", 1, 8)}, []DatedElement{on("", "c", 1, 8)}},
		"joins what says the same":       {[]DatedElement{on("", "a", 0, 4)}, []DatedElement{on("", "a", 4, 9)}, []DatedElement{on("", "a", 0, 9)}},
		"says again what was said":       {[]DatedElement{on("", "a", 0, 9)}, []DatedElement{on("", "a", 3, 9)}, []DatedElement{on("", "a", 0, 9)}},
		"ends earlier":                   {[]DatedElement{on("", "a", 0, 9)}, []DatedElement{on("", "a", 0, 5)}, []DatedElement{on("", "a", 0, 5)}},
		"ends earlier, begun before":     {[]DatedElement{on("", "a", 0, 9)}, []DatedElement{on("", "a", 3, 5)}, []DatedElement{on("", "a", 0, 5)}},
		"ends earlier, and goes on":      {[]DatedElement{on("", "a", 0, 9)}, []DatedElement{on("", "a", 0, 5), on("", "b", 6, 9)}, []DatedElement{on("", "a", 0, 5), on("", "b", 6, 9)}},
		"ends earlier by its own key":    {[]DatedElement{on("x", "a", 0, 9), on("y", "a", 0, 9)}, []DatedElement{on("x", "a", 0, 5)}, []DatedElement{on("x", "a", 0, 5), on("y", "a", 0, 9)}},
		"fills a gap":                    {[]DatedElement{on("", "a", 0, 2), on("", "a", 6, 8)}, []DatedElement{on("", "b", 2, 6)}, []DatedElement{on("", "a", 0, 2), on("", "b", 2, 6), on("", "a", 6, 8)}},
		"leaves a gap open":              {[]DatedElement{on("", "a", 0, 2)}, []DatedElement{on("", "a", 4, 6)}, []DatedElement{on("", "a", 0, 2), on("", "a", 4, 6)}},
		"leaves other keys alone":        {[]DatedElement{on("x", "a", 0, 9)}, []DatedElement{on("y", "b", 3, 5)}, []DatedElement{on("x", "a", 0, 9), on("y", "b", 3, 5)}},
		"replaces only what has its key": {[]DatedElement{on("x", "a", 0, 9), on("y", "a", 0, 9)}, []DatedElement{on("y", "b", 0, 9)}, []DatedElement{on("x", "a", 0, 9), on("y", "b", 0, 9)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, overlay(c.old, c.fresh))
		})
	}
}

// TestOverlayDayByDay compares with a simple model: on a day of a new entry its key has the new
// value, and on any other day its old value, unless a new entry with the same value ends earlier.
func TestOverlayDayByDay(t *testing.T) {
	t.Parallel()
	const length = 40
	rapid.Check(t, func(t *rapid.T) {
		old, fresh := drawEntries(t, "old", length), drawEntries(t, "fresh", length)
		got := overlay(old, fresh)
		for i := range got {
			require.False(t, got[i].Days.Empty())
			for k := range i {
				joined := got[k].value == got[i].value && got[k].Days.To >= got[i].Days.From && got[i].Days.To >= got[k].Days.From
				require.False(t, joined, "neighbours that say the same are one")
			}
		}
		for _, key := range []string{"x", "y"} {
			for day := civil.Date(0); day <= length; day++ {
				want := valueOn(fresh, key, day)
				if want == "" && !endedBefore(old, fresh, key, day) {
					want = valueOn(old, key, day)
				}
				require.Equal(t, want, valueOn(got, key, day), "%s on day %d", key, day)
			}
		}
	})
}

// drawEntries draws entries of two keys, with and without gaps, that do not
// overlap.
func drawEntries(t *rapid.T, label string, length civil.Date) []DatedElement {
	var out []DatedElement
	for _, key := range []string{"x", "y"} {
		for from := civil.Date(0); from < length; {
			first := civil.Date(rapid.Int32Range(int32(from), int32(length)).Draw(t, label+" from"))
			end := civil.Date(rapid.Int32Range(int32(first)+1, int32(length)+1).Draw(t, label+" to"))
			out = append(out, on(key, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label+" value"), first, end))
			from = end
			if rapid.Bool().Draw(t, label+" last") {
				break
			}
		}
	}
	return out
}

// valueOn returns the one value of a key on a day, "" for none, "?" for several.
func valueOn(list []DatedElement, key string, day civil.Date) string {
	found := ""
	for _, e := range list {
		if e.key == key && e.Days.Contains(day) {
			if found != "" {
				return "?"
			}
			found = e.value
		}
	}
	return found
}

// endedBefore reports whether a new entry ends the old one of a day before the day.
func endedBefore(old, fresh []DatedElement, key string, day civil.Date) bool {
	for _, o := range old {
		for _, f := range fresh {
			if o.key == key && o.Days.Contains(day) && f.key == key && f.value == o.value && o.Days.Contains(f.Days.From) && f.Days.To <= day {
				return true
			}
		}
	}
	return false
}
