package historytest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulechange"
)

// feed asks what changed in the schedule of the first employee.
type feed struct {
	*fixture

	changes schedulingv1.ScheduleChangeServiceClient
}

func newFeed(t *testing.T) *feed {
	w := newFixture(t)
	schedulingv1.RegisterScheduleChangeServiceServer(w.Local, schedulechange.New(schedulechange.Deps{
		Reader: w.reader, Directory: projection.NewResolver(w.Pool, nil, nil), KeepHistory: -1,
	}))
	return &feed{w, schedulingv1.NewScheduleChangeServiceClient(w.Conn())}
}

// readChanges returns the starts of the shifts that were created between two times, and where
// the next request goes on. An empty end leaves it out.
func (f *feed) readChanges(from, until string) (created []string, next string) {
	f.t.Helper()
	response, err := f.changes.MultiReadScheduleChanges(f.Ctx, &schedulingv1.MultiReadScheduleChangesRequest{
		Select: []string{"SHIFTS"}, Where: &schedulingv1.ScheduleChangesWhere{Employees: &schedulingv1.EmployeeScheduleChanges{
			Employees: &commonv1.RefList{Ids: employees[:1]}, StartDateTime: from, EndDateTime: until,
			EntityFilterSpan: &schedulingv1.EntityFilterSpan{Start: "2024-01-01", End: "2024-12-31"},
		}},
	})
	require.NoError(f.t, err)
	created = []string{}
	for _, s := range response.GetScheduleChangeSnapshots().GetSnapshots() {
		for _, c := range s.GetShifts().GetCreate() {
			created = append(created, c.GetAfter().GetStartDateTime()[:10])
		}
	}
	return created, response.GetEndDateTime()
}

// clockNow returns the time of a client's clock, which is right.
func clockNow() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000") }

// A clock that was ahead and is right again leaves changes with times that lie ahead. They
// are in the responses from then on, however the client asks, and so are later ones.
func TestTheFeedHasAllChangesAfterTheClockWasAhead(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"three hours": 3 * time.Hour, "sixty days": 60 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFeed(t)
			enter := func(day string) {
				t.Helper()
				date, err := civil.ParseDate(day)
				require.NoError(t, err)
				require.NoError(t, f.enter(employees[0], date))
			}
			began := clockNow()
			enter("2024-05-01")
			// Rows that are written while the clock is ahead have its time, and no row says yet that it was
			// ahead.
			f.Exec(t, "SELECT setval('schedule_revision', $1)", time.Now().Add(ahead).UnixMicro())
			enter("2024-05-02")
			f.Exec(t, "DELETE FROM corrected_clock")

			created, next := f.readChanges(began, clockNow())
			assert.Equal(t, []string{"2024-05-01", "2024-05-02"}, created, "until what the client's clock shows")
			created, _ = f.readChanges(began, "")
			assert.Equal(t, []string{"2024-05-01", "2024-05-02"}, created, "until now")

			created, next = f.readChanges(next, "")
			assert.Empty(t, created, "nothing comes twice to a client that goes on from the end of the response")
			enter("2024-05-03")
			created, next = f.readChanges(next, clockNow())
			assert.Equal(t, []string{"2024-05-03"}, created)
			enter("2024-05-04")
			created, _ = f.readChanges(next, "")
			assert.Equal(t, []string{"2024-05-04"}, created)

			// Long after, a client asks for times of the clock that are past.
			f.Exec(t, "UPDATE corrected_clock SET showed = showed - interval '1 hour'")
			hourAgo := time.Now().Add(-59 * time.Minute).UTC().Format("2006-01-02T15:04:05")
			created, _ = f.readChanges(began[:10]+"T00:00:00", hourAgo)
			assert.Subset(t, created, []string{"2024-05-02", "2024-05-03", "2024-05-04"}, "they were committed before")
			dayAgo := time.Now().Add(-24 * time.Hour).UTC().Format("2006-01-02T15:04:05")
			created, next = f.readChanges(dayAgo, dayAgo)
			assert.Empty(t, created)
			assert.Equal(t, dayAgo, next, "the clock was right then")
		})
	}
}
