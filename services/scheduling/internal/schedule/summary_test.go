package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// A segment that names no job is on the primary job of its day.
func TestSummariesCountThePrimaryJob(t *testing.T) {
	t.Parallel()
	const hour = 3600
	f := newFixture(t)
	f.employee(1, "UTC")
	f.employee(2, "UTC")
	moved := day(t, "2026-03-04")
	jobs, err := proto.Marshal(&commonsv1.PersonJobs{Jobs: []*commonsv1.PersonJob{
		{From: int32(civil.Beginning), To: int32(moved), Path: "Acme/A"}, {From: int32(moved), To: int32(civil.Forever), Path: "Acme/C"},
	}})
	require.NoError(t, err)
	f.Exec(t, `UPDATE employee SET primary_jobs = $1 WHERE id = 1`, jobs)
	onJob := func(s *schedulingv1.ShiftTemplateSegment, job *commonv1.Ref) *schedulingv1.ShiftTemplateSegment {
		s.OrgNode = job
		return s
	}
	p := f.pattern(cycle(1, shift(1, "08:00", "16:00",
		segment("08:00", "11:00", regular()), onJob(segment("11:00", "12:00", transfer()), ref(9, "Acme/A")),
		onJob(segment("12:00", "13:00", transfer()), &commonv1.Ref{Id: proto.Int64(9)}), segment("13:00", "16:00", regular()))))
	f.span(span{employee: 1, from: "2026-03-03", to: "2026-03-05", pattern: p})
	f.span(span{employee: 2, from: "2026-03-03", to: "2026-03-04", pattern: p})
	found, _, err := f.reader.ReadSummaries(f.Ctx, []int64{1, 2}, civil.Through(day(t, "2026-03-03"), moved))
	require.NoError(t, err)
	require.Len(t, found[1], 2)
	require.Len(t, found[2], 1)
	named := reading.JobSeconds{ID: 9, Seconds: hour}
	assert.Equal(t, []reading.JobSeconds{{Path: "Acme/A", Seconds: 7 * hour}, named}, found[1][0].Jobs)
	assert.Equal(t, []reading.JobSeconds{{Path: "Acme/C", Seconds: 6 * hour}, {Path: "Acme/A", Seconds: hour}, named}, found[1][1].Jobs)
	assert.Equal(t, []reading.JobSeconds{{Seconds: 6 * hour}, {Path: "Acme/A", Seconds: hour}, named}, found[2][0].Jobs, "an employee without a primary job")
}

func TestSummariesMatchTheSchedule(t *testing.T) {
	t.Parallel()
	const hour = 3600
	f := newFixture(t)
	f.employee(1, "Europe/Zurich")
	f.employee(2, "UTC")
	onJob := func(s *schedulingv1.ShiftTemplateSegment, job string) *schedulingv1.ShiftTemplateSegment {
		s.OrgNode = ref(9, job)
		return s
	}
	p := f.pattern(cycle(1, shift(1, "08:00", "16:30",
		onJob(segment("08:00", "12:00", regular()), "Acme/A"), segment("12:00", "12:30", pause()), onJob(segment("12:30", "16:30", transfer()), "Acme/B"))))
	night := f.pattern(cycle(1, shift(1, "22:00", "06:00")))
	f.span(span{employee: 1, from: "2025-03-29", to: "2025-03-30", pattern: night})
	f.span(span{employee: 1, from: "2025-04-01", to: "2025-04-04", pattern: p})
	f.span(span{employee: 2, from: "2025-03-27", to: "2025-03-29", pattern: night})
	f.lock(1, "2025-04-02", "2025-04-03")
	f.leaveEdit(71, 1, "2025-04-03", "08:00", "2025-04-03", "12:00", 4*hour, "")
	f.item(501, 1, "SHIFT", "2025-04-05", "2025-04-05", &schedulingv1.Shift{
		StartDateTime: "2025-04-05T10:00:00", EndDateTime: "2025-04-05T12:00:00", Label: "X",
	})
	f.item(502, 1, "PAY_CODE_EDIT", "2025-04-05", "2025-04-05", &schedulingv1.PayCodeEdit{
		PayCodeRef: ref(3, "Sick"), StartDate: "2025-04-05", EndDate: "2025-04-05", DurationInTime: proto.Int64(2 * hour),
	})

	days := civil.Through(day(t, "2025-03-29"), day(t, "2025-04-05"))
	found, locked, err := f.reader.ReadSummaries(f.Ctx, []int64{2, 1, 99}, days)
	require.NoError(t, err)
	assert.Empty(t, found[2], "a shift belongs to the day on which it starts")
	list := found[1]
	require.Len(t, list, 7)
	assert.EqualValues(t, 7*hour, list[0].Seconds, "the clock goes forward in this night")
	assert.True(t, list[0].Generated)
	first := list[1]
	assert.EqualValues(t, 8*hour, first.Seconds)
	assert.EqualValues(t, hour/2, first.Breaks)
	assert.Equal(t, []reading.JobSeconds{{Path: "Acme/A", Seconds: 4 * hour}, {Path: "Acme/B", Seconds: 4 * hour}}, first.Jobs)
	assert.Equal(t, "Early", first.Label)
	assert.EqualValues(t, 8*hour+hour/2, first.End-first.Start)
	assert.True(t, list[2].Locked && !first.Locked)
	leave, masked := list[3], list[4]
	assert.Equal(t, reading.LeaveEditSummary, leave.Kind)
	assert.EqualValues(t, 4*hour, leave.Seconds)
	assert.EqualValues(t, 4*hour, masked.Seconds, "leave is taken from the shift")
	assert.True(t, masked.Generated)
	assert.Equal(t, []reading.JobSeconds{{Path: "Acme/B", Seconds: 4 * hour}}, masked.Jobs)
	edit, entered := list[5], list[6]
	assert.Equal(t, reading.PayCodeEditSummary, edit.Kind)
	assert.Equal(t, "Sick", edit.Label)
	assert.EqualValues(t, 2*hour, edit.Seconds)
	assert.EqualValues(t, 2*hour, entered.Seconds)
	assert.False(t, entered.Generated)
	assert.Equal(t, map[int64][]civil.Range{1: {civil.Through(day(t, "2025-04-02"), day(t, "2025-04-02"))}}, locked)
}
