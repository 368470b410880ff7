package projection

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func leaveStep(employee, version int64, deleted []int64, edits ...*timekeepingv1.LeaveEditState) *timekeepingv1.EmployeeLeaveEdits {
	return &timekeepingv1.EmployeeLeaveEdits{EmployeeId: employee, Version: version, Edits: edits, DeletedIds: deleted}
}

func leaveState(id, version int64, date string) *timekeepingv1.LeaveEditState {
	return &timekeepingv1.LeaveEditState{
		Id: id, Version: version, Date: date, LeaveCaseId: 4, LeaveCaseCode: "C4",
		PaidSegment: &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(3600)},
	}
}

// leaveAfter stores steps, and returns what is stored, by id.
func (w *fixture) leaveAfter(steps ...*timekeepingv1.EmployeeLeaveEdits) map[int64]*schedulingv1.LeaveEdit {
	w.t.Helper()
	w.inTx(func(ctx context.Context, tx pgx.Tx) error {
		return replica.Put(ctx, tx, w.copies.leaveEdits, tenant.Default, steps)
	})
	rows, err := w.pool.Query(w.ctx, `SELECT id, version, body FROM leave_edit WHERE tenant_id = 1`)
	require.NoError(w.t, err)
	out := map[int64]*schedulingv1.LeaveEdit{}
	var id, version int64
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &version, &body}, func() error {
		edit := &schedulingv1.LeaveEdit{}
		out[id] = edit
		err := proto.Unmarshal(body, edit)
		edit.Version = &version
		return err
	})
	require.NoError(w.t, err)
	return out
}

// published returns what was published of schedules, oldest first.
func (w *fixture) published() []*schedulingv1.ScheduleChanged {
	w.t.Helper()
	rows, err := w.pool.Query(tenant.All(w.t.Context()), `SELECT payload FROM outbox WHERE event LIKE '%ScheduleChanged' ORDER BY id`)
	require.NoError(w.t, err)
	payloads, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(w.t, err)
	out := make([]*schedulingv1.ScheduleChanged, len(payloads))
	for i, payload := range payloads {
		out[i] = &schedulingv1.ScheduleChanged{}
		require.NoError(w.t, proto.Unmarshal(payload, out[i]))
	}
	return out
}

func TestLeaveEditsFollowTheirHistory(t *testing.T) {
	w := newFixture(t)
	got := w.leaveAfter(
		leaveStep(7, 2, nil, leaveState(12, 2, "2026-03-03")), leaveStep(7, 1, nil, leaveState(11, 1, "2026-03-02")),
		leaveStep(8, 1, nil, leaveState(21, 1, "2026-03-02")))
	require.Len(t, got, 3, "out of order in one batch")
	assert.Equal(t, "2026-03-02", got[11].GetStartDate())
	assert.Equal(t, "C4", got[11].GetLeaveCaseCode())
	assert.Equal(t, int64(3600), got[11].GetDurationInTime())

	got = w.leaveAfter(leaveStep(7, 1, nil, leaveState(11, 1, "2020-01-01")), leaveStep(7, 3, []int64{12}, leaveState(11, 3, "2026-03-05")))
	require.Len(t, got, 2, "a repeated step changes nothing")
	assert.Equal(t, "2026-03-05", got[11].GetStartDate())
	assert.Empty(t, w.gaps())

	// Steps 4 and 5 never come: the whole list is asked for.
	complete := leaveStep(7, 7, nil, leaveState(13, 5, "2026-03-06"))
	complete.Complete = true
	got = w.leaveAfter(leaveStep(7, 6, nil, leaveState(14, 6, "2026-03-07")))
	require.Len(t, got, 2, "a step that does not follow is not applied")
	assert.Equal(t, []int64{7}, w.gaps())
	_, err := w.pool.Exec(w.ctx, `UPDATE replica_gap SET asked = 1`) // As whoever asks the owner notes.
	require.NoError(t, err)
	got = w.leaveAfter(complete)
	require.Len(t, got, 2)
	assert.Contains(t, got, int64(13))
	assert.Contains(t, got, int64(21), "others keep theirs")
	got = w.leaveAfter(leaveStep(7, 7, nil, leaveState(14, 7, "2026-03-07")), leaveStep(7, 8, nil, leaveState(15, 8, "2026-03-08")))
	assert.Len(t, got, 3, "what the list held already is not applied again, what follows it is")
	published := w.published()
	require.Len(t, published, 4, "what changes nothing publishes nothing")
	assert.Equal(t, []int64{7, 8}, published[0].GetEmployeeIds())
	assert.Equal(t, []string{"2026-03-02", "2026-03-05"}, []string{published[1].GetFrom(), published[1].GetTo()}, "where it was, and where it is")
	assert.Equal(t, []string{"2026-03-05", "2026-03-06"}, []string{published[2].GetFrom(), published[2].GetTo()})
	assert.Empty(t, w.gaps())
}

// gaps are the employees of whom something is lacking.
func (w *fixture) gaps() []int64 {
	w.t.Helper()
	rows, err := w.pool.Query(w.ctx, `SELECT key FROM replica_gap WHERE topic = 'leave_edits' ORDER BY key`)
	require.NoError(w.t, err)
	keys, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(w.t, err)
	return keys
}

func TestLeaveEditsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	state := leaveState(1, 1, "2026-03-02")
	state.StartDateTime, state.EndDateTime = "2026-03-02T22:00:00.000", "2026-03-04T00:00:00.000"
	row, err := newLeaveRow(7, state)
	require.NoError(t, err)
	assert.Equal(t, "2026-03-03", row.last.String(), "midnight belongs to the day before")
	edit := &schedulingv1.LeaveEdit{}
	require.NoError(t, proto.Unmarshal(row.body, edit))
	assert.Equal(t, []string{"2026-03-02", "22:00:00", "2026-03-04", "00:00:00"},
		[]string{edit.GetStartDate(), edit.GetStartTime(), edit.GetEndDate(), edit.GetEndTime()})

	state.Date = "soon"
	err = (&leaveChange{edits: map[int64]leaveRow{}}).add(leaveStep(7, 1, nil, state))
	assert.IsType(t, bus.Permanent(err), err, "no repetition mends it")
}
