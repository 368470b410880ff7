package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// times lists start and end of a shift and its segments.
func times(s *schedulingv1.Shift) []string {
	out := []string{s.GetStartDateTime(), s.GetEndDateTime()}
	for _, segment := range s.GetSegments() {
		out = append(out, segment.GetStartDateTime(), segment.GetEndDateTime())
	}
	return out
}

func TestSkippedTimesMoveForward(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "Europe/Zurich") // 2025-03-30 02:00 becomes 03:00
	f.employee(2, "UTC")
	f.employee(3, "America/Sao_Paulo") // 2018-11-04 00:00 became 01:00
	early := f.pattern(cycle(1, shift(1, "02:30", "10:00", segment("02:30", "05:00", regular()), segment("05:00", "10:00", regular()))))
	night := f.pattern(cycle(1, shift(1, "22:00", "02:45")))
	short := f.pattern(cycle(1, shift(1, "02:10", "03:05", segment("02:10", "02:50", regular()), segment("02:50", "03:05", pause()))))
	midnight := f.pattern(cycle(1, shift(1, "00:00", "08:00")))
	for employee := range int64(2) {
		f.span(span{employee: employee + 1, from: "2025-03-01", to: "2025-05-01", pattern: early})
		f.span(span{employee: employee + 1, lane: 1, from: "2025-03-01", to: "2025-05-01", pattern: night})
		f.span(span{employee: employee + 1, lane: 2, from: "2025-03-30", to: "2025-03-31", pattern: short})
	}
	f.span(span{employee: 3, from: "2018-11-03", to: "2018-11-06", pattern: midnight})

	got := f.read(window("2025-03-30", "2025-03-30", onlyShifts(), 1)).GetShifts().GetShifts()
	require.Len(t, got, 4)
	assert.Equal(t, []string{"2025-03-29T22:00:00", "2025-03-30T03:45:00", "2025-03-29T22:00:00", "2025-03-30T03:45:00"}, times(got[0]))
	assert.Equal(t, []string{
		"2025-03-30T03:10:00", "2025-03-30T03:10:00", "2025-03-30T03:10:00", "2025-03-30T03:10:00", "2025-03-30T03:10:00", "2025-03-30T03:10:00",
	}, times(got[1]), "what would end before it begins takes no time")
	assert.Equal(t, []string{
		"2025-03-30T03:30:00", "2025-03-30T10:00:00", "2025-03-30T03:30:00", "2025-03-30T05:00:00", "2025-03-30T05:00:00", "2025-03-30T10:00:00",
	}, times(got[2]))

	plain := f.read(window("2025-03-30", "2025-03-30", onlyShifts(), 2)).GetShifts().GetShifts()
	assert.Equal(t, "2025-03-30T02:30:00", plain[2].GetStartDateTime(), "no clock changes in UTC")
	next := f.read(window("2025-03-31", "2025-03-31", onlyShifts(), 1)).GetShifts().GetShifts()
	assert.Equal(t, "2025-03-31T02:30:00", next[1].GetStartDateTime())

	assert.Equal(t, []string{"P3 2018-11-03T00:00:00", "P3 2018-11-04T01:00:00", "P3 2018-11-05T00:00:00"},
		starts(f.read(window("2018-11-03", "2018-11-05", onlyShifts(), 3)).GetShifts()))
}

// A rotation puts nothing on a day that the calendar of the employee's zone leaves out: it would be
// shown a second time on the day after it.
func TestSkippedDaysHaveNoEntries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, from, skipped, to string }{
		{"Pacific/Apia", "2011-12-29", "2011-12-30", "2011-12-31"},
		{"Pacific/Kwajalein", "1993-08-20", "1993-08-21", "1993-08-22"},
		{"Pacific/Kiritimati", "1994-12-30", "1994-12-31", "1995-01-01"},
	} {
		t.Run(c.zone, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.employee(1, c.zone)
			f.employee(2, "UTC")
			daily := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
			night := f.pattern(cycle(1, shift(1, "22:00", "06:00")))
			for employee := range int64(2) {
				f.span(span{employee: employee + 1, from: "1990-01-01", to: "2020-01-01", pattern: daily})
				f.span(span{employee: employee + 1, lane: 1, from: "1990-01-01", to: "2020-01-01", pattern: night})
			}
			starting := func(days []string) (want []string) {
				for _, day := range days {
					want = append(want, day+"T08:00:00", day+"T22:00:00")
				}
				return want
			}
			shown := func(employee int64) (got []string) {
				for _, s := range f.read(window(c.from, c.to, onlyShifts(), employee)).GetShifts().GetShifts() {
					if s.GetStartDateTime() >= c.from {
						got = append(got, s.GetStartDateTime())
					}
				}
				return got
			}
			assert.ElementsMatch(t, starting([]string{c.from, c.to}), shown(1))
			assert.ElementsMatch(t, starting([]string{c.from, c.skipped, c.to}), shown(2), "UTC leaves no day out")
		})
	}
}

// The durations of the pieces of a shift equal their shown times, also if a piece would end before
// it begins.
func TestSkippedTimesCountOnce(t *testing.T) {
	t.Parallel()
	const hour = 3600
	f := newFixture(t)
	f.employee(1, "Europe/Zurich") // 2025-03-30 02:00 becomes 03:00
	first, rest, last := segment("22:00", "22:00", regular()), segment("22:00", "22:00", pause()), segment("22:00", "22:00", transfer())
	first.EndDateTime, rest.StartDateTime, rest.EndDateTime = at(2, "02:45"), at(2, "02:45"), at(2, "03:15")
	last.StartDateTime, last.EndDateTime = at(2, "03:15"), at(2, "06:00")
	f.span(span{employee: 1, from: "2025-03-29", to: "2025-03-30", pattern: f.pattern(cycle(1, shift(1, "22:00", "06:00", first, rest, last)))})
	shown := f.read(window("2025-03-29", "2025-03-29", onlyShifts(), 1)).GetShifts().GetShifts()
	require.Len(t, shown, 1)
	assert.Equal(t, []string{
		"2025-03-29T22:00:00", "2025-03-30T06:00:00", "2025-03-29T22:00:00", "2025-03-30T03:45:00",
		"2025-03-30T03:45:00", "2025-03-30T03:45:00", "2025-03-30T03:45:00", "2025-03-30T06:00:00",
	}, times(shown[0]))

	days := civil.Through(day(t, "2025-03-29"), day(t, "2025-03-29"))
	summaries, _, err := f.reader.ReadSummaries(f.Ctx, []int64{1}, days)
	require.NoError(t, err)
	require.Len(t, summaries[1], 1)
	assert.EqualValues(t, 7*hour, summaries[1][0].Seconds)
	assert.Zero(t, summaries[1][0].Breaks)

	zurich, err := civil.LoadZone("Europe/Zurich")
	require.NoError(t, err)
	timed, err := f.reader.ReadTimedShifts(f.Ctx, []projection.Employee{{ID: 1, Zone: zurich}}, days)
	require.NoError(t, err)
	require.Len(t, timed[1], 1)
	begin := time.Date(2025, time.March, 29, 21, 0, 0, 0, time.UTC).Unix()
	gap := begin + 4*hour + 3*hour/4
	var worked [][2]int64
	for _, w := range timed[1][0].Work {
		worked = append(worked, [2]int64{w.Start, w.End})
	}
	assert.Equal(t, [][2]int64{{begin, gap}, {gap, begin + 7*hour}}, worked)
}

func TestTimeOffEndsAtNoSkippedTime(t *testing.T) {
	t.Parallel()
	const hour = 3600
	for _, c := range []struct {
		name string
		edit *schedulingv1.PayCodeEdit
		want []string
	}{
		{"hours of the shift", amount("", 4*hour+hour/2), []string{"2025-03-30T03:30:00", "2025-03-30T06:00:00"}},
		{"from a skipped time on", amount("02:30", 8*hour), []string{"2025-03-29T22:00:00", "2025-03-30T06:00:00"}},
		{"from before the skipped times", amount("22:00", 5*hour-hour/4), []string{"2025-03-30T03:45:00", "2025-03-30T06:00:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.employee(1, "Europe/Zurich") // 2025-03-30 02:00 becomes 03:00
			f.span(span{employee: 1, from: "2025-03-29", to: "2025-03-30", pattern: f.pattern(cycle(1, shift(1, "22:00", "06:00")))})
			f.covering(3_000_000, 1, "2025-03-29", "2025-03-29", c.edit)
			shown := f.read(window("2025-03-29", "2025-03-29", onlyShifts(), 1)).GetShifts().GetShifts()
			require.Len(t, shown, 1)
			assert.Equal(t, c.want, times(shown[0])[:2])
		})
	}
}

func TestGeneratedById(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.employee(1, "Europe/Zurich")
	item := shift(2, "02:30", "10:00")
	item.PayCodeEditTemplate = &schedulingv1.PayCodeEditTemplate{PayCode: ref(20, "Training"), StartDateTime: at(1, "02:30"), EndDateTime: at(1, "04:00")}
	f.span(span{employee: 1, lane: 2, from: "2025-03-28", to: "2025-04-02", position: 1, pattern: f.pattern(cycle(2, item)), propagations: 9})
	f.lock(1, "2025-03-30", "2025-03-31")
	f.tombstone(entryID(t, 1, "2025-04-01", 2, 0), 1, "2025-04-01")
	zurich, err := civil.LoadZone("Europe/Zurich")
	require.NoError(t, err)

	id, editID := entryID(t, 1, "2025-03-30", 2, 0), entryID(t, 1, "2025-03-30", 2, 1)
	all := f.read(window("2025-03-30", "2025-03-30", nil, 1))
	ids := []int64{
		id, editID, 5, entryID(t, 1, "2025-03-29", 2, 0), entryID(t, 1, "2025-03-30", 1, 0), entryID(t, 1, "2025-03-30", 2, 2),
		entryID(t, 2, "2025-03-30", 2, 0), entryID(t, 1, "2025-04-01", 2, 0), entryID(t, 1, "2025-04-03", 2, 0),
	}
	found, err := f.reader.ReadGenerated(f.Ctx, f.Pool, ids)
	require.NoError(t, err)
	require.Len(t, found, 2, "days off, other lanes and ordinals, deleted entries and days without a span have none")
	assert.True(t, found[id].IsShift())
	assert.True(t, found[editID].IsPayCodeEdit())
	assert.EqualValues(t, 9, found[id].Version)

	one, err := found[id].Shift(zurich, projection.Job{})
	require.NoError(t, err)
	one.Employee = ref(1, "P1")
	assert.Equal(t, all.GetShifts().GetShifts()[0].String(), one.String())
	assert.Equal(t, "2025-03-30T03:30:00", one.GetStartDateTime())
	assert.True(t, one.GetLocked())

	edit, err := found[editID].PayCodeEdit(zurich, projection.Job{})
	require.NoError(t, err)
	edit.Employee = ref(1, "P1")
	assert.Equal(t, all.GetPayCodeEdits().GetPayCodeEdits()[0].String(), edit.String())
	assert.Equal(t, "03:30:00", edit.GetStartTime())
}
