package ruleviolation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

func newViolation(rule int64, from, to string, measured float64) *schedulingv1.ScheduleRuleViolation {
	return &schedulingv1.ScheduleRuleViolation{
		Employee: &commonv1.Ref{Id: proto.Int64(1)}, RuleSet: &commonv1.Ref{Id: proto.Int64(2)}, Rule: &commonv1.Ref{Id: proto.Int64(rule)},
		StartDate: from, EndDate: to, MeasuredValue: &measured, Limit: proto.Float64(5),
	}
}

// A change adds the violations that did not exist before, and those that it makes worse.
func TestAddedViolations(t *testing.T) {
	t.Parallel()
	type list = []*schedulingv1.ScheduleRuleViolation
	const day, next = "2026-03-02", "2026-03-03"
	hours := func(measured float64) *schedulingv1.ScheduleRuleViolation {
		return newViolation(schedulerule.MaxHoursDay, day, day, measured)
	}
	rest := func(measured float64) *schedulingv1.ScheduleRuleViolation {
		return newViolation(schedulerule.MinRestBetweenShifts, day, day, measured)
	}
	row := func(from, to string, measured float64) *schedulingv1.ScheduleRuleViolation {
		return newViolation(schedulerule.MaxDaysInRow, from, to, measured)
	}
	other := hours(8)
	other.Employee.Id = proto.Int64(9)
	for name, c := range map[string]struct {
		before, after list
		want          []int // indexes in after
	}{
		"nothing":                          {nil, nil, nil},
		"a new one":                        {nil, list{hours(8)}, []int{0}},
		"the same":                         {list{hours(8)}, list{hours(8)}, nil},
		"a better one":                     {list{hours(8)}, list{hours(7)}, nil},
		"a worse one":                      {list{hours(8)}, list{hours(9)}, []int{0}},
		"one of another employee":          {list{hours(8)}, list{other}, []int{0}},
		"one on another day":               {list{newViolation(schedulerule.MaxHoursDay, next, next, 8)}, list{hours(8)}, []int{0}},
		"a longer rest":                    {list{rest(2)}, list{rest(3)}, nil},
		"a shorter rest":                   {list{rest(3)}, list{rest(2)}, []int{0}},
		"a second rest on the same day":    {list{rest(2)}, list{rest(2), rest(2)}, []int{1}},
		"a row that a change moves":        {list{row("2026-03-02", "2026-03-07", 6)}, list{row("2026-03-03", "2026-03-08", 6)}, nil},
		"a row that a change makes longer": {list{row("2026-03-02", "2026-03-07", 6)}, list{row("2026-03-02", "2026-03-08", 7)}, []int{0}},
		"two rows that remain of one":      {list{row("2026-03-02", "2026-03-14", 13)}, list{row("2026-03-02", "2026-03-07", 6), row("2026-03-09", "2026-03-14", 6)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want list
			for _, i := range c.want {
				want = append(want, c.after[i])
			}
			assert.Equal(t, want, findAdded(c.before, c.after))
		})
	}
}

// Employees whose shifts lie far apart are read in parts, and the shifts of one employee in one
// part.
func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	first := civil.Of(2026, 1, 1)
	var written []Written
	for i := range 40 {
		e := &projection.Employee{ID: int64(i % 20)}
		written = append(written, Written{Employee: e, Days: civil.Through(first.AddDays(i*300), first.AddDays(i*300))})
	}
	joined := join(written)
	assert.Len(t, joined, 20, "one range of each employee")
	for _, w := range joined {
		assert.Equal(t, 20*300+1, w.Days.Days())
	}
	parts := split(joined)
	count := 0
	for _, part := range parts {
		days := part[0].Days
		for _, w := range part {
			days = cover(days, w.Days)
		}
		assert.True(t, len(part) == 1 || len(part)*days.Days() <= maxGroupDays)
		count += len(part)
	}
	assert.Equal(t, len(joined), count)
	assert.Len(t, split(join(written[:1])), 1)
	assert.Empty(t, join([]Written{{Employee: &projection.Employee{ID: 1}, Days: civil.Range{From: civil.Forever - 3, To: civil.Forever}}}), "the end of the calendar")
}
