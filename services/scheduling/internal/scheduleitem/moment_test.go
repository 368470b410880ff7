package scheduleitem_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Entries are detached from their pattern while callers read. A reader sees each entry as generated
// or as edited, and always once.
func TestReadsShowAnEditedShiftOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first, err := civil.ParseDate("2025-03-03")
	require.NoError(t, err)
	reads := 0
	for d := range civil.Date(60) {
		date := (first + d).String()
		edited := make(chan error, 1)
		go func() {
			_, err := f.update(entryID(t, 1, date, 0), newShift(1, date+"T08:00", date+"T17:00"))
			edited <- err
		}()
		for done := false; !done; reads++ {
			select {
			case err := <-edited:
				require.NoError(t, err)
				done = true
			default:
			}
			_, err := f.shifts.GetShift(f.Ctx, &schedulingv1.GetShiftRequest{Id: entryID(t, 1, date, 0)})
			require.NoError(t, err, "read %d of %s", reads, date)
			got := f.day(date)
			require.Len(t, got, 2, "read %d of %s: %v", reads, date, got)
			require.Contains(t, []string{"P1 08:00 16:00", "P1 08:00 17:00"}, got[0])
		}
		assert.Equal(t, []string{"P1 08:00 17:00", "P1 Training"}, f.day(date))
	}
}
