package schedulepreview_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// world makes random changes.
type world struct {
	*fixture
	*rand.Rand
}

// In random worlds, the change does exactly what its preview has shown, shift by shift.
func TestTheChangeDoesWhatItsPreviewShows(t *testing.T) {
	t.Parallel()
	worlds, steps := 4, 16
	if testing.Short() {
		worlds = 1
	}
	for seed := range uint64(worlds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &world{newFixture(t), rand.New(rand.NewPCG(seed, 0x9e1))}
			changed := int64(0)
			for range steps {
				w.disturb()
				w.settle()
				changed += w.compareChange(w.anyChange())
			}
			assert.Greater(t, changed, int64(steps), "the changes must change schedules")
		})
	}
}

func (w *world) anyDate() string {
	first, err := civil.ParseDate(firstDay)
	require.NoError(w.t, err)
	return first.AddDays(w.IntN(40) - 6).String()
}

func (w *world) anyDays() (from, to string) {
	from, to = w.anyDate(), w.anyDate()
	switch {
	case from > to:
		from, to = to, from
	case from == to:
		to = ""
	}
	return from, to
}

func (w *world) anyPattern() []string {
	days := make([]string, 1+w.IntN(5))
	for i := range days {
		days[i] = []string{"", "E", "L", "N", "EL", "EN"}[w.IntN(6)]
	}
	days[0] = "E"
	return days
}

// disturb changes something that shapes the schedules and is no pattern.
func (w *world) disturb() {
	employee := int64(1 + w.IntN(employees))
	switch w.IntN(7) {
	case 0:
		first, err := civil.ParseDate(w.anyDate())
		require.NoError(w.t, err)
		w.Exec(w.t, `INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, $1, $2, $3)`,
			employee, first, first.AddDays(1+w.IntN(4)))
	case 1:
		change := w.anyDate()
		switch w.IntN(3) {
		case 0:
			w.setMember(employee, member{warehouse, memberFrom, change}, member{office, change, memberEnd})
		case 1:
			w.setMember(employee, member{office, memberFrom, change})
		default:
			w.setMember(employee, member{warehouse, memberFrom, memberEnd})
		}
	case 2:
		w.passOn(office, w.IntN(2) == 0)
	case 3:
		from, to := w.anyDays()
		if err := w.assignOwn(employee, from, to, w.IntN(3) == 0, w.anyPattern()...); err != nil {
			require.True(w.t, fault.HasCode(err, "WRL-30601") || fault.HasCode(err, "WFS-111203"), err)
		}
	default:
		list := w.readShifts(employee)
		if len(list) == 0 {
			return
		}
		w.editShift(list[w.IntN(len(list))])
	}
}

// editShift changes or deletes a shift. Locked days refuse that.
func (w *world) editShift(s *schedulingv1.Shift) {
	var err error
	if w.IntN(2) == 0 {
		_, err = w.shifts.DeleteShift(w.Ctx, &schedulingv1.DeleteShiftRequest{Id: s.GetId()})
	} else {
		s.Label, s.Segments = "changed", nil
		_, err = w.shifts.UpdateShift(w.Ctx, &schedulingv1.UpdateShiftRequest{Id: s.GetId(), Shift: s})
	}
	if !s.GetLocked() {
		require.NoError(w.t, err)
	}
}

// anyChange returns a change of patterns. It can be invalid.
func (w *world) anyChange() *schedulingv1.CreateSchedulePreviewRequest {
	ids, err := pg.Collect(w.Ctx, w.Pool, pgx.RowTo[int64], `SELECT id FROM pattern_assignment WHERE believed_until = 'infinity' ORDER BY id`)
	require.NoError(w.t, err)
	if w.IntN(3) == 0 {
		return w.anyUndo()
	}
	from, to := w.anyDays()
	if len(ids) < 2 || w.IntN(3) == 0 && len(ids) < 7 {
		list := []*schedulingv1.GroupSchedulePatternCreate{newAssignment([]int64{warehouse, office}[w.IntN(2)], from, to, w.IntN(3) == 0, w.anyPattern()...)}
		if w.IntN(3) == 0 {
			from, to := w.anyDays()
			list = append(list, newAssignment(warehouse, from, to, false, w.anyPattern()...))
		}
		return creation(list...)
	}
	id := ids[w.IntN(len(ids))]
	body := &schedulingv1.ApplyUpdateGroupSchedulePatterns{}
	replacement := &schedulingv1.GroupSchedulePattern{SchedulePattern: pattern(w.anyPattern()...), StartDateOffset: proto.Int32(w.Int32N(3))}
	switch w.IntN(6) {
	case 0:
		return &schedulingv1.CreateSchedulePreviewRequest{Delete: &schedulingv1.DeleteGroupSchedulePatterns{Ids: []int64{id}}}
	case 1:
		body.Recreate = &schedulingv1.RecreateGroupSchedulePatterns{Where: assignmentIDs(id), Do: &schedulingv1.RecreateGroupSchedulePattern{GroupSchedulePattern: replacement}}
	case 2:
		body.UpdateAsOfDate = &schedulingv1.UpdateGroupSchedulePatternsAsOfDate{Where: assignmentIDs(id), Do: &schedulingv1.UpdateGroupSchedulePatternAsOfDate{Date: from, GroupSchedulePattern: replacement}}
	case 3:
		body.UpdateEndDate = &schedulingv1.UpdateGroupSchedulePatternsEndDate{Where: assignmentIDs(id), Do: &schedulingv1.UpdateGroupSchedulePatternEndDate{Date: to}}
	case 4:
		body.Remove = &schedulingv1.RemoveGroupSchedulePatterns{Where: assignmentIDs(id), Do: &schedulingv1.RemovedDays{StartDate: from, EndDate: to}}
	default:
		body.RemoveByGroups = &schedulingv1.RemoveGroupSchedulePatternsByGroups{
			Where: &schedulingv1.GroupRefs{GroupRefs: []*commonv1.Ref{{Id: proto.Int64(warehouse)}}},
			Do:    &schedulingv1.RemovedDays{StartDate: from, EndDate: to},
		}
	}
	return &schedulingv1.CreateSchedulePreviewRequest{ApplyUpdate: body}
}

// anyUndo returns the undo of one of the newest propagations. It can be impossible.
func (w *world) anyUndo() *schedulingv1.CreateSchedulePreviewRequest {
	ids, err := pg.Collect(w.Ctx, w.Pool, pgx.RowTo[int64], `SELECT id FROM propagation WHERE cause <> 'MEMBERSHIP' ORDER BY id DESC LIMIT 6`)
	require.NoError(w.t, err)
	if len(ids) == 0 {
		return undoing(w.newest(), "")
	}
	return undoing(ids[w.IntN(len(ids))], []string{"", "STRICT", "REMAINING"}[w.IntN(3)])
}

// compareChange previews a change and makes it, and returns the number of changed employees.
func (w *world) compareChange(change *schedulingv1.CreateSchedulePreviewRequest) int64 {
	change.Window = &schedulingv1.PreviewWindow{StartDate: firstDay, EndDate: lastDay}
	p, refused := w.previews.CreateSchedulePreview(w.Ctx, change)
	if refused != nil {
		require.EqualError(w.t, w.apply(change, 0), refused.Error(), "the preview is refused like the change")
		return 0
	}
	shown := w.readPreview(p.GetId())
	require.Len(w.t, shown, int(p.GetSummary().GetEmployeesChanged()))
	before, spans := map[int64][]*schedulingv1.Shift{}, map[int64][]string{}
	for id := int64(1); id <= employees; id++ {
		before[id], spans[id] = w.readShifts(id), w.readSpans(id)
	}
	newest := w.newestAssignment()
	require.NoError(w.t, w.apply(change, p.GetId()))
	w.settle()
	w.compareWarnings(p, newest)
	var added, removed, changed int64
	for id := int64(1); id <= employees; id++ {
		after := w.readShifts(id)
		if shown[id] == nil {
			require.Equal(w.t, contents(before[id]), contents(after), "employee %d", id)
			require.Equal(w.t, spans[id], w.readSpans(id), "employee %d", id)
			continue
		}
		require.Equal(w.t, dayTexts(before[id]), previewTexts(shown[id].GetBefore()), "employee %d", id)
		require.Equal(w.t, dayTexts(after), previewTexts(shown[id].GetAfter()), "employee %d", id)
		require.Equal(w.t, spans[id], spanTexts(w.t, shown[id].GetBefore()), "employee %d", id)
		require.Equal(w.t, w.readSpans(id), spanTexts(w.t, shown[id].GetAfter()), "employee %d", id)
		a, r, c := countChanges(before[id], after)
		added, removed, changed = added+a, removed+r, changed+c
	}
	sums := p.GetSummary()
	require.Equal(w.t, []int64{added, removed, changed}, []int64{sums.GetShiftsAdded(), sums.GetShiftsRemoved(), sums.GetShiftsChanged()})
	return sums.GetEmployeesChanged()
}

// content returns a shift as text, without its ids.
func content(s *schedulingv1.Shift) string {
	c := proto.CloneOf(s)
	c.Id, c.Version, c.Relations = nil, nil, nil
	for _, segment := range c.GetSegments() {
		segment.Id = nil
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func contents(list []*schedulingv1.Shift) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = content(s)
	}
	slices.Sort(out)
	return out
}

// countChanges counts the differences of an employee's shifts in another way than the product.
func countChanges(before, after []*schedulingv1.Shift) (added, removed, changed int64) {
	left := map[string]map[string]int64{}
	count := func(list []*schedulingv1.Shift, by int64) {
		for _, s := range list {
			day := s.GetStartDateTime()[:10]
			if left[day] == nil {
				left[day] = map[string]int64{}
			}
			left[day][content(s)] += by
		}
	}
	count(before, -1)
	count(after, 1)
	for _, day := range left {
		more, less := int64(0), int64(0)
		for _, n := range day {
			more, less = more+max(n, 0), less+max(-n, 0)
		}
		pairs := min(more, less)
		added, removed, changed = added+more-pairs, removed+less-pairs, changed+pairs
	}
	return added, removed, changed
}

// dayTexts lists shifts: "start end label generated".
func dayTexts(list []*schedulingv1.Shift) []string {
	out := []string{}
	for _, s := range list {
		out = append(out, fmt.Sprint(s.GetStartDateTime(), " ", s.GetEndDateTime(), " ", s.GetLabel(), " ", s.GetGenerated()))
	}
	slices.Sort(out)
	return out
}

func previewTexts(s *schedulingv1.PreviewedSchedule) []string {
	out := []string{}
	for _, day := range s.GetDays() {
		for _, shift := range day.GetShifts() {
			if !strings.HasPrefix(shift.GetStartDateTime(), day.GetDate()) {
				panic("a shift on another day")
			}
			out = append(out, fmt.Sprint(shift.GetStartDateTime(), " ", shift.GetEndDateTime(), " ", shift.GetLabel(), " ", shift.GetGenerated()))
		}
	}
	slices.Sort(out)
	return out
}

func spanTexts(t *testing.T, s *schedulingv1.PreviewedSchedule) []string {
	t.Helper()
	out := []string{}
	for _, p := range s.GetSpans() {
		end := civil.Forever
		if p.GetEndDate() != "" {
			last, err := civil.ParseDate(p.GetEndDate())
			require.NoError(t, err)
			end = last.AddDays(1)
		}
		out = append(out, fmt.Sprintf("%s %s %d/%d", p.GetStartDate(), end, p.GetCycleDay()-1, p.GetDayCount()))
	}
	slices.Sort(out)
	return out
}
