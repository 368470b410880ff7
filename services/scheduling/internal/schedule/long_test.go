package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Two processors share the writing of a long list; the result must equal the result of one.
func TestLongListsAreWholeAndInOrder(t *testing.T) {
	t.Parallel()
	const employees = 90
	f := newFixture(t)
	p := cycle(3)
	p.Items = append(p.Items, shift(1, "08:00", "16:30"), shift(2, "14:00", "22:00"), shift(3, "22:00", "23:30"))
	f.Exec(f.t, `INSERT INTO employee SELECT 1, i, 'P' || i, 'Person ' || i, 'Europe/Zurich', 1 FROM generate_series(100, 99 + $1::int) AS i`, employees)
	f.Exec(f.t, `INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT 1, i, 0, '2020-01-01', '3000-01-01', $1, i % 3, 3, 33, true, 7 FROM generate_series(100, 99 + $2::int) AS i`, f.pattern(p), employees)
	var ids []int64
	var want []*schedulingv1.Shift
	for id := int64(100); id < 100+employees; id++ {
		ids = append(ids, id)
		want = append(want, f.read(window("2025-03-10", "2025-04-08", onlyShifts(), id)).GetShifts().GetShifts()...)
	}
	require.Len(t, want, employees*30)
	got := f.read(window("2025-03-10", "2025-04-08", onlyShifts(), ids...)).GetShifts().GetShifts()
	require.True(t, proto.Equal(&schedulingv1.ShiftList{Shifts: want}, &schedulingv1.ShiftList{Shifts: got}))
}
