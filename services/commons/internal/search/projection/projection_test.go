package projection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// deliver hands events of one kind to the consumer of their subject.
func deliver(ctx context.Context, t require.TestingT, pool *pg.Pool, events ...proto.Message) {
	subject, err := bus.EventSubject(events[0].ProtoReflect().Descriptor())
	require.NoError(t, err)
	messages := make([]bus.Message, len(events))
	for i, e := range events {
		payload, err := proto.Marshal(e)
		require.NoError(t, err)
		messages[i] = bus.Message{Event: string(e.ProtoReflect().Descriptor().FullName()), Payload: payload}
	}
	for _, c := range Copies(pool, nil) {
		if c.Contract().Subject == subject {
			require.NoError(t, c.Consumer().HandleBatch(ctx, messages))
			return
		}
	}
	require.Fail(t, "nobody consumes "+subject)
}

// dump returns the whole copy of schedules, except the rows that only keep older states away.
func dump(ctx context.Context, t require.TestingT, pool *pg.Pool) []string {
	rows, err := pool.Query(ctx, `
		SELECT format('span %s %s %s', person_id, from_date, pattern_id) FROM schedule_span
		UNION ALL SELECT format('leave %s %s %s', person_id, from_day, to_day) FROM leave_interval
		UNION ALL SELECT format('shift %s %s', id, person_id) FROM entered_shift WHERE person_id IS NOT NULL
		UNION ALL SELECT format('hides %s %s %s', id, hides_person, hides_ordinal) FROM entered_shift WHERE hides_person IS NOT NULL
		UNION ALL SELECT format('segment %s %s %s %s %s', shift_id, segment, person_id, day, job) FROM entered_shift_segment ORDER BY 1`)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return out
}

// Events arrive in any order, and repeatedly. The copy has the last state. Lost events are repaired
// when the owner publishes everything.
func TestEventsInAnyOrder(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	tenantID := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		tenantID++
		ctx := tenant.With(context.Background(), tenantID)
		w := &fixture{shifts: map[int64]*schedulingv1.EnteredShift{}, spans: map[int64]int64{}, leave: map[int64]int32{}}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			w.step(t)
		}
		if rapid.Bool().Draw(t, "lossy") {
			kept := w.events[:0]
			for _, e := range w.events {
				if rapid.Bool().Draw(t, "kept") {
					kept = append(kept, e)
				}
			}
			w.events = kept
			w.publishAll()
		}
		for _, e := range w.events {
			if rapid.IntRange(0, 3).Draw(t, "again") == 0 {
				w.events = append(w.events, e)
			}
		}
		// Those of one kind come in batches.
		batches := map[string][]proto.Message{}
		for _, e := range rapid.Permutation(w.events).Draw(t, "order") {
			kind := string(e.ProtoReflect().Descriptor().Name())
			batches[kind] = append(batches[kind], e)
			if rapid.Bool().Draw(t, "deliver") {
				deliver(ctx, t, pool, batches[kind]...)
				delete(batches, kind)
			}
		}
		for _, rest := range batches {
			deliver(ctx, t, pool, rest...)
		}
		assert.Equal(t, w.want(), dump(ctx, t, pool))
	})
}

const persons = 3

// fixture is the state of scheduling, and the events that it has published.
type fixture struct {
	revision int64
	shifts   map[int64]*schedulingv1.EnteredShift
	spans    map[int64]int64 // the pattern of the only one, 0 for none
	leave    map[int64]int32 // the day of the only one, 0 for none
	events   []proto.Message
}

func (w *fixture) step(t *rapid.T) {
	person := rapid.Int64Range(1, persons).Draw(t, "person")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		w.spans[person] = rapid.Int64Range(0, 2).Draw(t, "pattern")
		w.publishSpans(person)
	case 1:
		w.leave[person] = rapid.Int32Range(0, 2).Draw(t, "leave")
		w.publishLeave(person)
	case 2:
		w.publishAll()
	default:
		id := rapid.Int64Range(1, 4).Draw(t, "shift")
		if before := w.shifts[id]; before != nil && before.GetEmployeeId() == 0 {
			return // A deleted shift does not come back.
		}
		s := &schedulingv1.EnteredShift{Id: id, EmployeeId: rapid.Int64Range(0, persons).Draw(t, "of")}
		if id == 4 {
			s.Hides = &schedulingv1.HiddenShift{EmployeeId: 1, Day: 9, Ordinal: 2}
		}
		if s.GetEmployeeId() != 0 {
			s.Day = rapid.Int32Range(1, 3).Draw(t, "day")
			s.Segments = []*schedulingv1.JobSegment{{Job: rapid.Int32Range(0, 1).Draw(t, "job"), EndSecond: 5}}
		}
		w.shifts[id] = s
		s.Deleted = s.GetEmployeeId() == 0 && s.GetHides() == nil
		w.publishShifts(s)
	}
}

func (w *fixture) publishSpans(person int64) {
	w.revision++
	group := &schedulingv1.EqualSpans{EmployeeIds: []int64{person}}
	if w.spans[person] != 0 {
		group.Spans = []*schedulingv1.SpanState{{From: 10, To: 20, PatternId: w.spans[person], DayCount: 7}}
	}
	w.events = append(w.events, &schedulingv1.SpansChanged{Revision: w.revision, Groups: []*schedulingv1.EqualSpans{group}})
}

func (w *fixture) publishLeave(person int64) {
	w.revision++
	taken := &schedulingv1.EmployeeLeave{EmployeeId: person}
	if day := w.leave[person]; day != 0 {
		taken.Intervals = []*schedulingv1.LeaveInterval{{Day: day, StartSecond: 5, EndSecond: day * civil.SecondsPerDay}}
	}
	w.events = append(w.events, &schedulingv1.LeaveTaken{Revision: w.revision, Employees: []*schedulingv1.EmployeeLeave{taken}})
}

func (w *fixture) publishShifts(shifts ...*schedulingv1.EnteredShift) {
	w.revision++
	w.events = append(w.events, &schedulingv1.ShiftsEntered{Revision: w.revision, Jobs: []string{"", "A"}, Shifts: shifts})
}

// publishAll publishes everything, as a backfill does, including deleted objects.
func (w *fixture) publishAll() {
	for person := range int64(persons) {
		w.publishSpans(person + 1)
		w.publishLeave(person + 1)
	}
	for _, id := range slices.Sorted(maps.Keys(w.shifts)) {
		w.publishShifts(w.shifts[id])
	}
}

func (w *fixture) want() []string {
	out := []string{}
	day := func(n int32) string { return civil.Date(n).String() }
	for person, pattern := range w.spans {
		if pattern != 0 {
			out = append(out, fmt.Sprint("span ", person, " ", day(10), " ", pattern))
		}
	}
	for person, from := range w.leave {
		if from != 0 {
			out = append(out, fmt.Sprint("leave ", person, " ", day(from), " ", day(2*from-1)))
		}
	}
	for id, s := range w.shifts {
		if h := s.GetHides(); h != nil {
			out = append(out, fmt.Sprint("hides ", id, " ", h.GetEmployeeId(), " ", h.GetOrdinal()))
		}
		if s.GetEmployeeId() != 0 {
			job := []string{"", "A"}[s.GetSegments()[0].GetJob()]
			out = append(out, fmt.Sprint("shift ", id, " ", s.GetEmployeeId()), fmt.Sprint("segment ", id, " 0 ", s.GetEmployeeId(), " ", day(s.GetDay()), " ", job))
		}
	}
	slices.Sort(out)
	return out
}

// A pattern is complete when all its parts have arrived in their order. Its first part begins it
// again.
func TestPatternsAreKeptOnce(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	pattern := &schedulingv1.PatternStored{PatternId: 5, Part: 1, First: true, Jobs: []string{"", "A"}, Shifts: []*schedulingv1.CycleShift{
		{CycleDay: 2, Ordinal: 1, Segments: []*schedulingv1.JobSegment{{Job: 1, EndSecond: 5}, {StartSecond: 5, EndSecond: 9}}},
	}}
	second, third := proto.CloneOf(pattern), proto.CloneOf(pattern)
	second.Part, second.First, second.Shifts[0].CycleDay = 2, false, 3
	third.Part, third.First, third.Shifts[0].CycleDay, third.Digest = 3, false, 4, 77
	rows := func() (n int) {
		require.NoError(t, pool.QueryRow(ctx, `SELECT count(*) FROM pattern_segment WHERE pattern_id = 5 AND ordinal = 1`).Scan(&n))
		return n
	}
	deliver(ctx, t, pool, pattern, pattern)
	deliver(ctx, t, pool, pattern)
	assert.Equal(t, 2, rows())
	deliver(ctx, t, pool, third)
	assert.Equal(t, 2, rows(), "the part between is missing")
	deliver(ctx, t, pool, second, third)
	assert.Equal(t, 6, rows())
	var mark int64
	require.NoError(t, pool.QueryRow(ctx, `SELECT mark FROM replica_head WHERE topic = 'schedule_patterns' AND key = 5`).Scan(&mark))
	assert.EqualValues(t, 77, mark)

	again := proto.CloneOf(pattern)
	again.Part, again.Digest = 4, 78
	deliver(ctx, t, pool, pattern, third, again)
	assert.Equal(t, 2, rows())
}

func TestPlacesThatAreMissing(t *testing.T) {
	t.Parallel()
	for _, job := range []int32{1, -1} {
		t.Run(strconv.Itoa(int(job)), func(t *testing.T) {
			t.Parallel()
			_, err := numberSegments([]string{""}, []*schedulingv1.JobSegment{{Job: job}})
			require.ErrorIs(t, err, errJob)
		})
	}
}
