package hiddenentry_test

import (
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// countCopies counts the shifts that an employee has on a day according to all that was
// published to those who keep a copy: of each state the newest.
func (w *fixture) countCopies(employee int64, date string) int {
	w.t.Helper()
	day, err := civil.ParseDate(date)
	require.NoError(w.t, err)
	patterns := map[int64]*schedulingv1.PatternStored{}
	shifts, revisions := map[int64]*schedulingv1.EnteredShift{}, map[int64]int64{}
	var spans []*schedulingv1.SpanState
	spansRevision := int64(0)
	rows, err := w.Pool.Query(w.Ctx, `SELECT event, payload FROM outbox ORDER BY id`)
	require.NoError(w.t, err)
	var name string
	var payload []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &payload}, func() error {
		switch name {
		case "rotaloom.scheduling.v1.PatternStored":
			e := &schedulingv1.PatternStored{}
			err := proto.Unmarshal(payload, e)
			patterns[e.GetPatternId()] = e
			return err
		case "rotaloom.scheduling.v1.SpansChanged":
			e := &schedulingv1.SpansChanged{}
			if err := proto.Unmarshal(payload, e); err != nil {
				return err
			}
			for _, g := range e.GetGroups() {
				for _, id := range g.GetEmployeeIds() {
					if id == employee && e.GetRevision() > spansRevision {
						spans, spansRevision = g.GetSpans(), e.GetRevision()
					}
				}
			}
		case "rotaloom.scheduling.v1.ShiftsEntered":
			e := &schedulingv1.ShiftsEntered{}
			if err := proto.Unmarshal(payload, e); err != nil {
				return err
			}
			for _, s := range e.GetShifts() {
				if e.GetRevision() > revisions[s.GetId()] {
					shifts[s.GetId()], revisions[s.GetId()] = s, e.GetRevision()
				}
			}
		}
		return nil
	})
	require.NoError(w.t, err)
	type slot struct{ lane, ordinal int32 }
	hidden, count := map[slot]bool{}, 0
	for _, s := range shifts {
		if s.GetEmployeeId() == employee && civil.Date(s.GetDay()) == day {
			count++
		}
		if h := s.GetHides(); h.GetEmployeeId() == employee && civil.Date(h.GetDay()) == day {
			hidden[slot{h.GetLane(), h.GetOrdinal()}] = true
		}
	}
	for _, s := range spans {
		if civil.Date(s.GetFrom()) > day || civil.Date(s.GetTo()) <= day {
			continue
		}
		cycleDay := rotation.Position(civil.Date(s.GetFrom()), s.GetPosition(), day, s.GetDayCount())
		for _, shift := range patterns[s.GetPatternId()].GetShifts() {
			if shift.GetCycleDay() == cycleDay && !hidden[slot{s.GetLane(), shift.GetOrdinal()}] {
				count++
			}
		}
	}
	return count
}
