package ruleviolation

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/ruleevaluation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulerule"
)

const (
	benchTenant    = 1
	benchEmployees = 1000
	benchDays      = 28
)

// benchSet has five rules; one of them is broken once a week.
func benchSet() set {
	rules := []ruleevaluation.Rule{
		{ID: schedulerule.MaxHoursDay, Limit: 10},
		{ID: schedulerule.MaxHoursWeek, Limit: 39},
		{ID: schedulerule.MaxDaysInRow, Limit: 6},
		{ID: schedulerule.MinRestBetweenShifts, Limit: 11},
		{ID: schedulerule.MinRestWeek, Limit: 35},
	}
	out := set{ref: &commonv1.Ref{Id: proto.Int64(1)}, calendar: ruleevaluation.Calendar{WeekStart: time.Monday, NightEnd: 6 * 3600}, rules: rules}
	for _, r := range rules {
		out.stored = append(out.stored, &schedulingv1.ScheduleRuleSetRule{
			Rule:           &schedulingv1.ScheduleRule{Id: proto.Int64(r.ID)},
			RuleParameters: []*schedulingv1.ScheduleRuleSetParameter{{RuleParameterType: &schedulingv1.ScheduleRuleParameterType{Id: proto.Int64(schedulerule.MaxHours)}}},
		})
	}
	return out
}

// benchReader returns a reader of employees who work five days a week, with a break.
func benchReader(b *testing.B, env *schedtest.Env) *reading.Reader {
	pattern := &schedulingv1.SchedulePattern{DayCount: proto.Int32(7)}
	for day := int32(1); day <= 5; day++ {
		at := func(clock string) string { return "1900-01-01T" + clock + ":00" }
		templateSegment := func(from, to, kind string) *schedulingv1.ShiftTemplateSegment {
			return &schedulingv1.ShiftTemplateSegment{StartDateTime: at(from), EndDateTime: at(to), SegmentType: &commonv1.Ref{Qualifier: proto.String(kind)}}
		}
		pattern.Items = append(pattern.Items, &schedulingv1.SchedulePatternItem{Day: proto.Int32(day), ShiftTemplate: &schedulingv1.ShiftTemplate{
			StartDateTime: at("08:00"), EndDateTime: at("16:30"),
			Segments: []*schedulingv1.ShiftTemplateSegment{
				templateSegment("08:00", "12:00", "REGULAR_SEGMENT"), templateSegment("12:00", "12:30", "BREAK_SEGMENT"), templateSegment("12:30", "16:30", "REGULAR_SEGMENT"),
			},
		}})
	}
	body, err := proto.Marshal(pattern)
	require.NoError(b, err)
	env.Exec(b, `INSERT INTO schedule_pattern (tenant_id, id, digest, day_count, body) VALUES ($1, 77, sha256($2), 7, $2)`, benchTenant, body)
	env.Exec(b, `INSERT INTO employee SELECT $1, i, 'P' || i, 'Person ' || i, 'Europe/Zurich', 1 FROM generate_series(1, $2::int) AS i`, benchTenant, benchEmployees)
	env.Exec(b, `INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count, assignment_id, inherited, propagation_id)
		SELECT $1, i, 0, '2020-01-01', '3000-01-01', 77, i % 7, 7, 33, true, 7 FROM generate_series(1, $2::int) AS i`, benchTenant, benchEmployees)
	env.Exec(b, "ANALYZE")
	return reading.NewReader(env.Pool, patterndefinition.New(patterndefinition.Settings{}, nil, nil))
}

// BenchmarkEvaluate evaluates five rules on 1,000 employees and 28 days. The baseline is
// only to put the same shifts together, from the database to their instants.
func BenchmarkEvaluate(b *testing.B) {
	env := schedtest.New(b)
	reader := benchReader(b, env)
	zone, err := civil.LoadZone("Europe/Zurich")
	require.NoError(b, err)
	employees := make([]projection.Employee, benchEmployees)
	for i := range employees {
		employees[i] = projection.Employee{ID: int64(i + 1), PersonNumber: "P", Zone: zone}
	}
	held := &plan{sets: []set{benchSet()}, forAllEmployees: 1}
	first := civil.Of(2026, time.March, 2)
	days := civil.Range{From: first, To: first.AddDays(benchDays)}
	window := held.sets[0].calendar.Window(days, held.sets[0].rules)
	var expanding, evaluating []time.Duration
	for range b.N {
		began := time.Now()
		shifts, err := reader.ReadTimedShifts(env.Ctx, employees, window)
		require.NoError(b, err)
		expanding = append(expanding, time.Since(began))
		require.Greater(b, len(shifts[1]), benchDays/2)
		began = time.Now()
		shifts, err = reader.ReadTimedShifts(env.Ctx, employees, window)
		require.NoError(b, err)
		found := newEvaluation(held, days, maxViolations)
		require.NoError(b, found.addAll(env.Ctx, employees, nil, shifts, nil))
		evaluating = append(evaluating, time.Since(began))
		require.NotEmpty(b, found.out.GetViolations())
	}
	median := func(list []time.Duration) float64 {
		slices.Sort(list)
		return float64(list[len(list)/2]) / float64(time.Millisecond)
	}
	b.ReportMetric(median(expanding), "expanding-ms")
	b.ReportMetric(median(evaluating), "evaluating-ms")
}
