package timekeeping_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

func ref(qualifier string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &qualifier} }

func refID(id int64) *commonv1.Ref { return &commonv1.Ref{Id: &id} }

// newCase is a case of person 1, open from March on.
func newCase(change ...func(*timekeepingv1.LeaveCase)) *timekeepingv1.LeaveCase {
	c := &timekeepingv1.LeaveCase{
		Employee: &timekeepingv1.LeaveEmployee{Qualifier: proto.String("P1")},
		Category: ref("medical"), Reason: refID(7), Frequency: refID(1), Status: ref("Open"), ApprovalStatus: refID(3),
		StartDate: "2026-03-01", EndDate: "2026-04-30", RequestDate: "2026-02-01", FrequencyEffectiveDate: "2026-03-01",
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func (b *fixture) createCase(t *testing.T, ctx context.Context, change ...func(*timekeepingv1.LeaveCase)) *timekeepingv1.LeaveCase {
	t.Helper()
	c, err := b.leaveCases.CreateLeaveCase(ctx, newCase(change...))
	require.NoError(t, err)
	return c
}

// newEdit takes hours on a date.
func newEdit(date string, hours int64, change ...func(*timekeepingv1.LeaveEdit)) *timekeepingv1.LeaveEdit {
	segment := func() *timekeepingv1.LeaveSegment {
		return &timekeepingv1.LeaveSegment{AmountInSeconds: proto.Int64(hours * 3600)}
	}
	e := &timekeepingv1.LeaveEdit{Date: date, PaidSegment: segment(), TrackingSegment: segment()}
	for _, f := range change {
		f(e)
	}
	return e
}

func (b *fixture) take(ctx context.Context, c *timekeepingv1.LeaveCase, start string, edits ...*timekeepingv1.LeaveEdit) ([]*timekeepingv1.LeaveEdit, error) {
	out, err := b.leaveEdits.CreateLeaveEdits(ctx, &timekeepingv1.CreateLeaveEditsRequest{
		LeaveCase: refID(c.GetId()), StartTime: start, LeaveEdits: edits,
	})
	return out.GetLeaveEdits(), err
}

func TestLeaveCaseRules(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	type c = timekeepingv1.LeaveCase
	for code, change := range map[string][]func(*c){
		"WFL-100151": {func(c *c) { c.Employee = nil }},
		"WFL-100022": {func(c *c) { c.Employee = &timekeepingv1.LeaveEmployee{} }},
		"WFL-100199": {func(c *c) { c.Employee.Qualifier = proto.String("P999") }},
		"WFL-100012": {func(c *c) { c.Category = nil }},
		"WFL-100003": {func(c *c) { c.Category = ref("Holidays") }, func(c *c) { c.Category.Id = proto.Int64(99) }},
		"WFL-100013": {func(c *c) { c.Reason = &commonv1.Ref{} }},
		"WFL-100004": {func(c *c) { c.Reason = refID(99) }},
		"WFL-100028": {func(c *c) { c.Category = ref("Family") }},
		"WFL-100007": {func(c *c) { c.Frequency = nil }},
		"WFL-100018": {func(c *c) { c.Frequency = ref("Daily") }},
		"WFL-100010": {func(c *c) { c.Status = nil }},
		"WFL-100017": {func(c *c) { c.Status = refID(9) }},
		"WFL-100011": {func(c *c) { c.ApprovalStatus = nil }},
		"WFL-100002": {func(c *c) { c.ApprovalStatus = ref("Maybe") }},
		"WFL-100008": {func(c *c) { c.StartDate = "" }},
		"WFL-100009": {func(c *c) { c.RequestDate = "" }},
		"WFL-100043": {func(c *c) { c.FrequencyEffectiveDate = "" }},
		"WFL-100040": {func(c *c) { c.EndDate = "2026-02-28" }},
		"WFL-100031": {func(c *c) { c.StartDate = "2019-12-31" }},
		"WFL-100051": {func(c *c) { c.CaseCode = strings.Repeat("x", 51) }, func(c *c) { c.Code = strings.Repeat("é", 101) }},
		"WFL-100111": {func(c *c) { c.CaseCode = "a%b" }, func(c *c) { c.Code = "<a>" }},
		"WFP-90100":  {func(c *c) { c.EndDate = "2026-02-30" }},
	} {
		for _, f := range change {
			_, err := b.leaveCases.CreateLeaveCase(ctx, newCase(f))
			assertCode(t, err, 400, code)
		}
	}
	_, err := b.leaveCases.CreateLeaveCase(ctx, &c{})
	assertCode(t, err, 400, "WFL-100046")
	b.createCase(t, ctx, func(c *c) { c.StartDate, c.EndDate = "2020-01-01", "" }) // on the day of hire, open-ended
	b.createCase(t, ctx, func(c *c) { c.StartDate, c.Code = "2026-04-30", strings.Repeat("é", 100) })
	_, err = b.leaveCases.CreateLeaveCase(ctx, newCase(func(c *c) { c.Code = strings.Repeat("é", 100) }))
	assertCode(t, err, 400, "WFL-100109")
}

func TestLeaveCaseLife(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	made := b.createCase(t, ctx, func(c *timekeepingv1.LeaveCase) { c.CaseCode = "Case 1" })
	assert.Equal(t, "Person 1", made.GetEmployee().GetFullName())
	assert.Equal(t, "Own illness", made.GetReason().GetName())
	other := b.createCase(t, ctx)
	assert.Regexp(t, `^2026-\d{4}$`, other.GetCaseCode())

	got, err := b.leaveCases.FindLeaveCase(ctx, &timekeepingv1.FindLeaveCaseRequest{Code: proto.String("CASE 1")})
	require.NoError(t, err)
	assertSame(t, made, got)
	_, err = b.leaveCases.GetLeaveCase(inTenant(t, 2), &timekeepingv1.GetLeaveCaseRequest{Id: made.GetId()})
	assertCode(t, err, 404, "WFL-100029")

	_, err = b.take(ctx, made, "08:00", newEdit("2026-03-10", 8), newEdit("2026-03-20", 8))
	require.NoError(t, err)
	change := func(f func(*timekeepingv1.LeaveCase)) error {
		c := &timekeepingv1.LeaveCase{Id: made.Id}
		f(c)
		_, err := b.leaveCases.UpdateLeaveCase(ctx, c)
		return err
	}
	type c = timekeepingv1.LeaveCase
	assertCode(t, change(func(c *c) { c.StartDate, c.FrequencyEffectiveDate = "2026-03-11", "2026-03-11" }), 400, "WFL-100001")
	assertCode(t, change(func(c *c) { c.EndDate = "2026-03-19" }), 400, "WFL-100016")
	assertCode(t, change(func(c *c) { c.FrequencyEffectiveDate = "2026-05-01" }), 400, "WFL-100044")
	assertCode(t, change(func(c *c) { c.Employee = &timekeepingv1.LeaveEmployee{Id: proto.Int64(2)} }), 400, "API-10001")
	assertCode(t, change(func(c *c) { c.CaseCode = other.GetCaseCode() }), 400, "WFL-100109")
	require.NoError(t, change(func(c *c) {
		c.StartDate, c.EndDate, c.FrequencyEffectiveDate = "2026-03-10", "2026-03-20", "2026-03-20"
	}))
	require.NoError(t, change(func(c *c) { c.Status = ref("closed") }))
	assertCode(t, change(func(c *c) { c.EndDate = "2026-03-25" }), 400, "WFL-100042")
	_, err = b.take(ctx, made, "", newEdit("2026-03-11", 8))
	assertCode(t, err, 400, "WFL-100042")
	require.NoError(t, change(func(c *c) { c.Status = ref("submitted") }))
	_, err = b.take(ctx, made, "", newEdit("2026-03-11", 8))
	assertCode(t, err, 400, "WFL-100039")

	del := &timekeepingv1.DeleteLeaveCaseRequest{LeaveCase: refID(made.GetId())}
	_, err = b.leaveCases.DeleteLeaveCase(ctx, del)
	assertCode(t, err, 400, "WFL-100041")
	del.DeleteEdits = proto.Bool(true)
	_, err = b.leaveCases.DeleteLeaveCase(ctx, del)
	require.NoError(t, err)
	_, err = b.leaveCases.DeleteLeaveCase(ctx, del)
	assertCode(t, err, 400, "WFL-100029")

	states := b.leave.takeStates()
	require.Len(t, states, 4, "made, closed, submitted, deleted")
	for i, state := range states {
		assert.Equal(t, int64(i+1), state.GetVersion())
	}
	assert.EqualValues(t, 2, states[1].GetLeaveEdits()[0].GetLeaveCaseStatus(), "closed")
	assert.Empty(t, states[3].GetLeaveEdits())
}

func TestLeaveEditTimes(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	c := b.createCase(t, ctx)
	type e = timekeepingv1.LeaveEdit
	for name, test := range map[string]struct {
		start, date string
		hours       int64
		change      func(*e)
		want        [2]string
	}{
		"a start for all":                       {"09:00", "2026-03-02", 8, nil, [2]string{"2026-03-02T09:00:00.000", "2026-03-02T17:00:00.000"}},
		"no start":                              {"", "2026-03-03", 8, nil, [2]string{"2026-03-03T00:00:00.000", "2026-03-03T08:00:00.000"}},
		"half a day, start or not":              {"09:00", "2026-03-04", 8, func(e *e) { e.PaidSegment.SymbolicValue = "HALF_DAY" }, [2]string{"2026-03-04T00:00:00.000", "2026-03-04T08:00:00.000"}},
		"past midnight":                         {"", "", 8, func(e *e) { e.StartDateTime = "2026-03-02T22:00:00" }, [2]string{"2026-03-02T22:00:00.000", "2026-03-03T06:00:00.000"}},
		"the night that begins on the last day": {"", "", 8, func(e *e) { e.StartDateTime = "2026-04-30T22:00:00" }, [2]string{"2026-04-30T22:00:00.000", "2026-05-01T06:00:00.000"}},
		"several days": {
			"", "", 8, func(e *e) { e.StartDateTime, e.EndDateTime = "2026-03-02T00:00:00", "2026-03-07T00:00:00" },
			[2]string{"2026-03-02T00:00:00.000", "2026-03-07T00:00:00.000"},
		},
		"real hours across a clock change": {"00:00", "2026-03-29", 8, nil, [2]string{"2026-03-29T00:00:00.000", "2026-03-29T09:00:00.000"}},
		"a start that does not exist":      {"02:30", "2026-03-29", 1, nil, [2]string{"2026-03-29T03:30:00.000", "2026-03-29T04:30:00.000"}},
	} {
		t.Run(name, func(t *testing.T) {
			edit := newEdit(test.date, test.hours)
			if test.change != nil {
				test.change(edit)
			}
			made, err := b.take(ctx, c, test.start, edit)
			require.NoError(t, err, name)
			assert.Equal(t, test.want, [2]string{made[0].GetStartDateTime(), made[0].GetEndDateTime()}, name)
			_, err = b.leaveEdits.DeleteLeaveEdit(ctx, &timekeepingv1.DeleteLeaveEditRequest{Id: made[0].GetId()})
			require.NoError(t, err, "the day is free for the next case")
		})
	}
}

func TestLeaveEditRules(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	c, other := b.createCase(t, ctx), b.createCase(t, ctx)
	foreign, err := b.take(ctx, other, "", newEdit("2026-03-02", 8))
	require.NoError(t, err)
	type e = timekeepingv1.LeaveEdit
	override := func(id int64, amount *int64) *timekeepingv1.LeaveOverrideSegment {
		return &timekeepingv1.LeaveOverrideSegment{PayCode: refID(id), AmountInSeconds: amount}
	}
	for code, changes := range map[string][]func(*e){
		"WFL-100030": {
			func(e *e) { e.Date = "2026-02-28" }, func(e *e) { e.Date = "2026-05-01" },
			func(e *e) { e.Date, e.StartDateTime = "", "2026-05-01T00:00:00" },
			func(e *e) {
				e.Date, e.StartDateTime, e.EndDateTime = "", "2026-04-30T22:00:00", "2026-05-01T22:00:01"
			},
		},
		"WFL-100032": {func(e *e) { e.Date = "" }},
		"WFL-100034": {func(e *e) { e.PaidSegment = nil }},
		"WFL-100035": {func(e *e) { e.TrackingSegment = nil }},
		"WFL-100036": {func(e *e) { e.PaidSegment.AmountInSeconds = nil }},
		"WFL-100037": {func(e *e) { e.TrackingSegment.AmountInSeconds = proto.Int64(-1) }},
		"WFL-100038": {func(e *e) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{{AmountInSeconds: proto.Int64(1)}}
		}},
		"WFL-100098": {func(e *e) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{override(1, proto.Int64(1)), override(1, proto.Int64(2))}
		}, func(e *e) {
			e.OverrideSegments = []*timekeepingv1.LeaveOverrideSegment{override(1, proto.Int64(1)), override(2, proto.Int64(2))}
			e.OverrideSegments[0].PayCode.Qualifier, e.OverrideSegments[1].PayCode = proto.String("V"), &commonv1.Ref{Qualifier: proto.String("V")}
		}},
		"WFL-100156": {func(e *e) { e.EndDateTime = "2026-03-02T10:00:00" }},
		"WFL-100040": {func(e *e) { e.StartDateTime, e.EndDateTime = "2026-03-02T10:00:00", "2026-03-02T09:00:00" }},
		"WFL-100238": {func(e *e) { e.PaidSegment.AmountInSeconds = proto.Int64(367 * 86400) }},
		"WFL-100128": {func(e *e) { e.Id = proto.Int64(999) }},
		"WFL-100120": {
			func(e *e) { e.Id = foreign[0].Id }, func(e *e) { e.LeaveCase = refID(other.GetId()) },
			func(e *e) { e.LeaveCase = &commonv1.Ref{Qualifier: proto.String(other.GetCaseCode())} },
		},
		"WFP-90010": {func(e *e) { e.PaidSegment.SymbolicValue = "A_DAY" }},
		"API-10001": {
			func(e *e) { e.StartDateTime = "2026-03-03T10:00:00" },
			func(e *e) { e.Employee = &timekeepingv1.LeaveEmployee{Id: proto.Int64(4711)} },
			func(e *e) { e.Employee = &timekeepingv1.LeaveEmployee{Qualifier: proto.String("Somebody")} },
		},
	} {
		for _, change := range changes {
			_, err := b.take(ctx, c, "", newEdit("2026-03-02", 8, change))
			assertCode(t, err, 400, code)
		}
	}
	_, err = b.take(ctx, c, "")
	assertCode(t, err, 400, "WFL-100122")
	_, err = b.leaveEdits.CreateLeaveEdits(ctx, &timekeepingv1.CreateLeaveEditsRequest{LeaveEdits: []*e{newEdit("2026-03-02", 1)}})
	assertCode(t, err, 400, "WFL-100150")
	_, err = b.leaveEdits.CreateLeaveEdits(ctx, &timekeepingv1.CreateLeaveEditsRequest{LeaveCase: &commonv1.Ref{}, LeaveEdits: []*e{newEdit("2026-03-02", 1)}})
	assertCode(t, err, 400, "WFL-100033")
}

func TestLeaveEditLife(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	c := b.createCase(t, ctx)
	made, err := b.take(ctx, c, "08:00", newEdit("2026-03-02", 8), newEdit("2026-03-03", 4), newEdit("2026-03-04", 2))
	require.NoError(t, err)
	_, err = b.take(ctx, c, "", newEdit("2026-03-05", 1, func(e *timekeepingv1.LeaveEdit) { e.Id = made[0].Id }), newEdit("2026-03-06", 1))
	require.NoError(t, err)

	read := func(first, last, mode string) *timekeepingv1.LeaveEditsRead {
		out, err := b.leaveEdits.MultiReadLeaveEdits(ctx, &timekeepingv1.MultiReadLeaveEditsRequest{
			Employees: &commonv1.RefList{Qualifiers: []string{"P1", "P2", "P1"}},
			DateRange: &commonv1.DateRange{StartDate: first, EndDate: last}, LeaveEditSearchTypeEnum: mode,
		})
		require.NoError(t, err)
		return out
	}
	all := read("2026-03-03", "2026-03-04", "")
	require.Len(t, all.GetLeaveEdits().GetLeaveEdits(), 2)
	assert.Equal(t, int64(6*3600), all.GetTotals().GetPaidContinuousEdits())
	assert.Len(t, read("2026-03-03", "2026-03-03", "BY_LEAVE_CASE_DATES").GetLeaveEdits().GetLeaveEdits(), 4)
	assert.Empty(t, read("2026-06-01", "2026-06-30", "BY_LEAVE_CASE_DATES").GetLeaveEdits().GetLeaveEdits())

	remove := func(req *timekeepingv1.MultiDeleteLeaveEditsRequest) {
		req.LeaveCase = refID(c.GetId())
		_, err := b.leaveEdits.MultiDeleteLeaveEdits(ctx, req)
		require.NoError(t, err)
	}
	remove(&timekeepingv1.MultiDeleteLeaveEditsRequest{Dates: []string{"2026-03-03"}})
	remove(&timekeepingv1.MultiDeleteLeaveEditsRequest{StartDate: "2026-03-05"})
	left := read("2026-03-01", "2026-03-31", "").GetLeaveEdits().GetLeaveEdits()
	require.Len(t, left, 1)
	assert.Equal(t, made[2].GetId(), left[0].GetId())

	states := b.leave.takeStates()
	require.Len(t, states, 4)
	assert.Len(t, states[3].GetLeaveEdits(), 1)
}

// The largest request is served, whether or not commons is asked for all employees.
func TestLeaveOfAsManyEmployeesAsMayBe(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	ctx := inTenant(t, 1)
	ids := make([]int64, 2000)
	for i := range ids {
		ids[i] = int64(i%200 + 1)
	}
	read := &timekeepingv1.MultiReadLeaveEditsRequest{
		Employees: &commonv1.RefList{Ids: ids},
		DateRange: &commonv1.DateRange{StartDate: "2026-01-01", EndDate: "2026-02-11"},
	}
	_, err := b.leaveEdits.MultiReadLeaveEdits(ctx, read)
	require.NoError(t, err, "2,000 employees and 42 days")
	read.Employees.Ids = append(ids, 1)
	_, err = b.leaveEdits.MultiReadLeaveEdits(ctx, read)
	assertCode(t, err, 413, "WFP-90001")
	read.Employees.Ids = append(ids[:1999], 4711)
	list, err := b.leaveEdits.MultiReadLeaveEdits(ctx, read)
	require.NoError(t, err)
	assert.Len(t, list.GetFailure().GetDetails().GetErrorOffsets(), 1, "the unknown employee")
}

// Leave that scheduling does not get while its request waits is stored, and handed over as
// soon as scheduling responds.
func TestLeaveFollowsWhenSchedulingResponds(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	c := b.createCase(t, ctx)
	b.leave.fail(errors.New("down"))
	_, err := b.take(ctx, c, "08:00", newEdit("2026-03-02", 8))
	assertCode(t, err, 503, "WRL-20950")
	assert.Empty(t, b.leave.takeStates())
	b.leave.fail(nil)
	require.Eventually(t, func() bool { return len(b.leave.takeStates()) > 0 }, 30*time.Second, 20*time.Millisecond)
	state := b.leave.takeStates()[0]
	assert.Equal(t, int64(1), state.GetEmployeeId())
	assert.Len(t, state.GetLeaveEdits(), 1)
	require.Eventually(t, func() bool {
		var waiting int
		require.NoError(t, b.pool.QueryRow(ctx, `SELECT count(*) FROM leave_report`).Scan(&waiting))
		return waiting == 0
	}, 10*time.Second, 20*time.Millisecond)
}

// After a restore, scheduling gets the leave of all employees again, above every version that
// it was given. Leave that timekeeping has lost goes from the schedule.
func TestLeaveIsHandedOverAgain(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	b.run(t)
	ctx := inTenant(t, 1)
	c := b.createCase(t, ctx)
	_, err := b.take(ctx, c, "08:00", newEdit("2026-03-02", 8))
	require.NoError(t, err)
	before := b.leave.takeStates()
	require.NotEmpty(t, before)
	newest := before[len(before)-1].GetVersion()
	const lost = 9
	require.NoError(t, pg.Unaudited("a restore").InTx(ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
		return timekeeping.HandOverAgain(ctx, tx, []int64{1, lost}, nil)
	}))
	require.Eventually(t, func() bool { return len(b.leave.takeStates()) >= len(before)+2 }, 30*time.Second, 20*time.Millisecond)
	edits := map[int64]int{}
	for _, state := range b.leave.takeStates()[len(before):] {
		assert.Greater(t, state.GetVersion(), newest)
		edits[state.GetEmployeeId()] = len(state.GetLeaveEdits())
	}
	assert.Equal(t, map[int64]int{1: 1, lost: 0}, edits)
}
