package rotation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// flat is a shift the way a reader needs it, with its instants.
type flat struct {
	employee   int64
	start, end int64
	day        civil.Date
	template   int32
	ordinal    uint8
	kind       rotation.Kind
}

// fortnight is a 14-day cycle with a shift on every day, so that a year is 365 shifts.
func fortnight(t testing.TB) *rotation.Pattern {
	var items []rotation.Item
	for day := int32(1); day <= 14; day++ {
		items = append(items, shift(day, 22-(day%3)*8, 30-(day%3)*8))
	}
	return compile(t, 14, items...)
}

// The expansions below fill out, which must be long enough, field by field: appending whole structs takes longer than
// computing them.

func expandYear(out []flat, p *rotation.Pattern, zone *civil.Zone, employee int64, window civil.Range) []flat {
	cursor := zone.Cursor()
	run := rotation.Run{Days: civil.Range{From: window.From, To: civil.Forever}, Position: int32(employee % 14)}
	n := 0
	for day, e := range p.Entries(run, window) {
		f := &out[n]
		n++
		f.start, f.end = cursor.Interval(day, e.StartSec, e.EndSec)
		f.employee, f.day = employee, day
		f.template, f.ordinal, f.kind = e.Template, e.Ordinal, e.Kind
	}
	return out[:n]
}

// expandByTimeDate is what one writes without thinking: the baseline. With once, the end is counted from the start.
func expandByTimeDate(
	out []flat, p *rotation.Pattern, location *time.Location, employee int64, window civil.Range, once bool,
) []flat {
	year, month, first := window.From.Civil()
	n := 0
	for i := range window.Days() {
		for _, e := range p.Day(int32((i + int(employee%14)) % 14)) {
			f := &out[n]
			n++
			f.start = time.Date(year, month, first+i, 0, 0, int(e.StartSec), 0, location).Unix()
			f.end = f.start + int64(e.EndSec-e.StartSec)
			if !once {
				f.end = time.Date(year, month, first+i, 0, 0, int(e.EndSec), 0, location).Unix()
			}
			f.employee, f.day = employee, window.From+civil.Date(i)
			f.template, f.ordinal, f.kind = e.Template, e.Ordinal, e.Kind
		}
	}
	return out[:n]
}

func TestExpansionsAreEqual(t *testing.T) {
	t.Parallel()
	location, err := tzdb.Load("Europe/Zurich")
	require.NoError(t, err)
	zone, p := civil.NewZone(location), fortnight(t)
	window := civil.Range{From: civil.Of(2026, 1, 1), To: civil.Of(2027, 1, 1)}
	for employee := range int64(14) {
		want := expandByTimeDate(make([]flat, window.Days()), p, location, employee, window, false)
		assert.Equal(t, want, expandYear(make([]flat, window.Days()), p, zone, employee, window))
	}
}

// BenchmarkExpansion makes a year of shifts with their instants, both clock changes included, for one employee after
// the other. The second baseline asks package time once a shift instead of twice, and is wrong in the nights of the
// clock changes.
func BenchmarkExpansion(b *testing.B) {
	location, err := tzdb.Load("Europe/Zurich")
	require.NoError(b, err)
	zone, p := civil.NewZone(location), fortnight(b)
	window := civil.Range{From: civil.Of(2026, 1, 1), To: civil.Of(2027, 1, 1)}
	out := make([]flat, window.Days())
	measure := func(name string, expand func(employee int64)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				expand(int64(i))
			}
			b.ReportMetric(float64(b.N)*float64(window.Days())/b.Elapsed().Seconds()/1e6, "Mshifts/s")
		})
	}
	measure("time.Date", func(employee int64) { expandByTimeDate(out, p, location, employee, window, false) })
	measure("time.Date once", func(employee int64) { expandByTimeDate(out, p, location, employee, window, true) })
	measure("spans", func(employee int64) { expandYear(out, p, zone, employee, window) })
	total := 0
	measure("spans without instants", func(employee int64) {
		run := rotation.Run{Days: civil.Range{From: window.From, To: civil.Forever}, Position: int32(employee % 14)}
		for day, e := range p.Entries(run, window) {
			total += int(day) + int(e.EndSec)
		}
	})
	require.NotZero(b, total)
}
