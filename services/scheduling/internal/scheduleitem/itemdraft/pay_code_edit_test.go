package itemdraft_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

// edit is a pay code edit of eight hours on 2 March 2026, changed as a test wants it.
func edit(change func(e *schedulingv1.PayCodeEdit)) *schedulingv1.PayCodeEdit {
	e := &schedulingv1.PayCodeEdit{PayCodeRef: refByName("Training"), StartDate: "2026-03-02", DurationInTime: proto.Int64(8 * 3600)}
	change(e)
	return e
}

// storePayCodeEdit returns the stored form of a pay code edit.
func storePayCodeEdit(t *testing.T, sent *schedulingv1.PayCodeEdit) (*itemdraft.Draft, *schedulingv1.PayCodeEdit) {
	t.Helper()
	draft, err := itemdraft.PayCodeEdit(sent, baker(t))
	require.NoError(t, err)
	out := &schedulingv1.PayCodeEdit{}
	require.NoError(t, proto.Unmarshal(draft.Body, out))
	return draft, out
}

func TestDaysOfPayCodeEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, start, end string
		code             string // "" for the days up to the last one
		last             civil.Date
	}{
		{"one without an end", "2026-03-02", "", "", civil.Of(2026, 3, 2)},
		{"one", "2026-03-02", "2026-03-02", "", civil.Of(2026, 3, 2)},
		{"several", "2026-03-02", "2026-03-06", "", civil.Of(2026, 3, 6)},
		{"a year and a day", "2026-03-02", "2027-03-02", "", civil.Of(2027, 3, 2)},
		{"more than that", "2026-03-02", "2027-03-03", itemfault.CodePayCodeEdit, 0},
		{"none", "", "2026-03-02", itemfault.CodePayCodeEdit, 0},
		{"backwards", "2026-03-02", "2026-03-01", itemfault.CodePayCodeEdit, 0},
		{"that are not there", "2026-02-29", "", fault.CodeDate, 0},
		{"with times", "2026-03-02T00:00:00", "", fault.CodeDate, 0},
		{"before the first", "1899-12-31", "1900-01-01", itemfault.CodePayCodeEdit, 0},
		{"after the last", "2999-12-31", "3000-01-01", itemfault.CodePayCodeEdit, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent := edit(func(e *schedulingv1.PayCodeEdit) { e.StartDate, e.EndDate = c.start, c.end })
			if c.code != "" {
				_, err := itemdraft.PayCodeEdit(sent, baker(t))
				faulttest.RequireCode(t, c.code, err)
				return
			}
			draft, out := storePayCodeEdit(t, sent)
			assert.Equal(t, c.last, draft.To)
			assert.Equal(t, civil.Through(draft.From, draft.To), draft.Occupies, "it belongs to all of its days")
			assert.Equal(t, []string{c.start, c.last.String()}, []string{out.GetStartDate(), out.GetEndDate()})
		})
	}
}

func TestAmountsOfPayCodeEdits(t *testing.T) {
	t.Parallel()
	type change = func(e *schedulingv1.PayCodeEdit)
	instead := func(change change) *schedulingv1.PayCodeEdit {
		return edit(func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = nil; change(e) })
	}
	for _, c := range []struct {
		name string
		sent *schedulingv1.PayCodeEdit
		code string
	}{
		{"none", instead(func(*schedulingv1.PayCodeEdit) {}), itemfault.CodePayCodeEdit},
		{"no time at all", edit(func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = proto.Int64(0) }), ""},
		{"as long as an edit can be", edit(func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = proto.Int64(366 * 86400) }), ""},
		{"longer", edit(func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = proto.Int64(366*86400 + 1) }), itemfault.CodePayCodeEdit},
		{"less than nothing", edit(func(e *schedulingv1.PayCodeEdit) { e.DurationInTime = proto.Int64(-1) }), itemfault.CodePayCodeEdit},
		{"half a day", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInDays = proto.Float64(0.5) }), ""},
		{"too many days", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInDays = proto.Float64(366.5) }), itemfault.CodePayCodeEdit},
		{"fewer days than none", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInDays = proto.Float64(-0.5) }), itemfault.CodePayCodeEdit},
		{"days that are no number", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInDays = proto.Float64(math.NaN()) }), itemfault.CodePayCodeEdit},
		{"hours and minutes", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInMinutes = "100:59" }), ""},
		{"sixty minutes", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInMinutes = "1:60" }), fault.CodeTime},
		{"negative hours", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInMinutes = "-1:00" }), fault.CodeTime},
		{"hours alone", instead(func(e *schedulingv1.PayCodeEdit) { e.DurationInMinutes = "8" }), fault.CodeTime},
		{"money", instead(func(e *schedulingv1.PayCodeEdit) { e.MoneyAmount = proto.Float64(-20) }), ""},
		{"money without end", instead(func(e *schedulingv1.PayCodeEdit) { e.MoneyAmount = proto.Float64(math.Inf(1)) }), itemfault.CodePayCodeEdit},
		{"money of a currency", instead(func(e *schedulingv1.PayCodeEdit) {
			e.MoneyCurrencyAmount = &schedulingv1.CurrencyAmount{Amount: proto.Float64(20)}
		}), ""},
		{"no money of a currency", instead(func(e *schedulingv1.PayCodeEdit) { e.MoneyCurrencyAmount = &schedulingv1.CurrencyAmount{} }), itemfault.CodePayCodeEdit},
		{"a symbolic value", instead(func(e *schedulingv1.PayCodeEdit) { e.SymbolicValueRef = refByName("Full day") }), ""},
		{"an empty symbolic value", instead(func(e *schedulingv1.PayCodeEdit) { e.SymbolicValueRef = refByName("") }), itemfault.CodePayCodeEdit},
		{"two times", instead(func(e *schedulingv1.PayCodeEdit) { e.StartTime, e.EndTime = "22:00", "06:00" }), ""},
		{"one time", instead(func(e *schedulingv1.PayCodeEdit) { e.StartTime = "22:00" }), itemfault.CodePayCodeEdit},
		{"a time that is none", edit(func(e *schedulingv1.PayCodeEdit) { e.EndTime = "24:00" }), fault.CodeTime},
		{"an unavailability that is none", edit(func(e *schedulingv1.PayCodeEdit) { e.UnavailabilityAmount = "8h" }), fault.CodeTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := itemdraft.PayCodeEdit(c.sent, baker(t))
			faulttest.RequireCode(t, c.code, err)
		})
	}
	_, out := storePayCodeEdit(t, edit(func(e *schedulingv1.PayCodeEdit) { e.StartTime, e.EndTime = "22:00", "06:30:15.5" }))
	assert.Equal(t, []string{"22:00:00", "06:30:15"}, []string{out.GetStartTime(), out.GetEndTime()}, "times are written in one way")
}

func TestPayCodeEditsNeedAnEmployeeAndAPayCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		employee *projection.Employee
		change   func(e *schedulingv1.PayCodeEdit)
		code     string
	}{
		{"both", baker(t), func(*schedulingv1.PayCodeEdit) {}, ""},
		{"no employee", nil, func(*schedulingv1.PayCodeEdit) {}, itemfault.CodeEmployeeMissing},
		{"no pay code", baker(t), func(e *schedulingv1.PayCodeEdit) { e.PayCodeRef = nil }, itemfault.CodePayCodeEdit},
		{"a pay code without a name", baker(t), func(e *schedulingv1.PayCodeEdit) { e.PayCodeRef = refByName("") }, itemfault.CodePayCodeEdit},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := itemdraft.PayCodeEdit(edit(c.change), c.employee)
			faulttest.RequireCode(t, c.code, err)
		})
	}
}

func TestJobsOfPayCodeEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		day     string // Shop/Baker is the primary job from 1 March 2026 on
		job     string
		entered *bool
		kept    bool
	}{
		{"the primary one as it is shown", "2026-03-02", "Shop/Baker", proto.Bool(false), false},
		{"the primary one that was entered", "2026-03-02", "Shop/Baker", proto.Bool(true), true},
		{"the primary one, of which nobody says how it came", "2026-03-02", "Shop/Baker", nil, true},
		{"another as it is shown", "2026-03-02", "Shop/Cashier", proto.Bool(false), true},
		{"one of a day without a primary job", "2026-02-28", "Shop/Baker", proto.Bool(false), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, out := storePayCodeEdit(t, edit(func(e *schedulingv1.PayCodeEdit) {
				e.StartDate, e.OrgJobRef, e.UserEnteredOrgJob = c.day, refByName(c.job), c.entered
			}))
			assert.Equal(t, c.kept, out.GetOrgJobRef().GetQualifier() == c.job, "%v", out)
			assert.Equal(t, c.kept, out.OrgJobRef != nil, "%v", out)
		})
	}
}
