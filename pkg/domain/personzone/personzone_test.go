package personzone_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/personzone"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

func TestRead(t *testing.T) {
	t.Parallel()
	zones := &civil.Zones{}
	day := civil.Of(2026, 3, 2)
	moved := &commonsv1.PersonZones{Zones: []*commonsv1.PersonZone{{From: int32(civil.Beginning), Name: "Europe/Berlin"}, {From: int32(day), Name: "Pacific/Auckland"}}}
	for name, c := range map[string]struct {
		zone          string
		dated         *commonsv1.PersonZones
		before, after string
	}{
		"one zone":            {"Europe/Berlin", nil, "Europe/Berlin", "Europe/Berlin"},
		"no entries":          {"Europe/Berlin", &commonsv1.PersonZones{}, "Europe/Berlin", "Europe/Berlin"},
		"two zones":           {"Pacific/Auckland", moved, "Europe/Berlin", "Pacific/Auckland"},
		"an older change":     {"UTC", moved, "UTC", "UTC"},
		"the first one again": {"Europe/Berlin", moved, "Europe/Berlin", "Europe/Berlin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			column, err := personzone.Encode(c.dated)
			require.NoError(t, err)
			require.NotNil(t, column)
			clocks, err := personzone.Read(zones, c.zone, column)
			require.NoError(t, err)
			assert.Equal(t, c.before, clocks.On(day-1).Name())
			assert.Equal(t, c.after, clocks.On(day).Name())
		})
	}
	_, err := personzone.Read(zones, "Europe/Atlantis", nil)
	require.ErrorIs(t, err, civil.ErrZone)
	_, err = personzone.Read(zones, "UTC", []byte{0xff})
	require.Error(t, err)
}
