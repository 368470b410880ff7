package schedulepreview_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

var namedAssignment = regexp.MustCompile(`the schedule pattern assignment (\d+)`)

// warningTexts returns warnings as a preview shows them: newer assignments than the newest one before
// the change have no ids.
func warningTexts(t *testing.T, list []*schedulingv1.ScheduleWarning, newest int64) []string {
	t.Helper()
	out := []string{}
	for _, w := range list {
		assignment := "new"
		if id := w.GetAssignmentId(); w.AssignmentId != nil && id <= newest || w.GetCode() == "HIDES_HAND_ENTRY" || w.GetCode() == "EMPTY_CHANGE" {
			assignment = strconv.FormatInt(id, 10)
		}
		text := fmt.Sprint(w.GetCode(), " of ", assignment, " for ", w.GetEmployees(), ":")
		for _, p := range w.GetPersons() {
			said := namedAssignment.ReplaceAllStringFunc(p.GetText(), func(name string) string {
				id, err := strconv.ParseInt(namedAssignment.FindStringSubmatch(name)[1], 10, 64)
				require.NoError(t, err)
				if id > newest {
					return "another schedule pattern of the change"
				}
				return name
			})
			text += fmt.Sprint(" ", p.GetEmployee().GetId(), " ", p.GetEmployee().GetQualifier(), " ", p.GetDates(), " ", said)
		}
		out = append(out, text)
	}
	return out
}

// newestAssignment returns the id of the newest assignment, or 0.
func (w *fixture) newestAssignment() (id int64) {
	w.t.Helper()
	require.NoError(w.t, w.Pool.QueryRow(w.Ctx, `SELECT coalesce(max(id), 0) FROM pattern_assignment`).Scan(&id))
	return id
}

// compareWarnings compares the warnings of an applied preview with those of its propagation.
func (w *fixture) compareWarnings(p *schedulingv1.SchedulePreview, newest int64) {
	w.t.Helper()
	id := w.get(p.GetId()).GetPropagationId()
	if id == 0 || p.GetSummary().GetEmployeesTotal() == 0 {
		return // Nothing was applied to a schedule.
	}
	applied, err := w.undos.GetPropagation(w.Ctx, &schedulingv1.GetPropagationRequest{Id: id})
	require.NoError(w.t, err)
	require.Equal(w.t, warningTexts(w.t, applied.GetWarnings(), newest), warningTexts(w.t, p.GetWarnings(), newest))
}

func TestWarningsNamePersons(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.makeEarly()
	_, err := w.shifts.CreateShift(w.Ctx, &schedulingv1.Shift{
		Employee: &commonv1.Ref{Id: proto.Int64(3)}, StartDateTime: "2026-03-03T10:00:00", EndDateTime: "2026-03-03T18:00:00", Label: "H",
	})
	require.NoError(t, err)
	repeated := newAssignment(warehouse, firstDay, "", false, "E", "", "", "", "", "", "")
	repeated.AllowDuplicate = proto.Bool(true)
	change := func() *schedulingv1.CreateSchedulePreviewRequest {
		return creation(repeated, newAssignment(warehouse, "2026-03-03", "2026-03-04", false, "E"), newAssignment(warehouse, "2026-03-08", "2026-03-09", false, "L", ""),
			newAssignment(warehouse, "2026-03-28", "2026-03-29", false, "N", ""))
	}
	newest := w.newestAssignment()
	p := w.preview(change())
	texts := warningTexts(t, p.GetWarnings(), newest)
	require.Len(t, texts, 4, texts)
	assert.Contains(t, texts[0], "DUPLICATE_SHIFT of new for 6: 1 P1 [2026-03-02 2026-03-09")
	assert.Equal(t, "OVERLAPPING_SHIFT of new for 1: 3 P3 [2026-03-03] The shift 06:00-14:00 on 2026-03-03 overlaps the shift 10:00-18:00 on 2026-03-03: an entry made by hand.", texts[1])
	assert.Contains(t, texts[2], "SHORT_REST of new for 6: 1 P1 [2026-03-09] There are 8 h of rest between the shift 14:00-22:00 on 2026-03-08 and the shift 06:00-14:00 on 2026-03-09.")
	assert.Contains(t, texts[3], "CLOCK_CHANGE of new for 3: 2 P2 [2026-03-28] A clock change makes the shift 22:00-06:00 on 2026-03-28 1 h shorter.")
	assert.True(t, proto.Equal(&schedulingv1.SchedulePreview{Warnings: p.GetWarnings()}, &schedulingv1.SchedulePreview{Warnings: w.get(p.GetId()).GetWarnings()}))
	require.NoError(t, w.apply(change(), p.GetId()))
	w.settle()
	w.compareWarnings(p, newest)
}

func TestWarningsNameOnlyPersonsWhomTheCallerSees(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.makeEarly()
	repeated := newAssignment(warehouse, firstDay, "", false, "E", "", "", "", "", "", "")
	repeated.AllowDuplicate = proto.Bool(true)
	p, err := w.handler.CreateSchedulePreview(schedtest.As(t.Context(), 4, rowvisibility.Own), creation(repeated))
	require.NoError(t, err)
	require.Len(t, p.GetWarnings(), 1)
	assert.EqualValues(t, 1, p.GetWarnings()[0].GetEmployees())
	require.Len(t, p.GetWarnings()[0].GetPersons(), 1)
	assert.Equal(t, "P4", p.GetWarnings()[0].GetPersons()[0].GetEmployee().GetQualifier())
}
