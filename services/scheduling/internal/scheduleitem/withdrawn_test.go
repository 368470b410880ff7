package scheduleitem_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// The next propagation withdraws a shift that no pattern generates, on a day without employment. An
// edit that would create such a shift is refused.
func TestAnEditedShiftStaysWithinTheEmployment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		term, employee       *int64 // the owner of the assignment that the shift comes from
		refusedOn, allowedOn string
	}{
		"of a term":             {proto.Int64(1), nil, "2025-03-05", "2025-03-04"},
		"of the employee":       {nil, proto.Int64(1), "2025-03-15", "2025-03-14"},
		"of the employee, long": {nil, proto.Int64(1), "2025-04-15", "2025-03-06"},
		"of what is gone":       {nil, nil, "2025-03-06", "2025-03-04"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Exec(f.t, schedtest.InsertTerm, 1, "One", true)
			f.Exec(f.t, "INSERT INTO membership VALUES (1, 1, 1, '2025-03-01', '2025-03-05')")
			f.Exec(f.t, "UPDATE employee SET terminated_from = '{2025-03-15}', terminated_to = '{3000-01-01}' WHERE id = 1")
			if test.term != nil || test.employee != nil {
				f.assignTo(test.term, test.employee)
			}
			id := entryID(t, 1, "2025-03-03", 0)
			_, err := f.update(id, newShift(1, "2025-03-03T09:00", "2025-03-03T10:00"))
			require.NoError(t, err)
			_, err = f.update(id, newShift(1, test.refusedOn+"T09:00", test.refusedOn+"T10:00"))
			require.NoError(t, err, "while a pattern generates it")

			f.Exec(f.t, "UPDATE schedule_item SET hidden_lane = NULL, hidden_ordinal = NULL WHERE id = $1", id)
			_, err = f.update(id, newShift(1, test.refusedOn+"T11:00", test.refusedOn+"T12:00"))
			requireRefused(t, err, "WRL-30404", 400)
			_, err = f.update(id, newShift(1, test.allowedOn+"T11:00", test.allowedOn+"T12:00"))
			require.NoError(t, err)
			assert.Contains(t, f.day(test.allowedOn), "P1 11:00 12:00")
			_, err = f.update(id, newShift(2, test.refusedOn+"T11:00", test.refusedOn+"T12:00"))
			require.NoError(t, err, "it is another employee's then")
		})
	}
}

// assignTo stores the assignment that the fixture's spans name, on a term or on the employee.
func (f *fixture) assignTo(term, employee *int64) {
	f.t.Helper()
	f.Exec(f.t, `INSERT INTO pattern_assignment (tenant_id, id, version, employment_term_id, employee_id, from_date, to_date, pattern_id,
		day_count, anchor, start_date_offset, override, lane, seq, propagation_id)
		VALUES (1, 33, 1, $1, $2, '2025-03-01', '3000-01-01', 1, 1, '2025-03-01', 0, false, 0, 1, 0)`, term, employee)
}
