package employmenttermschedulepattern_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

func TestApplyCreate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.Exec(t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
SELECT 1, e, 55, '2024-01-01', '3000-01-01' FROM generate_series(1, 5) AS e`)
	w.Exec(t, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date)
VALUES (1, 1, '2025-03-03', '2025-03-10'), (1, 2, '2025-03-03', '2025-03-10'), (1, 2, '2025-05-01', '2025-05-02'), (1, 3, '2024-03-03', '2024-03-10')`)

	byName := newAssignment(0, "2025-03-03", "")
	byName.GroupRef = &commonv1.Ref{Qualifier: proto.String("warehouse")}
	byName.StartDateOffset = proto.Int32(3)
	template := newAssignment(office, "2025-03-03", "2025-03-31")
	template.SchedulePattern = &schedulingv1.SchedulePattern{Name: "rota", StartDate: "2025-01-06"}
	blocked := newAssignment(closed, "1800-01-01", "3000-01-01")
	req := creation(repeating(byName), repeating(template), &schedulingv1.GroupSchedulePatternCreate{Override: proto.Bool(true), GroupSchedulePattern: blocked}, repeating(byName))
	var header metadata.MD
	response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, req, grpc.Header(&header))
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse, office, closed)

	results := response.GetResults()
	require.Len(t, results, 4)
	first := results[0].GetGroupSchedulePattern()
	assert.True(t, results[0].GetStatus())
	assert.True(t, proto.Equal(&commonv1.Ref{Id: proto.Int64(warehouse), Qualifier: proto.String("Warehouse")}, first.GetGroupRef()))
	assert.Equal(t, "2025-03-03", first.GetStartDate())
	assert.Empty(t, first.GetEndDate())
	assert.Equal(t, "2025-03-02", first.GetPopulatedThroughDate())
	assert.Equal(t, int32(3), first.GetStartDateOffset())
	assert.Equal(t, "1900-01-01T06:00:00", first.GetSchedulePattern().GetItems()[0].GetShiftTemplate().GetStartDateTime(), "templates are resolved")
	assert.Equal(t, []string{"Locked days of at least 2 employees of the term are not changed."}, results[0].GetExceptions())

	assert.Equal(t, int32(28), results[1].GetGroupSchedulePattern().GetSchedulePattern().GetDayCount())
	assert.Empty(t, results[1].GetExceptions())
	assert.Equal(t, "1900-01-01", results[2].GetGroupSchedulePattern().GetStartDate(), "dates are pulled into the calendar")
	require.Len(t, results[2].GetExceptions(), 1)
	assert.Contains(t, results[2].GetExceptions()[0], "inheritance")

	read, err := w.client.GetEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.GetEmploymentTermSchedulePatternRequest{Id: first.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(first, read), "what is read is what was returned")

	assert.Equal(t, map[string]int{"schedule_pattern": 2, "pattern_assignment": 4, "propagation": 1, "outbox": 3}, w.Rows(t, tables...))
	var anchor, span string
	var lanes []int16
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `SELECT
(SELECT anchor::text FROM pattern_assignment WHERE employment_term_id = 56),
(SELECT from_date || ' ' || to_date FROM pattern_assignment WHERE employment_term_id = 56),
ARRAY(SELECT lane FROM pattern_assignment WHERE employment_term_id = 55 ORDER BY seq)`).Scan(&anchor, &span, &lanes))
	assert.Equal(t, "2025-01-06", anchor, "the pattern's own start date")
	assert.Equal(t, "2025-03-03 2025-04-01", span)
	assert.Equal(t, []int16{0, 1}, lanes, "assignments on the same days take a lane each")
}

func TestApplyCreateRefuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, newAssignment(warehouse, "2025-01-01", "2025-01-31"))
	before := w.Rows(t, tables...)
	change := func(do func(g *schedulingv1.GroupSchedulePattern)) *schedulingv1.GroupSchedulePattern {
		g := newAssignment(warehouse, "2025-03-03", "2025-03-31")
		do(g)
		return g
	}
	const at = "groupSchedulePatternCreates[1].groupSchedulePattern"
	cases := []struct {
		name  string
		given *schedulingv1.GroupSchedulePattern
		code  string
		text  string
	}{
		{"nothing", nil, patterndefinition.CodeMissing, at},
		{"no term", change(func(g *schedulingv1.GroupSchedulePattern) { g.GroupRef = &commonv1.Ref{} }), patterndefinition.CodeMissing, at + ".groupRef"},
		{"no start", change(func(g *schedulingv1.GroupSchedulePattern) { g.StartDate = "" }), patterndefinition.CodeMissing, at + ".startDate"},
		{"a start that is no date", change(func(g *schedulingv1.GroupSchedulePattern) { g.StartDate = "2025-02-30" }), fault.CodeDate, ".startDate"},
		{"an end that is no date", change(func(g *schedulingv1.GroupSchedulePattern) { g.EndDate = "2025-03-31T00:00:00" }), fault.CodeDate, ".endDate"},
		{"no pattern", change(func(g *schedulingv1.GroupSchedulePattern) { g.SchedulePattern = nil }), patterndefinition.CodeMissing, at + ".schedulePattern"},
		{"an end before the start", change(func(g *schedulingv1.GroupSchedulePattern) { g.EndDate = "2025-03-02" }), "WFS-100904", at + ".endDate"},
		{"an end on the start", change(func(g *schedulingv1.GroupSchedulePattern) { g.EndDate = "2025-03-03" }), "WFS-100904", at + ".endDate"},
		{"a start at the end of time", change(func(g *schedulingv1.GroupSchedulePattern) { g.StartDate, g.EndDate = "3000-01-01", "" }), "WFS-100904", at + ".endDate"},
		{"an unknown term", change(func(g *schedulingv1.GroupSchedulePattern) { g.GroupRef = term(99) }), "WFS-106607", "99"},
		{"an unknown term beside a good name", change(func(g *schedulingv1.GroupSchedulePattern) {
			g.GroupRef = &commonv1.Ref{Id: proto.Int64(99), Qualifier: proto.String("Office")}
		}), "WFS-106607", "99"},
		{"an empty pattern", change(func(g *schedulingv1.GroupSchedulePattern) { g.SchedulePattern.Items = nil }), patterndefinition.CodeMissing, at + ".schedulePattern.items"},
		{"day 0", change(func(g *schedulingv1.GroupSchedulePattern) { g.SchedulePattern.Items[0].Day = proto.Int32(0) }), patterndefinition.CodeInvalid, at + ".schedulePattern.items[0].day"},
		{"an unknown shift template", change(func(g *schedulingv1.GroupSchedulePattern) { g.SchedulePattern.Items[0].ShiftTemplate.Name = "Late" }), patterndefinition.CodeUnknown, `"Late"`},
		{"an unknown pattern template", change(func(g *schedulingv1.GroupSchedulePattern) {
			g.SchedulePattern = &schedulingv1.SchedulePattern{Id: proto.Int64(99)}
		}), patterndefinition.CodeUnknown, "id 99"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req := creation(repeating(newAssignment(office, "2025-03-03", "")), repeating(c.given))
			_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, req)
			requireFault(t, err, c.code, 400, c.text)
			assert.Equal(t, before, w.Rows(t, tables...), "nothing was changed")
		})
	}
	_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation())
	requireFault(t, err, patterndefinition.CodeNothing, 400, "groupSchedulePatternCreates")
}

func TestApplyCreateWithPartialSuccess(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	noStart := newAssignment(warehouse, "", "")
	req := creation(repeating(noStart), repeating(newAssignment(warehouse, "2025-03-03", "")), repeating(newAssignment(99, "2025-03-03", "")))
	req.PartialSuccess = proto.Bool(true)
	call := func() (*schedulingv1.GroupSchedulePatternResults, metadata.MD, error) {
		var header metadata.MD
		response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, req, grpc.Header(&header))
		return response, header, err
	}
	response, header, err := call()
	require.NoError(t, err)
	assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
	w.requirePropagation(t, header, warehouse)
	details := response.GetFailure().GetDetails()
	assert.Equal(t, []int32{0, 2}, details.GetErrorOffsets())
	require.Len(t, details.GetResults(), 3)
	assert.Equal(t, "WFS-106607", details.GetResults()[2].GetError().GetErrorCode())
	assert.Nil(t, details.GetResults()[0].GetError().GetDetails().GetInput(), "inputs are not asked for")
	success := &schedulingv1.GroupSchedulePatternResult{}
	require.NoError(t, details.GetResults()[1].GetSuccess().UnmarshalTo(success))
	assert.Equal(t, []string{"2025-03-03.."}, ranges(w.readAssignments(t, warehouse)))
	assert.Equal(t, w.readAssignments(t, warehouse)[0].GetId(), success.GetGroupSchedulePattern().GetId())

	for i, ask := range []func(*schedulingv1.ApplyCreateGroupSchedulePatterns){
		func(b *schedulingv1.ApplyCreateGroupSchedulePatterns) {
			b.Options = &schedulingv1.PartialSuccessOptions{DetailedPartialSuccess: proto.Bool(true)}
		},
		func(b *schedulingv1.ApplyCreateGroupSchedulePatterns) {
			b.Options, b.FormatForTransactionAssistant = nil, proto.Bool(true)
		},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			ask(req.GetBody())
			response, _, err = call()
			require.NoError(t, err)
			input := &schedulingv1.GroupSchedulePatternCreate{}
			require.NoError(t, response.GetFailure().GetDetails().GetResults()[0].GetError().GetDetails().GetInput().UnmarshalTo(input))
			assert.True(t, proto.Equal(repeating(noStart), input))
		})
	}

	before := w.Rows(t, tables...)
	req = creation(repeating(noStart), repeating(newAssignment(99, "2025-03-03", "")))
	req.PartialSuccess = proto.Bool(true)
	_, header, err = call()
	f := requireFault(t, err, fault.CodeBulkFailed, 400, "")
	assert.Equal(t, []int32{0, 1}, f.Details.GetErrorOffsets())
	assert.Empty(t, header.Get(rpc.HeaderContentLocation))
	assert.Equal(t, before, w.Rows(t, tables...))
}

func TestTooManyPatternsOnOneDay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	creates := make([]*schedulingv1.GroupSchedulePatternCreate, 9)
	for i := range creates {
		creates[i] = repeating(newAssignment(warehouse, "2025-03-03", "2025-03-31"))
	}
	_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(creates...))
	requireFault(t, err, patterndefinition.CodeInvalid, 400, "groupSchedulePatternCreates[8]")
	assert.Equal(t, map[string]int{"schedule_pattern": 0, "pattern_assignment": 0, "propagation": 0, "outbox": 0}, w.Rows(t, tables...))
	_, err = w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(creates[:8]...))
	require.NoError(t, err)
	over := &schedulingv1.GroupSchedulePatternCreate{Override: proto.Bool(true), GroupSchedulePattern: newAssignment(warehouse, "2025-03-03", "2025-03-31")}
	_, err = w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(over))
	require.NoError(t, err, "one that replaces the others has room")
}
