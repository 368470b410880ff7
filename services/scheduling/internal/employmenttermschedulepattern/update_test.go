package employmenttermschedulepattern_test

import (
	"fmt"
	"sync"
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

type body = schedulingv1.ApplyUpdateGroupSchedulePatterns

func recreating(g *schedulingv1.GroupSchedulePattern, list ...int64) *body {
	return &body{Recreate: &schedulingv1.RecreateGroupSchedulePatterns{
		Where: ids(list...), Do: &schedulingv1.RecreateGroupSchedulePattern{GroupSchedulePattern: g},
	}}
}

func asOfBody(date string, g *schedulingv1.GroupSchedulePattern, list ...int64) *body {
	return &body{UpdateAsOfDate: &schedulingv1.UpdateGroupSchedulePatternsAsOfDate{
		Where: ids(list...), Do: &schedulingv1.UpdateGroupSchedulePatternAsOfDate{Date: date, GroupSchedulePattern: g},
	}}
}

func ending(date string, list ...int64) *body {
	return &body{UpdateEndDate: &schedulingv1.UpdateGroupSchedulePatternsEndDate{
		Where: ids(list...), Do: &schedulingv1.UpdateGroupSchedulePatternEndDate{Date: date},
	}}
}

func removing(start, end string, list ...int64) *body {
	return &body{Remove: &schedulingv1.RemoveGroupSchedulePatterns{
		Where: ids(list...), Do: &schedulingv1.RemovedDays{StartDate: start, EndDate: end},
	}}
}

func removalBody(start, end string, refs ...*commonv1.Ref) *body {
	return &body{RemoveByGroups: &schedulingv1.RemoveGroupSchedulePatternsByGroups{
		Where: &schedulingv1.GroupRefs{GroupRefs: refs}, Do: &schedulingv1.RemovedDays{StartDate: start, EndDate: end},
	}}
}

// bare is an assignment that only brings a pattern.
func bare(days int32) *schedulingv1.GroupSchedulePattern {
	return &schedulingv1.GroupSchedulePattern{SchedulePattern: rota(days)}
}

func TestRecreateKeepsTheID(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-31"))
	given := bare(14)
	given.GroupRef = term(warehouse)
	response, header, err := w.update(recreating(given, made.GetId()), false)
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse)
	require.Len(t, response.GetResults(), 1)
	got := response.GetResults()[0].GetGroupSchedulePattern()
	assert.Equal(t, made.GetId(), got.GetId())
	assert.Equal(t, "2025-03-31", got.GetEndDate())
	assert.Equal(t, int32(14), got.GetSchedulePattern().GetDayCount())
	assert.True(t, proto.Equal(got, w.readAssignments(t, warehouse)[0]))

	var versions []string
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `
SELECT array_agg(version || ' ' || day_count || ' ' || (believed_until = 'infinity') ORDER BY version) FROM pattern_assignment`).Scan(&versions))
	assert.Equal(t, []string{"1 7 false", "2 14 true"}, versions, "what was is kept")
	var touching, same bool
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `
SELECT a.believed_until = b.believed_from, b.seq = a.seq FROM pattern_assignment a, pattern_assignment b WHERE a.version = 1 AND b.version = 2`).Scan(&touching, &same))
	assert.True(t, touching, "one is believed until the other is")
	assert.True(t, same, "it stays where it lies")
}

func TestUpdateAsOfDateAndEndDate(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	response, _, err := w.update(asOfBody("2025-06-02", bare(14), made.GetId()), false)
	require.NoError(t, err)
	got := response.GetResults()[0].GetGroupSchedulePattern()
	assert.NotEqual(t, made.GetId(), got.GetId())
	assert.Equal(t, "2025-06-02", got.GetStartDate())
	held := w.readAssignments(t, warehouse)
	assert.Equal(t, []string{"2025-03-03..2025-06-01", "2025-06-02.."}, ranges(held))
	assert.Equal(t, made.GetId(), held[0].GetId())

	response, header, err := w.update(ending("2025-12-31", got.GetId()), false)
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse)
	assert.Equal(t, "2025-12-31", response.GetResults()[0].GetGroupSchedulePattern().GetEndDate())

	before := w.Rows(t, tables...)
	response, header, err = w.update(ending("2025-12-31", got.GetId()), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"Nothing had to be changed."}, response.GetResults()[0].GetExceptions())
	assert.Empty(t, header.Get(rpc.HeaderContentLocation))
	assert.Equal(t, before, w.Rows(t, tables...))

	for _, open := range []string{"", "3000-01-01"} {
		t.Run(open, func(t *testing.T) {
			response, _, err = w.update(ending(open, got.GetId()), false)
			require.NoError(t, err)
			assert.Empty(t, response.GetResults()[0].GetGroupSchedulePattern().GetEndDate())
		})
	}
}

func TestRemoveDays(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	split := w.create(t, newAssignment(warehouse, "2025-03-03", "2025-12-31"))
	gone := w.create(t, newAssignment(office, "2025-04-01", "2025-04-10"))
	spared := w.create(t, newAssignment(office, "2026-01-01", ""))
	response, header, err := w.update(removing("2025-04-01", "2025-04-30", split.GetId(), gone.GetId(), spared.GetId()), false)
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse, office)
	results := response.GetResults()
	require.Len(t, results, 3, "one for each id")
	held := w.readAssignments(t, warehouse)
	assert.Equal(t, []string{"2025-03-03..2025-03-31", "2025-05-01..2025-12-31"}, ranges(held))
	assert.Equal(t, split.GetId(), held[0].GetId())
	assert.True(t, proto.Equal(held[0], results[0].GetGroupSchedulePattern()))
	assert.Equal(t, []string{fmt.Sprintf("The days from 2025-05-01 on go on as the schedule pattern assignment %d.", held[1].GetId())}, results[0].GetExceptions())
	assert.Equal(t, gone.GetId(), results[1].GetGroupSchedulePattern().GetId())
	assert.Empty(t, results[1].GetGroupSchedulePattern().GetStartDate())
	assert.Equal(t, []string{"2026-01-01.."}, ranges(w.readAssignments(t, office)))

	_, err = w.client.GetEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.GetEmploymentTermSchedulePatternRequest{Id: gone.GetId()})
	requireFault(t, err, patterndefinition.CodeUnknown, 404, "")
	assert.Equal(t, 5, w.Rows(t, "pattern_assignment")["pattern_assignment"], "nothing was deleted")
	var anchors int
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `SELECT count(DISTINCT anchor) FROM pattern_assignment WHERE employment_term_id = 55`).Scan(&anchors))
	assert.Equal(t, 1, anchors, "the cycle goes on")

	_, _, err = w.update(removing("2025-05-10", "", held[1].GetId()), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"2025-03-03..2025-03-31", "2025-05-01..2025-05-09"}, ranges(w.readAssignments(t, warehouse)))
}

func TestRemoveByGroups(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, newAssignment(warehouse, "2025-03-03", "2025-12-31"))
	w.create(t, newAssignment(warehouse, "2025-09-10", "2025-09-20"))
	w.create(t, newAssignment(office, "2025-09-10", "2025-09-20"))
	response, header, err := w.update(removalBody("2025-09-01", "2025-09-30", &commonv1.Ref{Qualifier: proto.String("Warehouse")}, term(warehouse)), false)
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse)
	assert.Len(t, response.GetResults(), 2)
	assert.Equal(t, []string{"2025-03-03..2025-08-31", "2025-10-01..2025-12-31"}, ranges(w.readAssignments(t, warehouse)))
	assert.Equal(t, []string{"2025-09-10..2025-09-20"}, ranges(w.readAssignments(t, office)))

	before := w.Rows(t, tables...)
	response, _, err = w.update(removalBody("2025-09-01", "2025-09-30", term(warehouse)), false)
	require.NoError(t, err)
	assert.Empty(t, response.GetResults())
	_, _, err = w.update(removalBody("2025-01-01", "", term(office), term(99)), false)
	requireFault(t, err, "WFS-106607", 400, "99")
	assert.Equal(t, before, w.Rows(t, tables...))

	response, header, err = w.update(removalBody("2025-01-01", "", term(99), term(office)), true)
	require.NoError(t, err)
	w.requirePropagation(t, header, office)
	details := response.GetFailure().GetDetails()
	assert.Equal(t, []int32{0}, details.GetErrorOffsets())
	list := &schedulingv1.GroupSchedulePatternResults{}
	require.NoError(t, details.GetResults()[1].GetSuccess().UnmarshalTo(list))
	assert.Len(t, list.GetResults(), 1)
	assert.Empty(t, w.readAssignments(t, office))
}

func TestApplyUpdateRefuses(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-31"))
	before := w.Rows(t, tables...)
	id := made.GetId()
	elsewhere := bare(7)
	elsewhere.GroupRef = term(office)
	nowhere := bare(7)
	nowhere.GroupRef = term(99)
	short := bare(7)
	short.EndDate = "2025-03-03"
	badDate := bare(7)
	badDate.StartDate = "tomorrow"
	noItems := bare(7)
	noItems.SchedulePattern.Items = nil
	cases := []struct {
		name   string
		body   *body
		code   string
		status int
		text   string
	}{
		{"no block", &body{}, patterndefinition.CodeNothing, 400, "recreate"},
		{"two blocks", &body{UpdateEndDate: ending("", id).GetUpdateEndDate(), Remove: removing("2025-03-03", "", id).GetRemove()}, patterndefinition.CodeOnlyOne, 400, "remove"},
		{"no id", recreating(bare(7)), patterndefinition.CodeMissing, 400, "recreate.where.groupSchedulePatternIds"},
		{"an id twice", ending("", id, id), patterndefinition.CodeInvalid, 400, "updateEndDate.where.groupSchedulePatternIds"},
		{"an id that does not exist", ending("", 99), patterndefinition.CodeUnknown, 404, "99"},
		{"an id that exists and one that does not", ending("2025-03-20", id, 99), patterndefinition.CodeUnknown, 400, "99"},
		{"no assignment", recreating(nil, id), patterndefinition.CodeMissing, 400, "recreate.do.groupSchedulePattern"},
		{"no pattern", asOfBody("2025-03-10", &schedulingv1.GroupSchedulePattern{}, id), patterndefinition.CodeMissing, 400, "updateAsOfDate.do.groupSchedulePattern.schedulePattern"},
		{"an empty pattern", recreating(noItems, id), patterndefinition.CodeMissing, 400, "recreate.do.groupSchedulePattern.schedulePattern.items"},
		{"another term", recreating(elsewhere, id), patterndefinition.CodeInvalid, 400, "groupRef"},
		{"an unknown term", recreating(nowhere, id), "WFS-106607", 400, "99"},
		{"an end on the start", recreating(short, id), "WFS-100904", 400, "endDate"},
		{"a start that is no date", recreating(badDate, id), fault.CodeDate, 400, "startDate"},
		{"no date", asOfBody("", bare(7), id), patterndefinition.CodeMissing, 400, "updateAsOfDate.do.date"},
		{"a date before the assignment", asOfBody("2025-03-02", bare(7), id), patterndefinition.CodeInvalid, 400, "updateAsOfDate.do.date"},
		{"a date after the assignment", asOfBody("2025-04-01", bare(7), id), patterndefinition.CodeInvalid, 400, "updateAsOfDate.do.date"},
		{"an end before the assignment", ending("2025-03-02", id), "WFS-100904", 400, "updateEndDate.do.date"},
		{"no start of removal", removing("", "2025-03-10", id), patterndefinition.CodeMissing, 400, "remove.do.startDate"},
		{"an end of removal before its start", removing("2025-03-10", "2025-03-09", id), "WFS-100904", 400, "remove.do.endDate"},
		{"no term", removalBody("2025-03-10", ""), patterndefinition.CodeMissing, 400, "removeByGroups.where.groupRefs"},
		{"an empty term", removalBody("2025-03-10", "", &commonv1.Ref{}), patterndefinition.CodeMissing, 400, "removeByGroups.where.groupRefs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := w.update(c.body, false)
			requireFault(t, err, c.code, c.status, c.text)
			assert.Equal(t, before, w.Rows(t, tables...), "nothing was changed")
		})
	}
	t.Run("with partial success everything that fails", func(t *testing.T) {
		_, _, err := w.update(recreating(bare(9), 98, 99), true)
		f := requireFault(t, err, fault.CodeBulkFailed, 400, "")
		assert.Equal(t, []int32{0, 1}, f.Details.GetErrorOffsets())
		assert.Equal(t, before, w.Rows(t, tables...), "not even the pattern is stored")
	})
	assert.True(t, proto.Equal(made, w.readAssignments(t, warehouse)[0]))
}

func TestApplyUpdateWithPartialSuccess(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	long := w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	late := w.create(t, newAssignment(office, "2026-01-01", ""))
	b := ending("2025-12-31", late.GetId(), long.GetId(), 99)
	b.Options = &schedulingv1.PartialSuccessOptions{DetailedPartialSuccess: proto.Bool(true)}
	response, header, err := w.update(b, true)
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse)
	details := response.GetFailure().GetDetails()
	assert.Equal(t, []int32{0, 2}, details.GetErrorOffsets())
	input := &commonv1.Ref{}
	require.NoError(t, details.GetResults()[0].GetError().GetDetails().GetInput().UnmarshalTo(input))
	assert.Equal(t, late.GetId(), input.GetId())
	assert.Equal(t, []string{"2025-03-03..2025-12-31"}, ranges(w.readAssignments(t, warehouse)))
	assert.Equal(t, []string{"2026-01-01.."}, ranges(w.readAssignments(t, office)))
}

func TestAnAssignmentMayNotGrowWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	early := w.create(t, newAssignment(warehouse, "2025-01-01", "2025-01-31"))
	var creates []*schedulingv1.GroupSchedulePatternCreate
	for range 8 {
		creates = append(creates, repeating(newAssignment(warehouse, "2025-03-03", "2025-03-31")))
	}
	_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(creates...))
	require.NoError(t, err)
	_, _, err = w.update(ending("2025-02-28", early.GetId()), false)
	require.NoError(t, err)
	_, _, err = w.update(ending("2025-03-10", early.GetId()), false)
	requireFault(t, err, patterndefinition.CodeInvalid, 400, "too many schedule patterns")
}

// Assignments that did not overlap at their creation share a lane. Only counting shows that there
// is no room.
func TestAssignmentsThatWereApartMayNotAllGrowOverOneDay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var list []int64
	for i, month := range []string{"01", "02", "03", "04", "05", "06", "07", "08", "09"} {
		g := newAssignment(warehouse, "2025-"+month+"-01", "2025-"+month+"-20")
		g.SchedulePattern = rota(int32(7 + i))
		list = append(list, w.create(t, g).GetId())
	}
	before := w.Rows(t, tables...)
	_, _, err := w.update(ending("", list...), false)
	requireFault(t, err, patterndefinition.CodeInvalid, 400, "too many schedule patterns")
	assert.Equal(t, before, w.Rows(t, tables...))

	_, _, err = w.update(ending("", list[:7]...), false)
	require.NoError(t, err)
	w.create(t, newAssignment(warehouse, "2025-10-01", ""))
	_, err = w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(repeating(newAssignment(warehouse, "2025-10-01", ""))))
	requireFault(t, err, patterndefinition.CodeInvalid, 400, "too many schedule patterns")
	_, _, err = w.update(ending("2025-09-30", list[0]), false)
	require.NoError(t, err)
	w.create(t, newAssignment(warehouse, "2025-10-01", ""))
}

func TestAnOverrideStaysIfTooManyAssignmentsWouldReturn(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	add := func(override bool) (id int64) {
		t.Helper()
		response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(&schedulingv1.GroupSchedulePatternCreate{
			Override: &override, AllowDuplicate: proto.Bool(true), GroupSchedulePattern: newAssignment(warehouse, "2025-03-03", "2025-03-31"),
		}))
		require.NoError(t, err)
		return response.GetResults()[0].GetGroupSchedulePattern().GetId()
	}
	for range 5 {
		add(false)
	}
	over := add(true)
	var above []int64
	for range 4 {
		above = append(above, add(false))
	}
	remove := func(id int64) error {
		_, err := w.client.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: id})
		return err
	}
	requireFault(t, remove(over), patterndefinition.CodeInvalid, 400, "too many schedule patterns")
	_, _, err := w.update(removing("2025-03-10", "2025-03-11", over), false)
	requireFault(t, err, patterndefinition.CodeInvalid, 400, "too many schedule patterns")
	require.NoError(t, remove(above[0]))
	require.NoError(t, remove(over))
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	var header metadata.MD
	_, err := w.client.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: made.GetId()}, grpc.Header(&header))
	require.NoError(t, err)
	w.requirePropagation(t, header, warehouse)
	assert.Empty(t, w.readAssignments(t, warehouse))
	before := w.Rows(t, tables...)
	_, err = w.client.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: made.GetId()})
	requireFault(t, err, patterndefinition.CodeUnknown, 404, "")
	assert.Equal(t, before, w.Rows(t, tables...))
}

// Each of many concurrent changes must see the result of the previous one. A change that worked on
// an old version would make days overlap or lose them.
func TestUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.create(t, newAssignment(warehouse, "2025-01-01", "2025-12-31"))
	second := w.create(t, newAssignment(office, "2025-01-01", "2025-12-31"))
	const months = 10
	var group sync.WaitGroup
	for i := range months {
		group.Go(func() {
			both := []int64{first.GetId(), second.GetId()}
			if i%2 == 1 { // Another order must not end in a deadlock.
				both[0], both[1] = both[1], both[0]
			}
			end := fmt.Sprintf("2025-%02d-15", 12-i)
			_, _, err := w.update(ending(end, both...), false)
			assert.NoError(t, err)
		})
		group.Go(func() {
			_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(repeating(newAssignment(office, fmt.Sprintf("2026-%02d-01", i+1), fmt.Sprintf("2026-%02d-20", i+1)))))
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Len(t, w.readAssignments(t, warehouse), 1)
	assert.Len(t, w.readAssignments(t, office), 1+months)
	var broken int
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `
SELECT count(*) FROM pattern_assignment a
LEFT JOIN pattern_assignment n ON n.tenant_id = a.tenant_id AND n.id = a.id AND n.version = a.version + 1
WHERE a.believed_until <> coalesce(n.believed_from, 'infinity') OR a.believed_from >= a.believed_until`).Scan(&broken))
	assert.Zero(t, broken, "versions follow one another without gap or overlap")
	rows := w.Rows(t, "pattern_assignment", "propagation")
	assert.Equal(t, 2+months+2*months, rows["pattern_assignment"])
	assert.Equal(t, 2+2*months, rows["propagation"])
}
