package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// covering stores a pay code edit that covers shifts, as approved time off does.
func (f *fixture) covering(id, employee int64, from, to string, edit *schedulingv1.PayCodeEdit) {
	f.t.Helper()
	edit.PayCodeRef, edit.StartDate, edit.EndDate = ref(5, "Vacation"), from, to
	body, err := proto.Marshal(edit)
	require.NoError(f.t, err)
	f.Exec(f.t, `INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, version, body, covers)
		VALUES ($1, $2, $3, 'PAY_CODE_EDIT', $4, $5, 1, $6, true)`, tenantID, id, employee, from, to, body)
}

func symbolic(name string) *schedulingv1.PayCodeEdit {
	return &schedulingv1.PayCodeEdit{SymbolicValueRef: ref(0, name)}
}

func amount(start string, seconds int64) *schedulingv1.PayCodeEdit {
	return &schedulingv1.PayCodeEdit{StartTime: start, DurationInTime: proto.Int64(seconds)}
}

func TestTimeOffCoversShifts(t *testing.T) {
	t.Parallel()
	const first, day, next = "2025-03-04", "2025-03-05", "2025-03-06"
	night := func(days string) string { return days + " 22:00-06:00" }
	all := []string{night("04T22:00-05T06:00"), night("05T22:00-06T06:00"), night("06T22:00-07T06:00")}
	for name, test := range map[string]struct {
		edit *schedulingv1.PayCodeEdit
		to   string
		want []string
	}{
		"a day":             {symbolic("FULL_DAY"), day, []string{all[0], all[2]}},
		"two days":          {symbolic("FULL_DAY"), next, []string{all[0]}},
		"half a day":        {symbolic("HALF_DAY"), day, []string{all[0], "06T02:00-06T06:00 02:00-06:00", all[2]}},
		"some hours":        {amount("", 3600), day, []string{all[0], "05T23:00-06T06:00 23:00-06:00", all[2]}},
		"hours from a time": {amount("20:00", 4*3600), day, []string{all[0], "06T00:00-06T06:00 00:00-06:00", all[2]}},
		"the morning, in which the night before ends": {amount("00:00", 8*3600), day, all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.employee(1, "UTC")
			f.span(span{employee: 1, from: first, to: "2025-03-07", pattern: f.pattern(cycle(1, shift(1, "22:00", "06:00")))})
			f.covering(3_000_000, 1, day, test.to, test.edit)
			got := f.read(window(first, next, []string{"SHIFTS", "PAYCODEEDITS"}, 1))
			assert.Equal(t, test.want, hours(got.GetShifts()))
			assert.Len(t, got.GetPayCodeEdits().GetPayCodeEdits(), 1)

			later := f.read(window(next, next, []string{"SHIFTS", "PAYCODEEDITS"}, 1))
			assert.Equal(t, test.want[len(test.want)-len(later.GetShifts().GetShifts()):], hours(later.GetShifts()), "a shift is the same wherever the window begins")
			assert.Equal(t, test.to == next, len(later.GetPayCodeEdits().GetPayCodeEdits()) == 1, "edits of days before the window are not shown")
			f.Exec(f.t, "DELETE FROM schedule_item")
			assert.Equal(t, all, hours(f.read(window(first, next, onlyShifts(), 1)).GetShifts()), "the shifts come back")
		})
	}
}
