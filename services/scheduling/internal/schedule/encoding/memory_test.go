package encoding

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// A response that is sent in parts is never whole in memory, also if every employee has a job of
// their own. The test measures the memory of the process, so it runs alone.
func TestALargeResponseIsNotHeld(t *testing.T) {
	const employees, days = 1000, 28
	held := jobsOfTheirOwn(t, employees, days)
	q := &request.Query{Selected: request.SelectShifts, Days: held.Days}
	live := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before, sent, calls, most := live(), 0, 0, 0
	ctx := parts.WithSender(t.Context(), func(fields []byte) ([]byte, error) {
		sent += len(fields)
		if calls++; calls%20 == 0 {
			most = max(most, live()-before)
		}
		return fields[:0], nil
	})
	rest, err := Encode(ctx, q, held)
	require.NoError(t, err)
	sent += len(rest)
	require.Greater(t, sent, 8<<20)
	assert.Less(t, most, 2<<20, "bytes held while %d were sent", sent)
	runtime.KeepAlive(held)

	whole, err := Encode(t.Context(), q, jobsOfTheirOwn(t, employees, days))
	require.NoError(t, err)
	schedule := &schedulingv1.Schedule{}
	require.NoError(t, proto.Unmarshal(whole, schedule))
	for i, shift := range schedule.GetShifts().GetShifts() {
		require.Equal(t, jobPath(i/days), shift.GetPosition().GetQualifier())
	}
}

func jobPath(employee int) string { return fmt.Sprintf("Acme/Site %d/Packer", employee) }

// jobsOfTheirOwn returns a window of the given number of employees. Each has a different job and
// works every day.
func jobsOfTheirOwn(t *testing.T, employees, days int) *window.Window {
	t.Helper()
	pattern := &schedulingv1.SchedulePattern{DayCount: proto.Int32(7)}
	for day := range int32(7) {
		pattern.Items = append(pattern.Items, &schedulingv1.SchedulePatternItem{Day: proto.Int32(day + 1), ShiftTemplate: &schedulingv1.ShiftTemplate{
			StartDateTime: "1900-01-01T08:00:00", EndDateTime: "1900-01-01T16:00:00",
			Segments: []*schedulingv1.ShiftTemplateSegment{{
				StartDateTime: "1900-01-01T08:00:00", EndDateTime: "1900-01-01T16:00:00",
				SegmentType: &commonv1.Ref{Id: proto.Int64(1), Qualifier: proto.String("REGULAR_SEGMENT")},
			}},
		}})
	}
	compiled, err := window.Compile(pattern, false)
	require.NoError(t, err)
	relation, err := window.Relation{AssignmentID: 1}.Field()
	require.NoError(t, err)
	first := civil.Of(2026, 3, 2)
	w := &window.Window{Days: civil.Range{From: first, To: first.AddDays(days)}, Relations: [][]byte{relation}}
	zone, err := new(civil.Zones).Get("Europe/Berlin")
	require.NoError(t, err)
	var list []projection.Employee
	for i := range employees {
		list = append(list, projection.Employee{
			ID: int64(i + 1), PersonNumber: fmt.Sprint(i), Zone: zone,
			Jobs: []projection.Job{{Days: w.Days, Path: jobPath(i)}},
		})
	}
	w.Persons = window.NewPersons(list, w.Days)
	for i := range w.Persons {
		run := rotation.Run{Days: w.Days}
		for day, found := range compiled.Cycle.Entries(run, w.Days) {
			id, err := entryid.Encode(entryid.Entry{Series: int64(i + 1), Day: day})
			require.NoError(t, err)
			w.Entries[window.KindShift] = append(w.Entries[window.KindShift], window.Entry{
				Template: &compiled.Templates[found.Template], Job: w.Persons[i].JobOn(day), ID: id, Version: 1,
				Start: int64(day) * civil.SecondsPerDay, Employee: int32(i), Day: day,
			})
		}
	}
	return w
}
