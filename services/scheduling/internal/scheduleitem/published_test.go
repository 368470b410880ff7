package scheduleitem_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// listPublished returns the shifts that were published, as "<owner> <segments> <whose it hides>",
// oldest first, and forgets them.
// Revisions must grow.
func (f *fixture) listPublished() []string {
	f.t.Helper()
	rows, err := f.Pool.Query(f.Ctx, `WITH gone AS (DELETE FROM outbox RETURNING id, event, payload)
		SELECT payload FROM gone WHERE event LIKE '%ShiftsEntered' ORDER BY id`)
	require.NoError(f.t, err)
	defer rows.Close()
	out, revision := []string{}, int64(0)
	for rows.Next() {
		var payload []byte
		require.NoError(f.t, rows.Scan(&payload))
		e := &schedulingv1.ShiftsEntered{}
		require.NoError(f.t, proto.Unmarshal(payload, e))
		assert.Greater(f.t, e.GetRevision(), revision)
		revision = e.GetRevision()
		for _, s := range e.GetShifts() {
			out = append(out, fmt.Sprint(s.GetEmployeeId(), " ", len(s.GetSegments()), " ", s.GetHides().GetEmployeeId()))
		}
	}
	require.NoError(f.t, rows.Err())
	return out
}

// Commons, which keeps a copy, gets each state of a shift that is or was on an employee's schedule,
// and nothing else.
func TestShiftsArePublished(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	made, err := f.shifts.CreateShift(f.Ctx, newShift(0, "2025-03-03T08:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	open := made.GetShifts()[0].GetId()
	_, err = f.update(open, newShift(0, "2025-03-03T09:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	other, err := f.shifts.CreateShift(f.Ctx, newShift(0, "2025-03-03T08:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	require.NoError(t, f.remove(other.GetShifts()[0].GetId()))
	assert.Empty(t, f.listPublished())

	edited, err := f.edits.CreatePayCodeEdit(f.Ctx, newEdit(1, "2025-03-01", "2025-03-03"))
	require.NoError(t, err)
	_, err = f.edits.DeletePayCodeEdit(f.Ctx, &schedulingv1.DeletePayCodeEditRequest{Id: edited.GetPayCodeEdits()[0].GetId()})
	require.NoError(t, err)
	assert.Empty(t, f.listPublished())

	_, err = f.update(open, newShift(2, "2025-03-03T09:00", "2025-03-03T16:00"))
	require.NoError(t, err)
	require.NoError(t, f.remove(open))
	assert.Equal(t, []string{"2 1 0", "0 0 0"}, f.listPublished())

	generated := entryID(t, 1, "2025-03-03", 0)
	_, err = f.update(generated, newShift(2, "2025-03-05T09:00", "2025-03-05T10:00"))
	require.NoError(t, err)
	require.NoError(t, f.remove(generated))
	require.NoError(t, f.remove(entryID(t, 1, "2025-03-04", 0)))
	assert.Equal(t, []string{"2 1 1", "0 0 1", "0 0 1"}, f.listPublished())
}
