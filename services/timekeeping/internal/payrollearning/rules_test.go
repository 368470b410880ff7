package payrollearning

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// An earning is paid for the day that its sender wrote.
func TestDayOfAnEarning(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "2026-11-23",
		"2024-02-05":                    "2024-02-05",
		"2024-02-05T00:00:00Z":          "2024-02-05",
		"2024-02-05T00:00:00+02:00":     "2024-02-05",
		"2024-02-05T23:30:00-05:00":     "2024-02-05",
		"2024-02-29T00:00:00.000+14:00": "2024-02-29",
		"1900-01-01T00:00:00+01:00":     "1900-01-01",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := day("chargeDate", text, civil.Of(2026, time.November, 23))
			require.NoError(t, err)
			assert.Equal(t, want, got.String())
		})
	}
	for _, text := range []string{"yesterday", "2024-02-30", "1899-12-31T23:59:59Z", "3001-01-01T00:00:00Z", "2024-02-05T00:00:00"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, err := day("chargeDate", text, 0)
			assert.True(t, fault.HasCode(err, fault.CodeDate), err)
		})
	}
}

// Without a day, an earning is paid for the day that it is where the employee works.
func TestTodayOfAnEmployee(t *testing.T) {
	t.Parallel()
	h := New(nil, nil, clock.NewFake(time.Date(2026, 11, 23, 3, 30, 0, 0, time.UTC)))
	for zone, want := range map[string]string{"UTC": "2026-11-23", "America/New_York": "2026-11-22", "Pacific/Auckland": "2026-11-23", "Pacific/Honolulu": "2026-11-22"} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			got, err := h.today(t.Context(), person.Person{ID: 7, TimeZone: zone})
			require.NoError(t, err)
			assert.Equal(t, want, got.String())
		})
	}
}
