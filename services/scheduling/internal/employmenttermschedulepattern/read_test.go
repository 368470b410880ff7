package employmenttermschedulepattern_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

var update = flag.Bool("update", false, "write the golden files")

func (w *fixture) read(names []string, groups *schedulingv1.GroupSchedulePatternGroups) (*schedulingv1.MultiReadGroupSchedulePatternsResponse, error) {
	return w.client.MultiReadEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.MultiReadGroupSchedulePatternsRequest{
		Body: &schedulingv1.MultiReadGroupSchedulePatterns{
			Select: names, Where: &schedulingv1.GroupSchedulePatternWhere{Groups: groups},
		},
	})
}

func groups(start, end string, refs ...*commonv1.Ref) *schedulingv1.GroupSchedulePatternGroups {
	return &schedulingv1.GroupSchedulePatternGroups{GroupRefs: refs, StartDate: start, EndDate: end}
}

func TestMultiRead(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.create(t, newAssignment(office, "2025-02-01", ""))
	w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-31"))
	w.create(t, newAssignment(warehouse, "2025-01-01", "2025-01-31"))
	both := []*commonv1.Ref{term(office), {Qualifier: proto.String("WAREHOUSE")}}
	for _, c := range []struct {
		start, end string
		want       []string
	}{
		{"", "", []string{"2025-01-01..2025-01-31", "2025-03-03..2025-03-31", "2025-02-01.."}},
		{"2025-01-31", "2025-01-31", []string{"2025-01-01..2025-01-31"}},
		{"2025-02-01", "2025-03-02", []string{"2025-02-01.."}},
		{"2025-03-31", "", []string{"2025-03-03..2025-03-31", "2025-02-01.."}},
		{"3000-01-01", "3000-01-01", []string{"2025-02-01.."}},
		{"", "2024-12-31", []string{}},
	} {
		t.Run(c.start, func(t *testing.T) {
			response, err := w.read(nil, groups(c.start, c.end, both...))
			require.NoError(t, err)
			assert.Equal(t, c.want, ranges(response.GetGroupSchedulePatterns().GetGroupSchedulePatterns()), c)
			require.NotNil(t, response.GetGroupSchedulePatternHistories(), "everything is selected")
			assert.Len(t, response.GetGroupSchedulePatternHistories().GetHistories(), len(c.want))
		})
	}
	for _, names := range [][]string{{"GSP"}, {"gsp", "History"}, {""}} {
		_, err := w.read(names, groups("", "", both...))
		requireFault(t, err, patterndefinition.CodeInvalid, 400, "select")
	}
	_, err := w.read(nil, groups("", ""))
	requireFault(t, err, patterndefinition.CodeNothing, 400, "groupRefs")
	_, err = w.read(nil, groups("", "", term(office), term(99)))
	requireFault(t, err, "WFS-106607", 400, "99")
	_, err = w.read(nil, groups("2025-03-02", "2025-03-01", both...))
	requireFault(t, err, "WFS-111203", 400, "endDate")
	_, err = w.read(nil, groups("2025-3-2", "", both...))
	requireFault(t, err, fault.CodeDate, 400, "startDate")
}

func TestPopulatedThroughDateFollowsThePropagation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", "2025-03-31"))
	populated := func() string {
		g, err := w.client.GetEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.GetEmploymentTermSchedulePatternRequest{Id: made.GetId()})
		require.NoError(t, err)
		return g.GetPopulatedThroughDate()
	}
	for state, want := range map[string]string{"ACCEPTED": "2025-03-02", "RUNNING": "2025-03-02", "FINISHED": "2025-03-31", "FAILED": "2025-03-02"} {
		t.Run(state, func(t *testing.T) {
			w.Exec(t, `UPDATE propagation SET state = $1 WHERE tenant_id = 1`, state)
			assert.Equal(t, want, populated(), state)
		})
	}
	w.Exec(t, `UPDATE propagation SET state = 'FINISHED' WHERE tenant_id = 1`)
	_, _, err := w.update(ending("", made.GetId()), false)
	require.NoError(t, err)
	assert.Equal(t, "2025-03-02", populated(), "a change begins anew")
}

func TestHistoryShowsEarlierStates(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	over := &schedulingv1.GroupSchedulePatternCreate{Override: proto.Bool(true), GroupSchedulePattern: newAssignment(warehouse, "2025-07-01", "2025-07-31")}
	_, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(over))
	require.NoError(t, err)
	_, _, err = w.update(recreating(bare(14), made.GetId()), false)
	require.NoError(t, err)
	_, _, err = w.update(removing("2025-05-01", "2025-05-31", made.GetId()), false)
	require.NoError(t, err)
	_, err = w.client.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: made.GetId()})
	require.NoError(t, err)
	// Write the columns of the database and of the propagation with known times.
	w.Exec(t, `UPDATE pattern_assignment SET
    believed_from = timestamptz '2025-01-01 08:00:00Z' + propagation_id * interval '1 day',
    believed_until = CASE WHEN believed_until < 'infinity' THEN timestamptz '2025-01-09 09:00:00Z' ELSE 'infinity' END`)
	w.Exec(t, `UPDATE propagation SET state = 'FINISHED', employees_done = 12, skipped_locked = id % 2, finished_at = accepted_at`)
	w.Exec(t, `UPDATE propagation SET finished_at = '2025-02-01 00:00:00Z'`)
	w.Exec(t, `UPDATE propagation SET state = 'FAILED', skipped_cut_loose = 3, error = 'secret' WHERE id = 2`)

	response, err := w.read([]string{"history"}, groups("", "", term(warehouse)))
	require.NoError(t, err)
	assert.Nil(t, response.GetGroupSchedulePatterns())
	got, err := protojson.Marshal(response)
	require.NoError(t, err)
	const golden = "testdata/history.json"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(protojson.Format(response)+"\n"), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))

	var ids []int64
	for _, h := range response.GetGroupSchedulePatternHistories().GetHistories() {
		assert.NotContains(t, ids, h.GetId())
		assert.Less(t, h.GetId(), int64(1)<<53)
		ids = append(ids, h.GetId())
	}
}

func TestBuilder(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	builder, err := w.client.GetPatternBuilder(w.Ctx, &schedulingv1.GetPatternBuilderRequest{})
	require.NoError(t, err)
	assert.True(t, proto.Equal(&schedulingv1.PatternBuilder{GovernedDays: proto.Int32(60)}, builder))
}

func TestAnotherTenantSeesNothing(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	other := tenant.With(t.Context(), 2)
	_, err := w.client.GetEmploymentTermSchedulePattern(other, &schedulingv1.GetEmploymentTermSchedulePatternRequest{Id: made.GetId()})
	requireFault(t, err, patterndefinition.CodeUnknown, 404, "")
	_, err = w.client.DeleteEmploymentTermSchedulePattern(other, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: made.GetId()})
	requireFault(t, err, patterndefinition.CodeUnknown, 404, "")
	_, err = w.client.ApplyCreateEmploymentTermSchedulePatterns(other, creation(repeating(newAssignment(warehouse, "2025-03-03", ""))))
	requireFault(t, err, "WFS-106607", 400, "")
}

func TestAssignmentsGoWithTheirTerm(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	made := w.create(t, newAssignment(warehouse, "2025-03-03", ""))
	read := &schedulingv1.GetEmploymentTermSchedulePatternRequest{Id: made.GetId()}
	_, err := w.client.GetEmploymentTermSchedulePattern(w.Ctx, read)
	require.NoError(t, err)
	w.Exec(t, `DELETE FROM membership WHERE tenant_id = 1 AND employment_term_id = $1`, warehouse)
	w.Exec(t, `DELETE FROM employment_term WHERE tenant_id = 1 AND id = $1`, warehouse)
	_, err = w.client.GetEmploymentTermSchedulePattern(w.Ctx, read)
	requireFault(t, err, patterndefinition.CodeUnknown, 404, "")
	_, err = w.client.DeleteEmploymentTermSchedulePattern(w.Ctx, &schedulingv1.DeleteEmploymentTermSchedulePatternRequest{Id: made.GetId()})
	requireFault(t, err, patterndefinition.CodeUnknown, 404, "")
}
