package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestPeriodsFollowTheCalendar(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, advance, to string }{
		"a year":                        {"2026-03-01T08:00:00Z", "P1Y", "2027-03-01T08:00:00Z"},
		"a year after a leap day":       {"2028-02-29T08:00:00Z", "P1Y", "2029-02-28T08:00:00Z"},
		"four years after a leap day":   {"2028-02-29T08:00:00Z", "P4Y", "2032-02-29T08:00:00Z"},
		"a month that is shorter":       {"2026-01-31T08:00:00Z", "P1M", "2026-02-28T08:00:00Z"},
		"months across the year":        {"2026-11-30T08:00:00Z", "P3M", "2027-02-28T08:00:00Z"},
		"days after months":             {"2026-01-31T08:00:00Z", "P1M1D", "2026-03-01T08:00:00Z"},
		"weeks and days":                {"2026-03-01T08:00:00Z", "P2W3D", "2026-03-18T08:00:00Z"},
		"a time":                        {"2026-03-01T08:00:00Z", "PT30H15M20S", "2026-03-02T14:15:20Z"},
		"each part":                     {"2026-03-01T08:00:00Z", "P1Y2M3W4DT5H6M7S", "2027-05-26T13:06:07Z"},
		"a fraction of a second stays":  {"2026-03-01T08:00:00.5Z", "P1D", "2026-03-02T08:00:00.5Z"},
		"the longest time":              {"2026-03-01T08:00:00Z", "PT999999H9999999M999999999S", "2190-12-11T11:25:39Z"},
		"more time than a month's days": {"2026-02-01T00:00:00Z", "PT720H", "2026-03-03T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, err := time.Parse(time.RFC3339, c.from)
			require.NoError(t, err)
			p, err := parsePeriod(c.advance)
			require.NoError(t, err)
			assert.Equal(t, c.to, p.after(from).Format(time.RFC3339Nano))
		})
	}
}

func TestPeriodsThatAreNotDurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"P", "PT", "P1DT", "P0D", "1Y", "P1.5D", "-P1D", "P-1D", "P1S", "PT1D", "P1D ", "p1d", "P1D1Y", "P9999999Y", "ein Jahr"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, err := parsePeriod(text)
			require.Error(t, err)
			assert.Equal(t, CodeInvalid, fault.FromError(err).Code)
		})
	}
}
