package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// datedZones reads zones written as "Europe/Berlin 2026-03-02 UTC", the first one without a day.
func datedZones(t *testing.T, text string) *commonsv1.PersonZones {
	t.Helper()
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return nil
	}
	out := &commonsv1.PersonZones{Zones: []*commonsv1.PersonZone{{From: int32(civil.Beginning), Name: fields[0]}}}
	for i := 1; i < len(fields); i += 2 {
		day, err := civil.ParseDate(fields[i])
		require.NoError(t, err)
		out.Zones = append(out.Zones, &commonsv1.PersonZone{From: int32(day), Name: fields[i+1]})
	}
	return out
}

func writeZones(dated *commonsv1.PersonZones) string {
	var out []string
	for i, z := range dated.GetZones() {
		if i > 0 {
			out = append(out, civil.Date(z.GetFrom()).String())
		}
		out = append(out, z.GetName())
	}
	return strings.Join(out, " ")
}

// A person in Berlin gets another time zone when it is the evening of 1 March there, and the
// morning of 2 March in Auckland.
func TestChangeZone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct{ name, before, dated, sent, from, want string }{
		{"no change", "Europe/Berlin", "", "Europe/Berlin", "", ""},
		{"from today on the old clock", "Europe/Berlin", "", "Pacific/Auckland", "", "Europe/Berlin 2026-03-01 Pacific/Auckland"},
		{"back on the same day", "Pacific/Auckland", "Europe/Berlin 2026-03-02 Pacific/Auckland", "Europe/Berlin", "2026-03-02", ""},
		{"from a day on", "Europe/Berlin", "", "Pacific/Auckland", "2026-01-01", "Europe/Berlin 2026-01-01 Pacific/Auckland"},
		{"from the beginning", "Europe/Berlin", "", "Pacific/Auckland", "1900-01-01", ""},
		{"a third one", "Pacific/Auckland", "Europe/Berlin 2026-01-01 Pacific/Auckland", "UTC", "", "Europe/Berlin 2026-01-01 Pacific/Auckland 2026-03-02 UTC"},
		{"an earlier day", "Pacific/Auckland", "Europe/Berlin 2026-01-01 Pacific/Auckland", "Pacific/Auckland", "2025-01-01", "Europe/Berlin 2025-01-01 Pacific/Auckland"},
		{"the same again", "Pacific/Auckland", "Europe/Berlin 2026-01-01 Pacific/Auckland", "Pacific/Auckland", "2026-01-01", "Europe/Berlin 2026-01-01 Pacific/Auckland"},
		{"before another one", "Pacific/Auckland", "Europe/Berlin 2026-01-01 Pacific/Auckland", "UTC", "2025-01-01", "Europe/Berlin 2025-01-01 UTC"},
		{"in the future", "Europe/Berlin", "", "UTC", "2027-01-01", "Europe/Berlin 2027-01-01 UTC"},
		{"after a change that did not know days", "UTC", "Europe/Berlin 2026-01-01 Pacific/Auckland", "Europe/Berlin", "", "UTC 2026-03-01 Europe/Berlin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := &Draft{Zone: c.sent, zoneFrom: c.from}
			require.NoError(t, New(&civil.Zones{}, "UTC").ChangeZone(d, c.before, datedZones(t, c.dated), now))
			assert.Equal(t, c.want, writeZones(d.Zones))
		})
	}
}

func TestTimeZonesOfAPersonAreBounded(t *testing.T) {
	t.Parallel()
	dated := "UTC"
	for i := range maxList - 1 {
		dated += fmt.Sprintf(" %s %s", civil.Of(2020, 1, 1)+civil.Date(i), []string{"Europe/Berlin", "UTC"}[i%2])
	}
	d := &Draft{Zone: "Pacific/Auckland", zoneFrom: "2026-01-01"}
	err := New(&civil.Zones{}, "UTC").ChangeZone(d, "Europe/Berlin", datedZones(t, dated), time.Now())
	assert.True(t, fault.HasCode(err, CodeBadValue), "%v", err)
}
