package worktime_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// A month of one employee: 22 days with a break each, on a schedule.
func BenchmarkAMonth(b *testing.B) {
	zone, err := civil.LoadZone("Europe/Berlin")
	require.NoError(b, err)
	rule := plainRule()
	rule.RepeatWithin = 60
	in := &worktime.Input{Rule: func(civil.Date) *worktime.Rule { return rule }}
	for day := civil.Of(2026, time.March, 2); day < civil.Of(2026, time.April, 1); day++ {
		if day.Weekday() == time.Saturday || day.Weekday() == time.Sunday {
			continue
		}
		at := func(hours int32) int64 { return zone.Unix(day.At(hours * hour)) }
		for _, h := range []int32{8, 12, 13, 17} {
			in.Punches = append(in.Punches, worktime.Punch{At: at(h), Zone: zone})
		}
		in.Schedule = append(in.Schedule, worktime.Scheduled{Day: day, Start: at(8), End: at(17)})
	}
	in.Now = zone.Unix(civil.Of(2026, time.May, 1).At(0))
	b.ReportAllocs()
	for b.Loop() {
		worktime.Calculate(in)
	}
}
