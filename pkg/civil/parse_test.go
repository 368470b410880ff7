package civil_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

func TestParseDate(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"2026-01-05", "2024-02-29", "0000-01-01", "9999-12-31", "3000-01-01"} {
		t.Run(good, func(t *testing.T) {
			d, err := civil.ParseDate(good)
			require.NoError(t, err)
			assert.Equal(t, good, d.String())
		})
	}
	for _, bad := range []string{
		"", "2026-1-05", "2026-01-5", "26-01-05", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32", "2026-04-31",
		"2023-02-29", "1900-02-29", "2026/01/05", "2026-01-05 ", " 2026-01-05", "2026-01-05T00:00:00", "+026-01-05",
		"2026-01-0a", "٢٠٢٦-٠١", "2026-01\x0005", "20260105", "-026-01-05",
	} {
		t.Run(bad, func(t *testing.T) {
			_, err := civil.ParseDate(bad)
			var refused *civil.ParseError
			require.ErrorAs(t, err, &refused, "%q", bad)
			assert.Equal(t, bad, refused.Text)
		})
	}
}

func TestParseTimeOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"00:00": "00:00:00", "23:59": "23:59:00", "06:30:15": "06:30:15", "06:30:15.999": "06:30:15",
		"06:30:15.0": "06:30:15", "06:30:15.123456789": "06:30:15",
	} {
		t.Run(text, func(t *testing.T) {
			c, err := civil.ParseTimeOfDay([]byte(text))
			require.NoError(t, err)
			assert.Equal(t, want, c.String())
		})
	}
	for _, bad := range []string{
		"", "6:30", "24:00", "12:60", "12:30:60", "12:30:", "12:30:1", "12:30:15.", "12:30:15,5", "12:30.5", "12:30:15.1234567890",
		"12:30:15.1a", "12-30", "12:30Z", "12:30:15Z", "12:30:15+01:00", "1a:30", "-1:30",
	} {
		t.Run(bad, func(t *testing.T) {
			_, err := civil.ParseTimeOfDay(bad)
			var refused *civil.ParseError
			assert.ErrorAs(t, err, &refused, "%q", bad)
		})
	}
}

func TestParseDateTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-03-29T02:30:00":     "2026-03-29T02:30:00",
		"1900-01-02T06:00:00.000": "1900-01-02T06:00:00",
		"2024-02-29T23:59:59.9":   "2024-02-29T23:59:59",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := civil.ParseDateTime(text)
			require.NoError(t, err)
			assert.Equal(t, want, got.String())
		})
	}
	for _, bad := range []string{
		"", "2026-03-29", "2026-03-29T", "2026-03-29T02:30", "2026-03-29 02:30:00", "2026-03-29t02:30:00", "2026-02-29T02:30:00",
		"2026-03-29T02:30:00Z", "2026-03-29T02:30:00+01:00", "2026-03-29T24:00:00", "2026-03-29T02:30:00.", "T02:30:00",
	} {
		t.Run(bad, func(t *testing.T) {
			_, err := civil.ParseDateTime(bad)
			var refused *civil.ParseError
			assert.ErrorAs(t, err, &refused, "%q", bad)
		})
	}
	_, err := civil.ParseDateTime(strings.Repeat("x", 10_000))
	assert.Less(t, len(err.Error()), 120, "an error does not repeat a long text")
}

// The parsers accept exactly what package time accepts in the same layouts, when it has the length of the
// form, and what they accept is written back unchanged.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"2026-01-05", "2024-02-29", "0000-02-30", "12:30", "23:59:59.123456789", "2026-03-29T02:30:00", "2026-03-29T02:30:00.5",
		"2026-03-29T02:30:00,5", "", "T", "2026-01-05T", "99:99:99", "::", "2026-01-05T12:30",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := civil.ParseDate(text)
		want, wantErr := time.Parse(time.DateOnly, text)
		require.Equal(t, wantErr == nil, err == nil, "date %q", text)
		if err == nil {
			require.Equal(t, text, d.String())
			require.Equal(t, want.Unix(), d.Time().Unix())
		}

		dt, err := civil.ParseDateTime([]byte(text))
		want, wantErr = time.Parse("2006-01-02T15:04:05", text)
		canonical := len(text) >= 19 && len(text) <= 29 && text[10:11] == "T" && text[11] != ' ' && !strings.Contains(text, ",")
		require.Equal(t, wantErr == nil && canonical, err == nil, "date-time %q", text)
		if err == nil {
			require.Equal(t, text[:19], dt.String())
			require.Equal(t, want.Unix(), int64(dt.Date)*86400+int64(dt.Seconds))
		}

		c, err := civil.ParseTimeOfDay(text)
		if err == nil {
			require.True(t, strings.HasPrefix(c.String(), text[:min(len(text), 8)]), "time of day %q", text)
			require.Less(t, int(c), 86400)
			_, wantErr = time.Parse("2006-01-02T15:04:05", "2026-01-05T"+(text + ":00")[:max(len(text), 8)])
			require.NoError(t, wantErr)
		}
	})
}

func TestParseInstant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2024-03-04T09:15:00Z":                "2024-03-04T09:15:00Z",
		"2024-03-04T09:15:00.123456789Z":      "2024-03-04T09:15:00.123456789Z",
		"2024-02-29T23:59:59.5-01:30":         "2024-03-01T01:29:59.5Z",
		"0001-01-01T00:00:00Z":                "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999999+00:00": "9999-12-31T23:59:59.999999999Z",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, parse := range []func(string) (time.Time, error){civil.ParseInstant[string], civil.ParseDateOrInstant[string]} {
				got, err := parse(text)
				require.NoError(t, err)
				assert.Equal(t, want, got.Format(time.RFC3339Nano))
			}
		})
	}
	for _, bad := range []string{
		"", "Z", "2024-03-04", "2024-03-04T09:15:00", "2024-03-04T09:15Z", "2024-03-04t09:15:00z", "2024-03-04 09:15:00Z", "2024-03-04T09:15:60Z",
		"2024-03-04T24:00:00Z", "2024-02-30T09:15:00Z", "2024-03-04T09:15:00,5Z", "2024-03-04T9:15:00Z", "2024-03-04T09:15:00+0100", "2024-03-04T09:15:00+24:00",
		"2024-03-04T09:15:00 02:00", "0000-06-01T00:00:00Z", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2024-03-04T09:15:00.1234567890Z",
		"2024-03-04T09:15:00+01:00:00", "2024-03-04T09:15:00ZZ",
	} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			_, err := civil.ParseInstant(bad)
			var refused *civil.ParseError
			assert.ErrorAs(t, err, &refused)
		})
	}
}

func TestParseDateOrInstant(t *testing.T) {
	t.Parallel()
	got, err := civil.ParseDateOrInstant("2024-02-29")
	require.NoError(t, err)
	assert.Equal(t, time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), got)
	for _, bad := range []string{"0000-01-01", "2024-02-30", "20240229", "2024-02-29Z", "yesterday"} {
		_, err := civil.ParseDateOrInstant(bad)
		assert.Error(t, err, bad)
	}
}
