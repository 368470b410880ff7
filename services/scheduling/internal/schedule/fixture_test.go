package schedule_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

const tenantID = 1

// fixture is a database with what schedules are read from.
type fixture struct {
	*schedtest.Env

	t       testing.TB
	handler *schedule.Handler
	client  schedulingv1.ScheduleServiceClient // calls handler through the chain
	reader  *reading.Reader
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	env := schedtest.New(t)
	reader := reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
	handler := schedule.New(env.Pool, reader, projection.NewResolver(env.Pool, schedtest.NoPersons{}, nil), commons{}, asof.New(reader, -1))
	schedulingv1.RegisterScheduleServiceServer(env.Local, handler)
	return &fixture{
		Env: env, t: t, reader: reader, handler: handler,
		client: schedulingv1.NewScheduleServiceClient(env.Conn()),
	}
}

// employee stores an employee whose person number is "P<id>".
func (f *fixture) employee(id int64, zone string) {
	f.t.Helper()
	f.Exec(f.t, "INSERT INTO employee VALUES ($1, $2, $3, $4, $5, 1)",
		tenantID, id, fmt.Sprintf("P%d", id), fmt.Sprintf("Person %d", id), zone)
}

func (f *fixture) pattern(p *schedulingv1.SchedulePattern) int64 {
	f.t.Helper()
	body, err := proto.Marshal(p)
	require.NoError(f.t, err)
	var id int64
	err = f.Pool.QueryRow(f.Ctx, `INSERT INTO schedule_pattern (tenant_id, digest, day_count, body)
		VALUES ($1, sha256($3), $2, $3)
		ON CONFLICT (tenant_id, digest) DO UPDATE SET day_count = excluded.day_count RETURNING id`, tenantID, p.GetDayCount(), body).Scan(&id)
	require.NoError(f.t, err)
	return id
}

// span is the span of an employee, with defaults for zero values.
type span struct {
	employee     int64
	lane         int
	from, to     string
	pattern      int64
	position     int
	assignment   int64
	own          bool
	propagations int64
}

func (f *fixture) span(s span) {
	f.t.Helper()
	if s.assignment == 0 {
		s.assignment = 33
	}
	if s.propagations == 0 {
		s.propagations = 7
	}
	f.Exec(f.t, `INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position,
		assignment_id, inherited, propagation_id, series, day_count)
		SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, day_count FROM schedule_pattern WHERE id = $6`,
		tenantID, s.employee, s.lane, s.from, s.to, s.pattern, s.position, s.assignment, !s.own, s.propagations, seriesID(s.employee, s.lane))
}

// seriesID is the series of all spans of an employee in a lane.
func seriesID(employee int64, lane int) int64 { return 1024 + employee<<8 + int64(lane)<<4 }

func (f *fixture) lock(employee int64, from, to string) {
	f.t.Helper()
	f.Exec(f.t, "INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES ($1, $2, $3, $4)",
		tenantID, employee, from, to)
}

// item stores an item as the item package does: without id, employee and
// version in its body.
func (f *fixture) item(id int64, employee int64, kind, from, to string, body proto.Message) {
	f.t.Helper()
	text, err := proto.Marshal(body)
	require.NoError(f.t, err)
	f.Exec(f.t, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, version, body)
		VALUES ($1, $2, nullif($3, 0), $4, $5, $6, 4, $7)`, tenantID, id, employee, kind, from, to, text)
	f.hide(id)
}

// hide lets an item with the id of a generated entry stand for it.
func (f *fixture) hide(id int64) {
	f.t.Helper()
	at, err := entryid.Decode(id)
	if err != nil {
		return
	}
	slot := at.Series - 1024
	f.Exec(f.t, `UPDATE schedule_item SET hides_day = $2, hides_employee_id = $3, hidden_lane = $4, hidden_ordinal = $5 WHERE id = $1`,
		id, at.Day.Time(), slot>>8, slot>>4&15, slot&15)
}

// tombstone deletes a generated entry.
func (f *fixture) tombstone(id, employee int64, day string) {
	f.t.Helper()
	f.Exec(f.t, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, hides_day, deleted, body)
		VALUES ($1, $2, $3, 'SHIFT', $4, $4, $4, true, '')`, tenantID, id, employee, day)
	f.hide(id)
}

// read returns the response that a client decodes.
func (f *fixture) read(req *schedulingv1.MultiReadScheduleRequest) *schedulingv1.Schedule {
	f.t.Helper()
	response, err := f.client.MultiReadSchedule(f.Ctx, req)
	require.NoError(f.t, err)
	return decode(f.t, response)
}

// decode returns the message that is on the wire.
func decode(t testing.TB, response *schedulingv1.Schedule) *schedulingv1.Schedule {
	t.Helper()
	wire, err := proto.Marshal(response)
	require.NoError(t, err)
	out := &schedulingv1.Schedule{}
	require.NoError(t, proto.Unmarshal(wire, out))
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(out)
	require.NoError(t, err)
	require.Equal(t, again, wire, "the bytes are those that a message would have")
	return out
}

// window asks for the employees, by id, in the second dialect.
func window(first, last string, selected []string, employees ...int64) *schedulingv1.MultiReadScheduleRequest {
	return &schedulingv1.MultiReadScheduleRequest{
		Select: selected,
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: first, EndDate: last,
		}},
	}
}

func onlyShifts() []string { return []string{"SHIFTS"} }

func day(t testing.TB, text string) civil.Date {
	t.Helper()
	d, err := civil.ParseDate(text)
	require.NoError(t, err)
	return d
}

func entryID(t testing.TB, employee int64, date string, lane, ordinal uint8) int64 {
	t.Helper()
	id, err := entryid.Encode(entryid.Entry{Series: seriesID(employee, int(lane)) + int64(ordinal), Day: day(t, date)})
	require.NoError(t, err)
	return id
}

func ref(id int64, qualifier string) *commonv1.Ref {
	return &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(qualifier)}
}

func regular() *commonv1.Ref  { return ref(1, "REGULAR_SEGMENT") }
func pause() *commonv1.Ref    { return ref(2, "BREAK_SEGMENT") }
func transfer() *commonv1.Ref { return ref(3, "TRANSFER_SEGMENT") }

// shift is a pattern's item whose times are "HH:MM"; an end that is not after
// the start is on the next day.
func shift(dayOfCycle int32, start, end string, segments ...*schedulingv1.ShiftTemplateSegment) *schedulingv1.SchedulePatternItem {
	t := &schedulingv1.ShiftTemplate{
		Label: "Early", StartDateTime: at(1, start), EndDateTime: at(1, end), Segments: segments,
	}
	if end <= start {
		t.EndDateTime = at(2, end)
	}
	if len(segments) == 0 {
		t.Segments = []*schedulingv1.ShiftTemplateSegment{{
			StartDateTime: t.StartDateTime, EndDateTime: t.EndDateTime, SegmentType: regular(),
		}}
	}
	return &schedulingv1.SchedulePatternItem{Day: proto.Int32(dayOfCycle), ShiftTemplate: t}
}

func segment(start, end string, kind *commonv1.Ref) *schedulingv1.ShiftTemplateSegment {
	return &schedulingv1.ShiftTemplateSegment{StartDateTime: at(1, start), EndDateTime: at(1, end), SegmentType: kind}
}

// at is a time of a template.
func at(day int, clock string) string { return fmt.Sprintf("1900-01-%02dT%s:00", day, clock) }

func cycle(days int32, items ...*schedulingv1.SchedulePatternItem) *schedulingv1.SchedulePattern {
	return &schedulingv1.SchedulePattern{DayCount: proto.Int32(days), Items: items}
}

// starts lists employee and start of shifts.
func starts(shifts *schedulingv1.ShiftList) []string {
	out := []string{}
	for _, s := range shifts.GetShifts() {
		out = append(out, s.GetEmployee().GetQualifier()+" "+s.GetStartDateTime())
	}
	return out
}
