package leavecase

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

func ref(name string) *commonv1.Ref { return &commonv1.Ref{Qualifier: proto.String(name)} }

// goodCase is a case that nothing is wrong with.
func goodCase() *timekeepingv1.LeaveCase {
	return &timekeepingv1.LeaveCase{
		Category: ref("medical"), Reason: ref("SURGERY"), Frequency: ref("Continuous"), Status: ref("Open"), ApprovalStatus: ref("Approved"),
		StartDate: "2026-03-02", EndDate: "2026-03-31", RequestDate: "2026-02-01", FrequencyEffectiveDate: "2026-03-02",
		CaseCode: "M-1", Code: "own",
	}
}

func TestCasesThatAreRefused(t *testing.T) {
	t.Parallel()
	hired := civil.Of(2026, 3, 3)
	tests := []struct {
		name, code string
		change     func(c *timekeepingv1.LeaveCase)
		who        person.Person
	}{
		{"no category", CodeCategoryMissing, func(c *timekeepingv1.LeaveCase) { c.Category = nil }, person.Person{}},
		{"an empty category", CodeCategoryMissing, func(c *timekeepingv1.LeaveCase) { c.Category = &commonv1.Ref{} }, person.Person{}},
		{"an unknown category", CodeCategoryUnknown, func(c *timekeepingv1.LeaveCase) { c.Category = ref("Sabbatical") }, person.Person{}},
		{"no reason", CodeReasonMissing, func(c *timekeepingv1.LeaveCase) { c.Reason = nil }, person.Person{}},
		{"an unknown reason", CodeReasonUnknown, func(c *timekeepingv1.LeaveCase) { c.Reason = &commonv1.Ref{Id: proto.Int64(99)} }, person.Person{}},
		{"a reason of another category", CodeReasonOfOther, func(c *timekeepingv1.LeaveCase) { c.Reason = ref("Jury duty") }, person.Person{}},
		{"no frequency", CodeFrequencyMissing, func(c *timekeepingv1.LeaveCase) { c.Frequency = nil }, person.Person{}},
		{"an unknown frequency", CodeFrequencyUnknown, func(c *timekeepingv1.LeaveCase) { c.Frequency = ref("Often") }, person.Person{}},
		{"no status", CodeStatusMissing, func(c *timekeepingv1.LeaveCase) { c.Status = nil }, person.Person{}},
		{"an unknown status", CodeStatusUnknown, func(c *timekeepingv1.LeaveCase) { c.Status = ref("Lost") }, person.Person{}},
		{"no approval status", CodeApprovalMissing, func(c *timekeepingv1.LeaveCase) { c.ApprovalStatus = nil }, person.Person{}},
		{"an unknown approval status", CodeApprovalUnknown, func(c *timekeepingv1.LeaveCase) { c.ApprovalStatus = ref("Perhaps") }, person.Person{}},
		{"no start", CodeStartMissing, func(c *timekeepingv1.LeaveCase) { c.StartDate = "" }, person.Person{}},
		{"no request date", CodeRequestDateMissing, func(c *timekeepingv1.LeaveCase) { c.RequestDate = "" }, person.Person{}},
		{"no date of the frequency", CodeFrequencyDateMissing, func(c *timekeepingv1.LeaveCase) { c.FrequencyEffectiveDate = "" }, person.Person{}},
		{"a start that is no date", fault.CodeDate, func(c *timekeepingv1.LeaveCase) { c.StartDate = "2026-02-30" }, person.Person{}},
		{"an end that is no date", fault.CodeDate, func(c *timekeepingv1.LeaveCase) { c.EndDate = "31.3.2026" }, person.Person{}},
		{"an end before the start", CodeStartAfterEnd, func(c *timekeepingv1.LeaveCase) { c.EndDate = "2026-03-01" }, person.Person{}},
		{"a case code that is too long", CodeTooLong, func(c *timekeepingv1.LeaveCase) { c.CaseCode = strings.Repeat("é", maxCaseCode+1) }, person.Person{}},
		{"a code that is too long", CodeTooLong, func(c *timekeepingv1.LeaveCase) { c.Code = strings.Repeat("x", maxCode+1) }, person.Person{}},
		{"a reserved character", CodeReserved, func(c *timekeepingv1.LeaveCase) { c.CaseCode = "a|b" }, person.Person{}},
		{"a start before the employment", CodeBeforeHire, func(*timekeepingv1.LeaveCase) {}, person.Person{HireDate: &hired}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := goodCase()
			test.change(c)
			_, err := newDraft(c, test.who)
			assert.True(t, fault.HasCode(err, test.code), "%v", err)
		})
	}
}

func TestCasesAreStoredInOneForm(t *testing.T) {
	t.Parallel()
	sent := goodCase()
	sent.Id, sent.EmployeeFullName, sent.LongCaseCode = proto.Int64(7), "Somebody", "M-1 Surgery"
	sent.CaseCode, sent.Code = strings.Repeat("é", maxCaseCode), strings.Repeat("x", maxCode)
	before := proto.CloneOf(sent)
	hired := civil.Of(2026, 3, 2)
	d, err := newDraft(sent, person.Person{HireDate: &hired})
	require.NoError(t, err)
	assert.True(t, proto.Equal(before, sent), "what was sent stays as it is")
	assert.Equal(t, civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 31)), d.days)
	assert.Equal(t, "Surgery", d.body.GetReason().GetName(), "names have the spelling of the list")
	assert.EqualValues(t, 2, d.body.GetCategory().GetId())
	assert.Nil(t, d.body.Id)
	assert.Empty(t, d.body.GetEmployeeFullName()+d.body.GetLongCaseCode())

	sent.EndDate = ""
	d, err = newDraft(sent, person.Person{})
	require.NoError(t, err)
	assert.Equal(t, civil.Forever, d.days.To, "a case without an end goes on")
}

func TestChangesOfCases(t *testing.T) {
	t.Parallel()
	stored := func(status string) *Case {
		body := goodCase()
		body.Status = ref(status)
		d, err := newDraft(body, person.Person{})
		require.NoError(t, err)
		return &Case{ID: 7, Days: d.days, body: d.body}
	}
	tests := []struct {
		name, status string
		change       *timekeepingv1.LeaveCase
		code         string
	}{
		{"an open case", "Open", &timekeepingv1.LeaveCase{EndDate: "2026-04-30"}, ""},
		{"a case is closed", "Open", &timekeepingv1.LeaveCase{Status: ref("Closed")}, ""},
		{"a closed case is opened", "Closed", &timekeepingv1.LeaveCase{Status: ref("Open"), EndDate: "2026-04-30"}, ""},
		{"a closed case", "Closed", &timekeepingv1.LeaveCase{EndDate: "2026-04-30"}, CodeClosed},
		{"the frequency holds from the last day on", "Open", &timekeepingv1.LeaveCase{FrequencyEffectiveDate: "2026-03-31"}, ""},
		{"the frequency holds from after the case", "Open", &timekeepingv1.LeaveCase{FrequencyEffectiveDate: "2026-04-01"}, CodeFrequencyDateOutside},
		{"the frequency holds from before the case", "Open", &timekeepingv1.LeaveCase{FrequencyEffectiveDate: "2026-03-01"}, CodeFrequencyDateOutside},
		{"the case begins after its frequency", "Open", &timekeepingv1.LeaveCase{StartDate: "2026-03-03"}, CodeFrequencyDateOutside},
		{"the reason is of another category", "Open", &timekeepingv1.LeaveCase{Category: ref("Family")}, CodeReasonOfOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			old := stored(test.status)
			d, err := changedDraft(test.change, old, person.Person{})
			if test.code != "" {
				assert.True(t, fault.HasCode(err, test.code), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "M-1", d.body.GetCaseCode(), "what is left out stays")
			assert.Equal(t, "2026-03-31", old.body.GetEndDate(), "the stored one is not changed")
		})
	}
}

func TestOnlyOpenCasesTakeEdits(t *testing.T) {
	t.Parallel()
	for status, code := range map[int64]string{
		leavesetup.StatusOpen: "", leavesetup.StatusClosed: CodeClosed, leavesetup.StatusSubmitted: CodeSubmitted,
	} {
		entry, ok := leavesetup.Statuses().Find(&commonv1.Ref{Id: proto.Int64(status)})
		require.True(t, ok)
		t.Run(entry.Name, func(t *testing.T) {
			t.Parallel()
			err := (&Case{body: &timekeepingv1.LeaveCase{Status: entry.Ref()}}).CheckOpen()
			assert.Equal(t, code == "", err == nil)
			assert.Equal(t, code != "", fault.HasCode(err, code))
		})
	}
}
