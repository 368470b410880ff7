package employmenttermschedulepattern_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmenttermschedulepattern"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepatterntemplate"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulepreview"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/shifttemplate"
)

// The terms that are there. The closed one does not allow inheritance.
const (
	warehouse = 55
	office    = 56
	closed    = 57
)

// tables are all that a change could write to.
var tables = []string{"schedule_pattern", "pattern_assignment", "propagation", "outbox"}

type fixture struct {
	*schedtest.Env
	client schedulingv1.EmploymentTermSchedulePatternServiceClient
	wakes  atomic.Int32
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{Env: schedtest.New(t)}
	w.Pool.Listen(outbox.Appended, func() { w.wakes.Add(1) })
	handler := employmenttermschedulepattern.New(employmenttermschedulepattern.Settings{}, employmenttermschedulepattern.Deps{
		Pool:        w.Pool,
		Definitions: patterndefinition.New(patterndefinition.Settings{}, shifttemplate.Kind(), schedulepatterntemplate.Kind()),
		Terms:       employmentterm.NewLookup(w.Pool),
		Previews:    schedulepreview.NewPreviews(clock.System{}),
	})
	schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer(w.Local, handler)
	w.client = schedulingv1.NewEmploymentTermSchedulePatternServiceClient(w.Conn())
	w.Exec(t, schedtest.InsertTerm, warehouse, "Warehouse", true)
	w.Exec(t, schedtest.InsertTerm, office, "Office", true)
	w.Exec(t, schedtest.InsertTerm, closed, "Closed", false)
	_, err := (&setup.Resource[*schedulingv1.ShiftTemplate]{Kind: shifttemplate.Kind(), Pool: w.Pool}).Create(w.Ctx, &schedulingv1.ShiftTemplate{
		Name: "Early", StartDateTime: "1900-01-01T06:00:00", EndDateTime: "1900-01-01T14:00:00",
	})
	require.NoError(t, err)
	_, err = (&setup.Resource[*schedulingv1.SchedulePattern]{Kind: schedulepatterntemplate.Kind(), Pool: w.Pool}).Create(w.Ctx, rota(28))
	require.NoError(t, err)
	return w
}

// rota is a pattern of a number of days, named "Rota".
func rota(days int32) *schedulingv1.SchedulePattern {
	return &schedulingv1.SchedulePattern{
		Name: "Rota", DayCount: proto.Int32(days), TimePeriodType: &schedulingv1.TimePeriodType{Name: "Weekly"},
		Items: []*schedulingv1.SchedulePatternItem{
			{Day: proto.Int32(1), ShiftTemplate: &schedulingv1.ShiftTemplate{Name: "Early"}},
		},
	}
}

func term(id int64) *commonv1.Ref { return &commonv1.Ref{Id: proto.Int64(id)} }

func newAssignment(termID int64, start, end string) *schedulingv1.GroupSchedulePattern {
	return &schedulingv1.GroupSchedulePattern{GroupRef: term(termID), StartDate: start, EndDate: end, SchedulePattern: rota(7)}
}

func creation(creates ...*schedulingv1.GroupSchedulePatternCreate) *schedulingv1.ApplyCreateGroupSchedulePatternsRequest {
	return &schedulingv1.ApplyCreateGroupSchedulePatternsRequest{Body: &schedulingv1.ApplyCreateGroupSchedulePatterns{
		GroupSchedulePatterns: &schedulingv1.GroupSchedulePatternCreation{
			Do: &schedulingv1.GroupSchedulePatternCreates{GroupSchedulePatternCreates: creates},
		},
	}}
}

func adding(g *schedulingv1.GroupSchedulePattern) *schedulingv1.GroupSchedulePatternCreate {
	return &schedulingv1.GroupSchedulePatternCreate{GroupSchedulePattern: g}
}

// repeating may generate the same shifts as another assignment.
func repeating(g *schedulingv1.GroupSchedulePattern) *schedulingv1.GroupSchedulePatternCreate {
	return &schedulingv1.GroupSchedulePatternCreate{GroupSchedulePattern: g, AllowDuplicate: proto.Bool(true)}
}

// create makes one assignment and returns it.
func (w *fixture) create(t *testing.T, g *schedulingv1.GroupSchedulePattern) *schedulingv1.GroupSchedulePattern {
	t.Helper()
	response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(repeating(g)))
	require.NoError(t, err)
	require.Len(t, response.GetResults(), 1)
	return response.GetResults()[0].GetGroupSchedulePattern()
}

// update applies a block, and returns the response and its headers.
func (w *fixture) update(body *schedulingv1.ApplyUpdateGroupSchedulePatterns, partial bool) (*schedulingv1.GroupSchedulePatternResults, metadata.MD, error) {
	var header metadata.MD
	response, err := w.client.ApplyUpdateEmploymentTermSchedulePatterns(w.Ctx,
		&schedulingv1.ApplyUpdateGroupSchedulePatternsRequest{Body: body, PartialSuccess: &partial}, grpc.Header(&header))
	return response, header, err
}

// readAssignments are the assignments of a term that hold now, as "id start..end".
func (w *fixture) readAssignments(t *testing.T, termID int64) []*schedulingv1.GroupSchedulePattern {
	t.Helper()
	response, err := w.client.MultiReadEmploymentTermSchedulePatterns(w.Ctx, &schedulingv1.MultiReadGroupSchedulePatternsRequest{
		Body: &schedulingv1.MultiReadGroupSchedulePatterns{
			Select: []string{"gsp"},
			Where: &schedulingv1.GroupSchedulePatternWhere{Groups: &schedulingv1.GroupSchedulePatternGroups{
				GroupRefs: []*commonv1.Ref{term(termID)},
			}},
		},
	})
	require.NoError(t, err)
	require.NotNil(t, response.GetGroupSchedulePatterns())
	require.Nil(t, response.GetGroupSchedulePatternHistories())
	return response.GetGroupSchedulePatterns().GetGroupSchedulePatterns()
}

// ranges are the days of assignments.
func ranges(list []*schedulingv1.GroupSchedulePattern) []string {
	out := []string{}
	for _, g := range list {
		out = append(out, g.GetStartDate()+".."+g.GetEndDate())
	}
	return out
}

func ids(list ...int64) *schedulingv1.GroupSchedulePatternIds {
	return &schedulingv1.GroupSchedulePatternIds{GroupSchedulePatternIds: list}
}

func requireFault(t *testing.T, err error, code string, status int, text string) *fault.Error {
	t.Helper()
	f := faulttest.Require(t, err, code, status)
	require.Contains(t, f.Message, text)
	return f
}

// requirePropagation checks that a response names the newest propagation, that
// it concerns the terms, and that the relay was woken.
func (w *fixture) requirePropagation(t *testing.T, header metadata.MD, terms ...int64) {
	t.Helper()
	var location string
	var concerned []int64
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `
SELECT '/v1/scheduling/propagations/' || id, employment_term_ids FROM propagation ORDER BY id DESC LIMIT 1`).
		Scan(&location, &concerned))
	assert.Equal(t, []string{location}, header.Get(rpc.HeaderContentLocation))
	assert.Equal(t, terms, concerned)
	rows := w.Rows(t, "propagation", "schedule_pattern", "outbox")
	assert.Equal(t, rows["propagation"]+rows["schedule_pattern"], rows["outbox"], "each pattern is published once")
	assert.EqualValues(t, rows["propagation"], w.wakes.Load())
}
