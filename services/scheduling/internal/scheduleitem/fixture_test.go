package scheduleitem_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/tagdefinition"
)

// fixture has the employees 1 (Zurich) and 2 (UTC). The first works 08:00 to 16:00, with a pay code
// edit on the same days, from 2025-03-01 on.
type fixture struct {
	*schedtest.Env

	t           *testing.T
	shifts      schedulingv1.ShiftServiceClient
	edits       schedulingv1.PayCodeEditServiceClient
	tags        schedulingv1.ScheduleTagServiceClient
	definitions schedulingv1.TagDefinitionServiceClient
	together    schedulingv1.ScheduleEditServiceClient
	schedule    schedulingv1.ScheduleServiceClient
	wakes       *atomic.Int32
	patterns    int64 // that employee 1 has had
}

// firstSeries is where the series of the fixture begin.
const firstSeries = 1000

func newFixture(t *testing.T) *fixture {
	t.Helper()
	env := schedtest.New(t)
	f := &fixture{
		Env: env, t: t, wakes: &atomic.Int32{},
		shifts:      schedulingv1.NewShiftServiceClient(env.Conn()),
		edits:       schedulingv1.NewPayCodeEditServiceClient(env.Conn()),
		tags:        schedulingv1.NewScheduleTagServiceClient(env.Conn()),
		definitions: schedulingv1.NewTagDefinitionServiceClient(env.Conn()),
		together:    schedulingv1.NewScheduleEditServiceClient(env.Conn()),
		schedule:    schedulingv1.NewScheduleServiceClient(env.Conn()),
	}
	directory := projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil)
	reader := reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
	deps := scheduleitem.Deps{Pool: env.Pool, Directory: directory, Reader: reader}
	env.Pool.Listen(outbox.Appended, func() { f.wakes.Add(1) })
	schedulingv1.RegisterTagDefinitionServiceServer(env.Local, tagdefinition.New(env.Pool, nil))
	schedulingv1.RegisterScheduleTagServiceServer(env.Local, scheduleitem.NewScheduleTags(deps))
	schedulingv1.RegisterShiftServiceServer(env.Local, scheduleitem.NewShifts(deps))
	schedulingv1.RegisterPayCodeEditServiceServer(env.Local, scheduleitem.NewPayCodeEdits(deps))
	schedulingv1.RegisterScheduleEditServiceServer(env.Local, scheduleitem.NewScheduleEdits(deps))
	schedulingv1.RegisterScheduleServiceServer(env.Local, schedule.New(env.Pool, reader, directory, nil, asof.New(reader, -1)))

	f.Exec(f.t, "INSERT INTO employee VALUES (1, 1, 'P1', 'One', 'Europe/Zurich', 1), (1, 2, 'P2', 'Two', 'UTC', 1)")
	f.spans("08:00", "16:00", 7)
	return f
}

// spans gives employee 1 another pattern, as a propagation does.
func (f *fixture) spans(start, end string, propagation int64) {
	f.t.Helper()
	body, err := proto.Marshal(&schedulingv1.SchedulePattern{DayCount: proto.Int32(1), Items: []*schedulingv1.SchedulePatternItem{{
		Day: proto.Int32(1),
		ShiftTemplate: &schedulingv1.ShiftTemplate{
			StartDateTime: "1900-01-01T" + start + ":00", EndDateTime: "1900-01-01T" + end + ":00",
		},
		PayCodeEditTemplate: &schedulingv1.PayCodeEditTemplate{
			PayCode: &commonv1.Ref{Qualifier: proto.String("Training")}, DurationInTime: proto.Int64(3600),
		},
	}}})
	require.NoError(f.t, err)
	f.Exec(f.t, "DELETE FROM span")
	f.patterns++
	f.Exec(f.t, `WITH p AS (INSERT INTO schedule_pattern (tenant_id, digest, day_count, body) VALUES (1, sha256($1), 1, $1) RETURNING id)
		INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id, series)
		SELECT 1, 1, 0, '2025-03-01', '3000-01-01', id, 0, 1, 33, true, $2, $3 FROM p`, body, propagation, firstSeries+f.patterns*16)
}

func (f *fixture) lock(employee int64, from, to string) {
	f.t.Helper()
	f.Exec(f.t, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, $1, $2, $3)", employee, from, to)
}

// day reads a day as "<employee> <start> <end>", pay code edits as
// "<employee> <pay code>".
func (f *fixture) day(date string) []string {
	f.t.Helper()
	response, err := f.schedule.MultiReadSchedule(f.Ctx, &schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS", "PAYCODEEDITS", "OPENSHIFTS"},
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{}, StartDate: date, EndDate: date,
		}},
	})
	require.NoError(f.t, err)
	wire, err := proto.Marshal(response)
	require.NoError(f.t, err)
	got := &schedulingv1.Schedule{}
	require.NoError(f.t, proto.Unmarshal(wire, got))
	out := []string{}
	for _, s := range append(got.GetShifts().GetShifts(), got.GetOpenShifts().GetShifts()...) {
		out = append(out, fmt.Sprintf("%s %s %s", s.GetEmployee().GetQualifier(), s.GetStartDateTime()[11:16], s.GetEndDateTime()[11:16]))
	}
	for _, e := range got.GetPayCodeEdits().GetPayCodeEdits() {
		out = append(out, e.GetEmployee().GetQualifier()+" "+e.GetPayCodeRef().GetQualifier())
	}
	return out
}

// events returns the news about schedules, as "<employees> <from> <to>", oldest
// first, and forgets them.
func (f *fixture) events() []string {
	f.t.Helper()
	rows, err := f.Pool.Query(f.Ctx, `WITH gone AS (DELETE FROM outbox RETURNING id, event, payload)
		SELECT payload FROM gone WHERE event LIKE '%ScheduleChanged' ORDER BY id`)
	require.NoError(f.t, err)
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var payload []byte
		require.NoError(f.t, rows.Scan(&payload))
		e := &schedulingv1.ScheduleChanged{}
		require.NoError(f.t, proto.Unmarshal(payload, e))
		out = append(out, fmt.Sprint(e.GetEmployeeIds(), " ", e.GetFrom(), " ", e.GetTo()))
	}
	require.NoError(f.t, rows.Err())
	return out
}

// entryID returns the id of an entry of the first pattern of employee 1, or an unused id.
func entryID(t *testing.T, employee int64, date string, ordinal uint8) int64 {
	t.Helper()
	day, err := civil.ParseDate(date)
	require.NoError(t, err)
	id, err := entryid.Encode(entryid.Entry{Series: employee*firstSeries + 16 + int64(ordinal), Day: day})
	require.NoError(t, err)
	return id
}

func person(id int64) *commonv1.Ref { return &commonv1.Ref{Id: proto.Int64(id)} }

// newShift is a shift as callers send it; times are "2025-03-03T08:00".
func newShift(employee int64, start, end string) *schedulingv1.Shift {
	s := &schedulingv1.Shift{StartDateTime: start + ":00", EndDateTime: end + ":00"}
	if employee != 0 {
		s.Employee = person(employee)
	}
	return s
}

func newEdit(employee int64, first, last string) *schedulingv1.PayCodeEdit {
	return &schedulingv1.PayCodeEdit{
		Employee: person(employee), PayCodeRef: &commonv1.Ref{Qualifier: proto.String("Vacation")},
		StartDate: first, EndDate: last, DurationInDays: proto.Float64(1),
	}
}

// requireRefused asserts the code and status of an error.
func requireRefused(t *testing.T, err error, code string, status int) {
	t.Helper()
	got := fault.FromError(err)
	if assert.NotNil(t, got) {
		assert.Equal(t, code, got.Code, got.Message)
		assert.Equal(t, status, got.Status)
	}
}
