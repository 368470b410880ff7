package civil_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func day(t testing.TB, s string) civil.Date {
	t.Helper()
	d, err := civil.ParseDate(s)
	require.NoError(t, err)
	return d
}

func at(t testing.TB, s string) civil.DateTime {
	t.Helper()
	dt, err := civil.ParseDateTime(s)
	require.NoError(t, err)
	return dt
}

func TestDateEdges(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "1970-01-01", civil.Date(0).String())
	assert.Equal(t, "1900-01-01", civil.Beginning.String())
	assert.Equal(t, "3000-01-01", civil.Forever.String())
	assert.Equal(t, civil.Beginning, day(t, "1899-12-31").Clamp())
	assert.Equal(t, civil.Forever, day(t, "9999-12-31").Clamp())
	assert.Equal(t, day(t, "2026-01-05"), day(t, "2026-01-05").Clamp())
	assert.Equal(t, civil.Date(math.MaxInt32), civil.Date(math.MaxInt32-1).AddDays(5))
	assert.Equal(t, civil.Date(math.MinInt32), civil.Date(math.MinInt32+1).AddDays(-5))
}

// Every day of the supported calendar, and centuries around it, against package time.
func TestDateAgainstPackageTime(t *testing.T) {
	t.Parallel()
	var buffer []byte
	first, last := civil.Of(1799, 1, 1), civil.Of(3005, 1, 1)
	want := first.Time()
	for d := first; d < last; d++ {
		year, month, dayOfMonth := d.Civil()
		wantYear, wantMonth, wantDay := want.Date()
		if year != wantYear || month != wantMonth || dayOfMonth != wantDay || d.Weekday() != want.Weekday() {
			require.FailNow(t, "different day", "%v: %d-%d-%d %v", want, year, month, dayOfMonth, d.Weekday())
		}
		if civil.Of(year, month, dayOfMonth) != d || civil.FromTime(want) != d {
			require.FailNow(t, "no way back", "%v", want)
		}
		buffer = d.Append(buffer[:0])
		if parsed, err := civil.ParseDate(buffer); err != nil || parsed != d || string(buffer) != want.Format(time.DateOnly) {
			require.FailNow(t, "text differs", "%v: %s, parsed %v, %v", want, buffer, parsed, err)
		}
		want = want.Add(24 * time.Hour)
	}
}

func TestDateOfTheWholeType(t *testing.T) {
	t.Parallel()
	for d := int64(math.MinInt32); d <= math.MaxInt32; d += 299_993 {
		year, month, dayOfMonth := civil.Date(d).Civil()
		want := time.Unix(d*86400, 0).UTC()
		require.Equal(t, [3]int{want.Year(), int(want.Month()), want.Day()}, [3]int{year, int(month), dayOfMonth})
		require.Equal(t, civil.Date(d), civil.Of(year, month, dayOfMonth))
	}
	assert.Equal(t, "-0001-12-31", civil.Of(0, 1, 0).String())
	assert.Equal(t, "+12026-03-01", civil.Of(12026, 2, 29).String())
	assert.Equal(t, "2026-02-28", civil.Of(2026, 3, 0).String())
	assert.Equal(t, "2027-02-01", civil.Of(2026, 14, 1).String())
	assert.Equal(t, "2025-12-01", civil.Of(2026, 0, 1).String())
}

func TestLeapDays(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "2024-02-29", day(t, "2024-02-28").AddDays(1).String())
	assert.Equal(t, "2024-03-01", day(t, "2024-02-29").AddDays(1).String())
	assert.Equal(t, "2025-02-28", day(t, "2024-02-29").AddDays(365).String())
	assert.Equal(t, "2100-03-01", day(t, "2100-02-28").AddDays(1).String())
	assert.Equal(t, "2000-02-29", day(t, "2000-03-01").AddDays(-1).String())
}

func TestDateTime(t *testing.T) {
	t.Parallel()
	night := day(t, "2026-12-31").At(30 * 3600)
	assert.Equal(t, "2027-01-01T06:00:00", night.String())
	assert.Equal(t, "2026-12-30T23:59:59", day(t, "2026-12-31").At(-1).String())
	assert.Equal(t, day(t, "2027-01-01").At(6*3600), night.Normal())
	assert.Zero(t, night.Compare(at(t, "2027-01-01T06:00:00")))
	assert.Equal(t, -1, night.Compare(at(t, "2027-01-01T06:00:01")))
	date, clock := night.Clock()
	assert.Equal(t, day(t, "2027-01-01"), date)
	assert.Equal(t, "06:00:00", clock.String())
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buffer := make([]byte, 0, 64)
	when := at(t, "2026-12-31T23:45:06")
	assert.Zero(t, testing.AllocsPerRun(100, func() { buffer = when.Append(buffer[:0]) }))
	assert.Equal(t, "2026-12-31T23:45:06", string(buffer))
}

func BenchmarkDateTimeAppend(b *testing.B) {
	b.ReportAllocs()
	buffer := make([]byte, 0, 64)
	for i := range b.N {
		buffer = civil.Date(20000 + i%3650).At(79200).Append(buffer[:0])
	}
}

func BenchmarkParseDateTime(b *testing.B) {
	b.ReportAllocs()
	text := []byte("2026-12-31T23:45:06")
	for range b.N {
		if _, err := civil.ParseDateTime(text); err != nil {
			b.Fatal(err)
		}
	}
}
