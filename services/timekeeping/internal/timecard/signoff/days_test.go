package signoff

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

func TestTouchedDaysThatAreSigned(t *testing.T) {
	t.Parallel()
	through := civil.Of(2026, time.March, 8)
	for name, c := range map[string]struct{ days, want []string }{
		"one day":                      {[]string{"2026-03-02"}, []string{"2026-02-24 2026-03-08"}},
		"days and weeks around it":     {[]string{"2026-02-02"}, []string{"2026-01-27 2026-02-16"}},
		"close together":               {[]string{"2026-01-02", "2026-03-07"}, []string{"2025-12-27 2026-03-08"}},
		"a shift of the last day":      {[]string{"2026-03-09"}, []string{"2026-03-03 2026-03-08"}},
		"open":                         {[]string{"2026-03-15"}, nil},
		"far apart":                    {[]string{"2016-03-02", "2026-03-02"}, []string{"2016-02-25 2016-03-16", "2026-02-24 2026-03-08"}},
		"next to what is long already": {[]string{"2025-01-02", "2025-12-25", "2026-01-01"}, []string{"2024-12-27 2025-01-16", "2025-12-19 2026-01-15"}},
		"all in range already":         {[]string{"2026-03-07", "2026-03-08", "2026-03-09", "2026-03-12"}, []string{"2026-03-01 2026-03-08"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days := ChangedDays{}
			for _, text := range c.days {
				day, err := civil.ParseDate(text)
				require.NoError(t, err)
				days.Add(7, day)
			}
			var got []string
			for _, k := range days.inSigned(map[int64]signoff{7: {through: through}}) {
				assert.LessOrEqual(t, k.days.Days(), calculation.MaxDays)
				got = append(got, k.days.From.String()+" "+(k.days.To-1).String())
			}
			assert.Equal(t, c.want, got)
		})
	}
}
