package schedule_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// TestReadingEqualsTheNaiveReading makes random schedules of patterns, shifts by hand, edits and
// deletions, and computes the expected entries day by day in the simplest way.
func TestReadingEqualsTheNaiveReading(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	random := rand.New(rand.NewPCG(1, 2))
	first := day(t, "2025-05-01")
	const days, people = 40, 6

	type line struct {
		employee int64
		start    civil.DateTime
		text     string
	}
	var naive []line
	hidden, locked := map[int64]bool{}, map[string]bool{}
	// Ids of entered items are below the ids of generated entries, and have as many digits.
	byHand := int64(1e15)
	var edits []func() line // made when all days have their locks
	// enter stores a shift by hand, of ten hours like all others, and returns its line.
	enter := func(id, employee int64, d civil.Date) line {
		start := d.At(int32(random.IntN(24)) * 3600)
		next, clock := (civil.DateTime{Date: d, Seconds: start.Seconds + 10*3600}).Clock()
		last, _ := (civil.DateTime{Date: d, Seconds: start.Seconds + 10*3600 - 1}).Clock()
		f.item(id, employee, "SHIFT", d.String(), last.String(), &schedulingv1.Shift{
			StartDateTime: start.String(), EndDateTime: next.At(int32(clock)).String(), Locked: proto.Bool(false),
		})
		return line{employee, start, fmt.Sprint(employee, " ", start, " ", id, " ", 4, " ", locked[fmt.Sprint(employee, d)])}
	}
	for employee := range int64(people) {
		f.employee(employee+1, "UTC")
		for d := range civil.Date(days) {
			if random.IntN(8) == 0 {
				locked[fmt.Sprint(employee+1, first+d)] = true
				f.lock(employee+1, (first + d).String(), (first + d + 1).String())
			}
			switch id := entryID(t, employee+1, (first + d).String(), uint8(random.IntN(2)), uint8(random.IntN(2))); random.IntN(12) {
			case 0:
				hidden[id] = true
				f.tombstone(id, employee+1, (first + d).String())
			case 1: // Edit the entry, maybe into a shift of another employee on another day.
				hidden[id] = true
				owner, at := random.Int64N(people)+1, first+civil.Date(random.IntN(days))
				edits = append(edits, func() line { return enter(id, owner, at) })
			case 2:
				byHand++
				naive = append(naive, enter(byHand, employee+1, first+d))
			}
		}
		for lane := range 2 {
			from := first + civil.Date(random.IntN(5))
			for from < first+days {
				to := min(from+1+civil.Date(random.IntN(20)), first+days)
				pattern, cycleDays := randomPattern(random)
				position, version := random.IntN(cycleDays), random.Int64N(1000)+1
				f.span(span{
					employee: employee + 1, lane: lane, from: from.String(), to: to.String(), pattern: f.pattern(pattern),
					position: position, propagations: version,
				})
				for d := from; d < to; d++ {
					ordinal := uint8(0)
					for _, item := range pattern.GetItems() {
						if int(item.GetDay()) != 1+(position+int(d-from))%cycleDays {
							continue
						}
						id := entryID(t, employee+1, d.String(), uint8(lane), ordinal)
						ordinal++
						start, err := civil.ParseDateTime(item.GetShiftTemplate().GetStartDateTime())
						require.NoError(t, err)
						if !hidden[id] {
							naive = append(naive, line{
								employee + 1, d.At(start.Seconds),
								fmt.Sprint(employee+1, " ", d.At(start.Seconds), " ", id, " ", version, " ", locked[fmt.Sprint(employee+1, d)]),
							})
						}
					}
				}
				from = to + civil.Date(random.IntN(3))
			}
		}
	}
	for _, edit := range edits {
		naive = append(naive, edit())
	}
	slices.SortStableFunc(naive, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.employee, b.employee), a.start.Compare(b.start))
	})
	for range 20 {
		from := first + civil.Date(random.IntN(days))
		to := min(from+civil.Date(random.IntN(days)), first+days-1)
		var want, got []string
		for _, l := range naive {
			// All shifts are 10 hours long.
			if end, _ := (civil.DateTime{Date: l.start.Date, Seconds: l.start.Seconds + 10*3600 - 1}).Clock(); end >= from && l.start.Date <= to {
				want = append(want, l.text)
			}
		}
		for _, s := range f.read(window(from.String(), to.String(), onlyShifts())).GetShifts().GetShifts() {
			got = append(got, fmt.Sprint(s.GetEmployee().GetId(), " ", s.GetStartDateTime(), " ", s.GetId(), " ", s.GetVersion(), " ", s.GetLocked()))
		}
		// Shifts with the same start are in the order of their ids on both sides.
		slices.Sort(want)
		require.True(t, slices.IsSorted(got))
		assert.Equal(t, want, got, "%v to %v", from, to)
	}
}

// randomPattern has up to two shifts of ten hours on a day, some past midnight.
func randomPattern(random *rand.Rand) (*schedulingv1.SchedulePattern, int) {
	days := 1 + random.IntN(9)
	p := cycle(int32(days), shift(1, "06:00", "16:00"))
	for d := range days {
		for range random.IntN(2) {
			start := random.IntN(24)
			p.Items = append(p.Items, shift(int32(d+1), fmt.Sprintf("%02d:00", start), fmt.Sprintf("%02d:00", (start+10)%24)))
		}
	}
	return p, days
}
