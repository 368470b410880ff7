package timezone

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func newRuleOf(start, end [4]int32) *commonsv1.TimeZoneRule {
	return &commonsv1.TimeZoneRule{
		StartDayOfWeek: &start[0], StartDay: &start[1], StartMonth: &start[2], StartTime: &start[3],
		EndDayOfWeek: &end[0], EndDay: &end[1], EndMonth: &end[2], EndTime: &end[3],
	}
}

func TestTimeZones(t *testing.T) {
	t.Parallel()
	const hour = 3_600_000
	for name, c := range map[string]struct {
		now        string
		full       string
		offset     int32
		start, end string
		rule       *commonsv1.TimeZoneRule
	}{
		"Europe/Zurich": {
			"2026-07-01T12:00:00Z", "(UTC+01:00) Europe/Zurich", 60, "2026-03-29T02:00:00", "2026-10-25T03:00:00",
			newRuleOf([4]int32{1, -1, 2, 2 * hour}, [4]int32{1, -1, 9, 3 * hour}),
		},
		"America/New_York": {
			"2026-01-01T12:00:00Z", "(UTC-05:00) America/New_York", -300, "2026-03-08T02:00:00", "2026-11-01T02:00:00",
			newRuleOf([4]int32{1, 2, 2, 2 * hour}, [4]int32{1, 1, 10, 2 * hour}),
		},
		"Australia/Sydney": {
			"2028-12-31T12:00:00Z", "(UTC+10:00) Australia/Sydney", 600, "2028-10-01T02:00:00", "2028-04-02T03:00:00",
			newRuleOf([4]int32{1, 1, 9, 2 * hour}, [4]int32{1, 1, 3, 3 * hour}),
		},
		"Asia/Kolkata": {"2026-07-01T12:00:00Z", "(UTC+05:30) Asia/Kolkata", 330, "", "", &commonsv1.TimeZoneRule{}},
		"UTC":          {"2026-07-01T12:00:00Z", "(UTC+00:00) UTC", 0, "", "", &commonsv1.TimeZoneRule{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339, c.now)
			require.NoError(t, err)
			got, err := New(nil, nil, clock.NewFake(now)).GetTimeZone(t.Context(), &commonsv1.GetTimeZoneRequest{Id: tzdb.Number(name)})
			require.NoError(t, err)
			assert.Equal(t, c.full, got.GetFullDisplayName())
			assert.Equal(t, c.offset, got.GetOffsetMinutes())
			require.Len(t, got.GetEffectiveDatedTimeZoneList(), 1)
			dated := got.GetEffectiveDatedTimeZoneList()[0]
			assert.Equal(t, c.start, dated.GetDstStart())
			assert.Equal(t, c.end, dated.GetDstEnd())
			assert.True(t, proto.Equal(c.rule, dated.GetTimezone()), "%v", dated.GetTimezone())
		})
	}
}

// Every zone of the database has a response in every year, leap years included.
func TestAllTimeZones(t *testing.T) {
	t.Parallel()
	for _, year := range []int{2027, 2028} {
		h := New(nil, nil, clock.NewFake(time.Date(year, 12, 31, 23, 0, 0, 0, time.UTC)))
		list, err := h.ListTimeZones(t.Context(), &commonsv1.ListTimeZonesRequest{})
		require.NoError(t, err)
		assert.Len(t, list.GetTimeZones(), len(tzdb.Names()))
		for _, zone := range list.GetTimeZones() {
			assert.Less(t, max(zone.GetOffsetMinutes(), -zone.GetOffsetMinutes()), int32(15*60), zone.GetName())
		}
	}
}
