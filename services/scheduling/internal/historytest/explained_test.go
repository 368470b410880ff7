package historytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/asof"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/explanation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// employeeDay is a day of an employee.
type employeeDay struct {
	employee int64
	date     string
}

// shiftIDs returns the shifts that begin on each day of the employees, as of an instant if it is not "".
func (w *fixture) shiftIDs(asOf string) map[employeeDay][]int64 {
	w.t.Helper()
	response, err := w.schedules.MultiReadSchedule(w.Ctx, &schedulingv1.MultiReadScheduleRequest{
		Select: []string{"SHIFTS"}, MultiReadOptions: &schedulingv1.MultiReadOptions{AsOfDateTime: asOf},
		Where: &schedulingv1.ScheduleWhere{Employees: &schedulingv1.EmployeeSchedules{
			EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: asked.Days.From.String(), EndDate: asked.Days.To.String(),
		}},
	})
	require.NoError(w.t, err)
	wire, err := proto.Marshal(response)
	require.NoError(w.t, err)
	got := &schedulingv1.Schedule{}
	require.NoError(w.t, proto.Unmarshal(wire, got))
	out := map[employeeDay][]int64{}
	for _, s := range got.GetShifts().GetShifts() {
		at := employeeDay{s.GetEmployee().GetId(), s.GetStartDateTime()[:10]}
		out[at] = append(out[at], s.GetId())
	}
	for _, ids := range out {
		slices.Sort(ids)
	}
	return out
}

// explanations returns the explanation of each day of the employees, as of an instant if it is not "".
func (w *fixture) explanations(client schedulingv1.ScheduleExplanationServiceClient, asOf string) []*schedulingv1.ScheduleExplanation {
	w.t.Helper()
	response, err := client.MultiReadScheduleExplanations(w.Ctx, &schedulingv1.MultiReadScheduleExplanationsRequest{
		MultiReadOptions: &schedulingv1.ScheduleExplanationOptions{AsOfDateTime: asOf},
		Where: &schedulingv1.ScheduleExplanationsWhere{Employees: &schedulingv1.ExplainedEmployees{
			EmployeeRefs: &commonv1.RefList{Ids: employees}, StartDate: asked.Days.From.String(), EndDate: asked.Days.To.String(),
		}},
	})
	require.NoError(w.t, err)
	return response.GetExplanations()
}

// foldLayers returns the shifts that remain after all layers.
func foldLayers(layers []*schedulingv1.ScheduleLayer) (ids []int64, err error) {
	remain := map[int64]bool{}
	for _, l := range layers {
		if l.GetText() == "" || l.GetKind() == "" {
			return nil, fmt.Errorf("an incomplete layer: %v", l)
		}
		for _, id := range l.GetShiftIds() {
			switch l.GetEffect() {
			case "PRODUCES", "ADDS":
				if remain[id] {
					return nil, fmt.Errorf("two layers show the shift %d: %v", id, layers)
				}
				remain[id] = true
			case "HIDES":
				delete(remain, id)
			}
		}
	}
	for id := range remain {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// checkExplained requires that explanations name the shifts of the schedule, and counts their outcomes.
func (w *fixture) checkExplained(want map[employeeDay][]int64, explained []*schedulingv1.ScheduleExplanation, outcomes map[string]int) {
	w.t.Helper()
	require.Len(w.t, explained, len(employees)*(asked.Days.Days()+1))
	for _, e := range explained {
		at := employeeDay{e.GetEmployee().GetId(), e.GetDate()}
		shown := slices.Sorted(slices.Values(e.GetShiftIds()))
		require.Equal(w.t, want[at], shown, "%+v: %v", at, e)
		layers, err := foldLayers(e.GetLayers())
		require.NoError(w.t, err)
		require.Equal(w.t, shown, layers, "%+v: %v", at, e)
		require.Equal(w.t, len(shown) > 0, e.GetOutcome() == "WORKS", "%+v: %v", at, e)
		outcomes[e.GetOutcome()]++
		for _, l := range e.GetLayers() {
			outcomes[l.GetKind()+" "+l.GetEffect()]++
		}
	}
}

// The shifts that the layers of explanations produce, add and do not hide are the shifts of the schedule, now and as of
// earlier instants, after random changes by people, propagations and other domains.
func TestExplanationsNameTheShiftsOfTheSchedule(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	schedulingv1.RegisterScheduleExplanationServiceServer(w.Local, explanation.New(explanation.Deps{
		Pool: w.Pool, Reader: w.reader, Directory: projection.NewResolver(w.Pool, nil, nil), Instants: asof.New(w.reader, -1),
	}))
	client := schedulingv1.NewScheduleExplanationServiceClient(w.Conn())
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for _, id := range employees {
		require.NoError(t, w.assign(id, 20_000, w.patterns[0]))
	}
	outcomes := map[string]int{}
	for range 120 {
		// What collides is refused.
		if err := w.change(random); err != nil {
			require.Less(t, fault.FromError(err).Status, 500, "%v", err)
		}
		require.Eventually(t, w.isApplied, time.Minute, 5*time.Millisecond, "not applied")
		now := w.shiftIDs("")
		w.checkExplained(now, w.explanations(client, ""), outcomes)
		at, err := w.reader.SettledTime(w.Ctx)
		require.NoError(t, err)
		then := request.FormatInstant(at)
		// A change that was just applied may not be settled: the past has a state of its own.
		w.checkExplained(w.shiftIDs(then), w.explanations(client, then), outcomes)
	}
	t.Log(outcomes)
	for _, name := range []string{
		"WORKS", "LEAVE", "REMOVED", "NO_ASSIGNMENT", "ASSIGNMENT PRODUCES", "PATTERN_DAY PRODUCES", "HAND_ENTRY ADDS", "HAND_ENTRY HIDES", "LEAVE HIDES",
		"DAY_LOCK FREEZES", "MEMBERSHIP PRODUCES",
	} {
		assert.NotZero(t, outcomes[name], name)
	}
}
