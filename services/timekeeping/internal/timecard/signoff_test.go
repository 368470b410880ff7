package timecard

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

const seeding pg.Unaudited = "test"

// newTimecards returns timecards of the employee 7, in Berlin.
func newTimecards(t *testing.T, ctx context.Context, now func() time.Time) *Timecards {
	t.Helper()
	pool := newPool(t)
	_, err := seeding.Exec(ctx, pool, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone) VALUES (1, 7, 'T-7', 'Seven', 'Europe/Berlin')`)
	require.NoError(t, err)
	return NewTimecards(NewReader(pool, knownDays{}, now), person.NewDirectory(pool, nil, nil), nil)
}

// What is not over is not signed off: a punch out that comes later would be paid by
// nobody.
func TestWhatGoesOnIsNotSignedOff(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	cards := newTimecards(t, ctx, noon("2026-03-10"))
	signoffs := NewSignoffs(cards)
	through := func(day string) error {
		_, err := signoffs.SignOffTimecard(ctx, &timekeepingv1.SignOffTimecardRequest{Employee: &commonv1.Ref{Id: proto.Int64(7)}, StartDate: "2026-03-09", EndDate: day})
		return err
	}
	punched(t, ctx, cards.reader, 1, 7, "2026-03-09T22:00")
	require.True(t, fault.HasCode(through("2026-03-10"), timecardfault.CodeNotOver), "today is not over")
	require.True(t, fault.HasCode(through("2026-03-09"), timecardfault.CodeNotOver), "the night shift goes on")

	punched(t, ctx, cards.reader, 1, 7, "2026-03-10T06:00")
	require.True(t, fault.HasCode(through("2026-03-10"), timecardfault.CodeNotOver), "today is still not over")
	require.NoError(t, through("2026-03-09"))
	assert.Equal(t, []string{"2026-03-09 WORKED Regular  28800"}, describe(totalsOf(t, ctx, cards.reader, "2026-03-09", "2026-03-10", 7)[0].GetTotals()))
}

// A punch that somebody moves while another change of it is prepared is not corrected
// on a day that nobody compared.
func TestChangesOfWhatMovedMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	cards := newTimecards(t, ctx, noon("2026-03-20"))
	punched(t, ctx, cards.reader, 1, 7, "2026-03-09T08:00", "2026-03-09T12:00")
	_, err := NewSignoffs(cards).SignOffTimecard(ctx, &timekeepingv1.SignOffTimecardRequest{Employee: &commonv1.Ref{Id: proto.Int64(7)}, StartDate: "2026-03-01", EndDate: "2026-03-10"})
	require.NoError(t, err)
	monday := civil.Of(2026, time.March, 9)
	read, err := cards.reader.read(ctx, 1, []int64{7}, window{days: civil.Through(monday, monday), bodies: true})
	require.NoError(t, err)
	id := read[0].nonEmptyDays()[0].GetPunches()[1].GetId()

	who := person.Person{ID: 7, Number: "T-7", TimeZone: "Europe/Berlin"}
	late := &plan{reader: cards.reader, tenantID: 1, who: who, days: changedDays{}}
	require.NoError(t, late.read(ctx, &timekeepingv1.TimecardChanges{Punches: &timekeepingv1.PunchChanges{Removed: []*timekeepingv1.Punch{{Id: &id}}}}))
	require.NoError(t, cards.update(ctx, 1, who, &timekeepingv1.TimecardChanges{Punches: &timekeepingv1.PunchChanges{
		Updated: []*timekeepingv1.Punch{{Id: &id, PunchDtm: "2026-03-02T12:00:00"}},
	}}))
	err = cards.reader.change(ctx, 1, late.days, late.apply)
	assert.True(t, fault.HasCode(err, fault.CodeStale), err)
	// Prepared again, it is carried out.
	assert.NoError(t, cards.update(ctx, 1, who, &timekeepingv1.TimecardChanges{Punches: &timekeepingv1.PunchChanges{Removed: []*timekeepingv1.Punch{{Id: &id}}}}))
}

func TestTimecardsAtOnceAreBounded(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	cards := newTimecards(t, ctx, noon("2026-03-10"))
	read := func(last string) error {
		list := &commonv1.RefList{Ids: []int64{7}}
		for id := range int64(81) {
			list.Ids = append(list.Ids, 1000+id)
		}
		days := &commonv1.DateRange{StartDate: "2025-01-01", EndDate: last}
		_, err := cards.MultiReadTimecards(ctx, &timekeepingv1.MultiReadTimecardsRequest{Where: &timekeepingv1.TimecardsWhere{Employees: list, DateRange: days}})
		_, metrics := cards.MultiReadTimecardMetrics(ctx, &timekeepingv1.MultiReadTimecardMetricsRequest{
			Where: &timekeepingv1.TimecardMetricsWhere{EmployeeSet: &timekeepingv1.TimecardEmployeeSet{Employees: list, DateRange: days}},
		})
		assert.Equal(t, fault.FromError(err).Code, fault.FromError(metrics).Code)
		return err
	}
	assert.True(t, fault.HasCode(read("2026-01-01"), timecardfault.CodeLimit), "82 employees on 366 days")
	persons := &absent{}
	cards.persons = person.NewDirectory(cards.reader.pool, persons, nil)
	assert.True(t, fault.HasCode(read("2025-12-31"), timecardfault.CodeReference), "82 employees on 365 days")
}

// absent is commons that knows nobody.
type absent struct{ commonsv1.PersonServiceClient }

func (absent) ResolvePersons(context.Context, *commonsv1.ResolvePersonsRequest, ...grpc.CallOption) (*commonsv1.ResolvePersonsResponse, error) {
	return &commonsv1.ResolvePersonsResponse{}, nil
}
