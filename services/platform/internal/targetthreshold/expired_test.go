package targetthreshold

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// The day is the tenant's: at eleven in the evening of UTC it is the next one already.
func TestExpired(t *testing.T) {
	t.Parallel()
	zone, err := tzdb.Load("Europe/Zurich")
	require.NoError(t, err)
	h := New(nil, clock.NewFake(time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)), zone)
	for date, may := range map[string]bool{"2026-03-01": true, "2026-03-02": true, "2026-03-03": false, "3000-01-01": false} {
		t.Run(date, func(t *testing.T) {
			t.Parallel()
			err := h.checkExpired(t.Context(), nil, &platformv1.TargetThreshold{ExpirationDate: date})
			if may {
				assert.NoError(t, err)
				return
			}
			assert.True(t, fault.HasCode(err, CodeNotExpired), err)
			assert.ErrorContains(t, err, date)
		})
	}
}
