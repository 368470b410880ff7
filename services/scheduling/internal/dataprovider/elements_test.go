package dataprovider

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

const hour = 3600

func at0(d civil.Date, hours int64) int64 { return int64(d)*civil.SecondsPerDay + hours*hour }

// adas returns a week with an early shift on Monday, a night shift on Saturday that was entered by
// hand, and one edit of each kind. A shift of the week before does not belong to it.
func adas(monday civil.Date) *plan {
	saturday := monday.AddDays(5)
	return &plan{
		entries: []reading.Summary{
			{Day: monday.AddDays(-1), Start: at0(monday-1, 8), End: at0(monday-1, 9), Seconds: hour},
			{
				Day: monday, Start: at0(monday, 6), End: at0(monday, 14) + hour/2, Seconds: 8 * hour, Breaks: hour / 2, Generated: true, Locked: true, Label: "E",
				Jobs: []reading.JobSeconds{{Path: "Acme/B/Till", Seconds: 6 * hour}, {Path: "Acme/A", Seconds: 2 * hour}},
			},
			{Kind: reading.PayCodeEditSummary, Day: monday + 1, Start: at0(monday+1, 9), End: at0(monday+2, 0), Seconds: 3 * hour, Label: "Sick", Generated: true, Posted: true, Transfer: "Acme/A;"},
			{Kind: reading.LeaveEditSummary, Day: monday + 2, Start: at0(monday+2, 0), End: at0(monday+3, 0), Seconds: 4 * hour},
			{
				Day: saturday, Start: at0(saturday, 20), End: at0(saturday+1, 2), Seconds: 6 * hour,
				Jobs: []reading.JobSeconds{{Path: "Acme/A", Seconds: 6 * hour}},
			},
		},
		locked: []civil.Range{{From: monday - 3, To: monday + 2}, {From: monday + 1, To: monday + 3}},
	}
}

func TestEveryElement(t *testing.T) {
	t.Parallel()
	monday := civil.Of(2026, 3, 2)
	number, whole, text, day := dataelement.Decimal, dataelement.Whole, dataelement.Text, dataelement.Day
	want := map[string]value{
		"SCH_SCHEDULED_HOURS": number(14), "SCH_BREAK_HOURS": number(0.5), "SCH_PRESENCE_HOURS": number(14.5), "SCH_WEEKEND_HOURS": number(6),
		"SCH_GENERATED_HOURS": number(8), "SCH_ENTERED_HOURS": number(6), "SCH_AVERAGE_SHIFT_HOURS": number(7), "SCH_LONGEST_SHIFT_HOURS": number(8),
		"SCH_SHORTEST_SHIFT_HOURS": number(6), "SCH_SHIFT_COUNT": whole(2), "SCH_WEEKEND_SHIFT_COUNT": whole(1), "SCH_OVERNIGHT_SHIFT_COUNT": whole(1),
		"SCH_GENERATED_SHIFT_COUNT": whole(1), "SCH_ENTERED_SHIFT_COUNT": whole(1), "SCH_LOCKED_SHIFT_COUNT": whole(1), "SCH_IS_SCHEDULED": dataelement.Bool(true),
		"SCH_SCHEDULED_DAYS": whole(2), "SCH_LOCKED_DAYS": whole(3), "SCH_SHIFT_START_DATE": day(monday), "SCH_SHIFT_END_DATE": day(monday + 5),
		"SCH_FIRST_START": dataelement.Moment(at0(monday, 6)), "SCH_LAST_END": dataelement.Moment(at0(monday+6, 2)),
		"SCH_FIRST_START_TIME": dataelement.Clock(6 * hour), "SCH_LAST_END_TIME": dataelement.Clock(2 * hour), "SCH_SHIFT_LABEL": text("E"),
		"SCH_JOB_HOURS": number(6), "SCH_JOB_SHIFT_COUNT": whole(1), "SCH_JOBS": text("Acme/A, Acme/B/Till"), "SCH_JOB_COUNT": whole(2),
		"CORE_ORGJOB_PATH": text("Acme/B/Till"), "CORE_ORGJOB": text("Till"), "SCH_PCE_COUNT": whole(1), "SCH_PCE_HOURS": number(3),
		"SCH_PCE_START_DATE": day(monday + 1), "SCH_PCE_START_TIME": dataelement.Clock(9 * hour), "SCH_PCE_END_TIME": dataelement.Clock(12 * hour), "SCH_PCE_END_DATE": day(monday + 1),
		"SCH_PCE_IS_GENERATED": dataelement.Bool(true), "CORE_PAYCODE": text("Sick"), "SCH_PCE_IS_POSTED": dataelement.Bool(true), "SCH_PCE_TRANSFER_STRING": text("Acme/A;"), "SCH_LEAVE_COUNT": whole(1), "SCH_LEAVE_HOURS": number(4),
	}
	table := newTable(nil)
	require.Empty(t, table.Problems())
	for _, e := range table.Entries {
		got := e.Value(adas(monday), at{Days: civil.Range{From: monday, To: monday + 7}, Properties: map[string]string{"JOB": "Acme/B"}})
		assert.Equal(t, want[e.Key], got, e.Key)
		assert.Equal(t, e.Type, got.Type(), e.Key)
		delete(want, e.Key)
		e.Value(&plan{}, at{Days: civil.Range{From: monday, To: monday + 7}}) // Nothing is scheduled.
	}
	assert.Empty(t, want, "elements that are not there any more")
}
