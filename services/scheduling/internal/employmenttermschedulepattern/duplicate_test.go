package employmenttermschedulepattern_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patternassignment"
)

func TestDuplicatesAreRefused(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-30"))
	before := w.Rows(t, tables...)
	shifted := func(g *schedulingv1.GroupSchedulePattern, offset int32) *schedulingv1.GroupSchedulePattern {
		g.StartDateOffset = proto.Int32(offset)
		return g
	}
	other := newAssignment(warehouse, "2025-03-03", "2025-03-30")
	other.SchedulePattern.Items[0].Day = proto.Int32(2)
	overriding := adding(newAssignment(warehouse, "2025-03-03", "2025-03-30"))
	overriding.Override = proto.Bool(true)
	for _, c := range []struct {
		name    string
		create  *schedulingv1.GroupSchedulePatternCreate
		refused bool
	}{
		{"the same assignment", adding(newAssignment(warehouse, "2025-03-03", "2025-03-30")), true},
		{"a later start in the same position of the cycle", adding(newAssignment(warehouse, "2025-03-17", "")), true},
		{"an offset that leads to the same position", adding(shifted(newAssignment(warehouse, "2025-03-05", ""), 2)), true},
		{"an offset of whole cycles", adding(shifted(newAssignment(warehouse, "2025-03-03", ""), -14)), true},
		{"another position of the cycle", adding(newAssignment(warehouse, "2025-03-04", "")), false},
		{"later days", adding(newAssignment(warehouse, "2025-03-31", "")), false},
		{"another term", adding(newAssignment(office, "2025-03-03", "")), false},
		{"another pattern", adding(other), false},
		{"an override", overriding, false},
		{"allowDuplicate", repeating(newAssignment(warehouse, "2025-03-03", "2025-03-30")), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(c.create))
			if c.refused {
				requireFault(t, err, patternassignment.CodeDuplicate, http.StatusConflict, fmt.Sprintf("the schedule pattern assignment %d of the employment term", first.GetId()))
				assert.Equal(t, before, w.Rows(t, tables...), "nothing is stored")
				return
			}
			require.NoError(t, err)
			_, err = w.client.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{
				Id: response.GetResults()[0].GetGroupSchedulePattern().GetId(),
			})
			require.NoError(t, err)
			before = w.Rows(t, tables...)
		})
	}
}

func TestDuplicatesWithinARequest(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	one, two := newAssignment(warehouse, "2025-03-03", ""), newAssignment(warehouse, "2025-03-10", "2025-04-30")
	_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(adding(one), adding(two)))
	requireFault(t, err, patternassignment.CodeDuplicate, http.StatusConflict,
		"groupSchedulePatternCreates[1].groupSchedulePattern would generate the same shifts again that another schedule pattern of the request")
	assert.Empty(t, w.readAssignments(t, warehouse))

	request := creation(adding(one), adding(two))
	request.PartialSuccess = proto.Bool(true)
	response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, request)
	require.NoError(t, err)
	results := response.GetFailure().GetDetails().GetResults()
	require.Len(t, results, 2)
	assert.Nil(t, results[0].GetError())
	assert.Equal(t, patternassignment.CodeDuplicate, results[1].GetError().GetErrorCode())
	assert.Equal(t, []string{"2025-03-03.."}, ranges(w.readAssignments(t, warehouse)))
}

func TestDuplicatesUnderAnOverride(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-30"))
	special := newAssignment(warehouse, "2025-03-03", "2025-03-30")
	special.SchedulePattern = rota(14)
	_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(&schedulingv1.GroupSchedulePatternCreate{
		Override: proto.Bool(true), GroupSchedulePattern: special,
	}))
	require.NoError(t, err)
	_, err = w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(adding(newAssignment(warehouse, "2025-03-03", "2025-03-30"))))
	require.NoError(t, err, "the first is hidden on all of its days")
}

func TestUpdatesThatMakeDuplicates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	first := w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-30"))
	second := newAssignment(warehouse, "2025-03-03", "2025-03-30")
	second.SchedulePattern = rota(14)
	changed := w.create(t, second)
	named := fmt.Sprintf("the schedule pattern assignment %d of the employment term", first.GetId())

	recreate := &schedulingv1.ApplyUpdateGroupSchedulePatterns{Recreate: &schedulingv1.RecreateGroupSchedulePatterns{
		Where: ids(changed.GetId()), Do: &schedulingv1.RecreateGroupSchedulePattern{GroupSchedulePattern: newAssignment(warehouse, "", "")},
	}}
	_, _, err := w.update(recreate, false)
	requireFault(t, err, patternassignment.CodeDuplicate, http.StatusConflict, named)
	_, _, err = w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{UpdateAsOfDate: &schedulingv1.UpdateGroupSchedulePatternsAsOfDate{
		Where: ids(changed.GetId()), Do: &schedulingv1.UpdateGroupSchedulePatternAsOfDate{
			Date: "2025-03-17", GroupSchedulePattern: newAssignment(warehouse, "", ""),
		},
	}}, false)
	requireFault(t, err, patternassignment.CodeDuplicate, http.StatusConflict, named)

	later := w.create(t, newAssignment(warehouse, "2025-03-31", "2025-04-06"))
	extend := func(id int64, date string) error {
		_, _, err := w.update(&schedulingv1.ApplyUpdateGroupSchedulePatterns{UpdateEndDate: &schedulingv1.UpdateGroupSchedulePatternsEndDate{
			Where: ids(id), Do: &schedulingv1.UpdateGroupSchedulePatternEndDate{Date: date},
		}}, false)
		return err
	}
	requireFault(t, extend(first.GetId(), "2025-04-01"), patternassignment.CodeDuplicate, http.StatusConflict, fmt.Sprint(later.GetId()))

	// Duplicates that were allowed can be shortened, but not extended to more days.
	response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(repeating(newAssignment(warehouse, "2025-03-03", "2025-03-20"))))
	require.NoError(t, err)
	allowed := response.GetResults()[0].GetGroupSchedulePattern().GetId()
	require.NoError(t, extend(allowed, "2025-03-10"))
	requireFault(t, extend(allowed, "2025-03-25"), patternassignment.CodeDuplicate, http.StatusConflict, named)
}

func TestWarningsOfTheResponse(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.Exec(t, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
SELECT 1, e, 55, '2024-01-01', '3000-01-01' FROM generate_series(1, 5) AS e`)
	w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(repeating(newAssignment(warehouse, "2025-03-10", ""))))
	require.NoError(t, err)
	result := response.GetResults()[0]
	require.Len(t, result.GetScheduleWarnings(), 1)
	id := result.GetGroupSchedulePattern().GetId()
	assert.True(t, proto.Equal(&schedulingv1.ScheduleWarning{
		Code: "DUPLICATE_SHIFT", AssignmentId: &id, Employees: 5,
		Text: fmt.Sprintf("On 2025-03-10 there are two shifts 06:00-14:00: the schedule pattern assignment %d has the same times.", w.readAssignments(t, warehouse)[0].GetId()),
	}, result.GetScheduleWarnings()[0]), "%v", result.GetScheduleWarnings())
}
