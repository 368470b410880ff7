package worktime

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// The pairing is the cheapest of all pairings; the test tries them one by one.
func TestNoReadingIsCheaper(t *testing.T) {
	t.Parallel()
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		hours := func(label string, of ...int64) int64 { return 3600 * rapid.SampledFrom(of).Draw(t, label) }
		rule := &Rule{MaxShift: hours("longest", 8, 16, 24), ShiftGap: hours("gap", 0, 1, 4), RepeatWithin: 60}
		in := &Input{Rule: func(civil.Date) *Rule { return rule }}
		at := zone.Unix(civil.Of(2026, 10, 23).At(0))
		for i := range rapid.IntRange(1, 8).Draw(t, "punches") {
			at += 60 * rapid.OneOf(rapid.Int64Range(1, 90), rapid.Int64Range(200, 1100)).Draw(t, "later")
			in.Punches = append(in.Punches, Punch{
				ID: int64(i), At: at, Zone: zone, Direction: rapid.SampledFrom([]Direction{Any, Any, Any, In, Out}).Draw(t, "direction"),
				Transfer: rapid.IntRange(0, 5).Draw(t, "transfer") == 0, Job: rapid.SampledFrom([]string{"", "", "", "A"}).Draw(t, "job"),
			})
		}
		in.Now = at + hours("now", 0, 6, 30)
		planned := in.Punches[0].At
		for range rapid.IntRange(0, 3).Draw(t, "scheduled") {
			in.Schedule = append(in.Schedule, Scheduled{Start: planned, End: planned + hours("planned", 4, 8, 16)})
			planned += hours("pause", 8, 12, 24)
		}
		p := newPairing(&calculation{in: in, out: &Result{}})
		found := p.steps[p.findCheapest(p.readAll())]

		all := newPairing(&calculation{in: in, out: &Result{}})
		frontier := []int32{0}
		for _, i := range all.used {
			var out []int32
			all.extend(frontier, int32(i), func(s step) { out = append(out, all.addStep(s)) })
			frontier = out
		}
		best := all.steps[all.findCheapest(frontier)]
		require.Equal(t, all.totalCost(&best), p.totalCost(&found))
	})
}
