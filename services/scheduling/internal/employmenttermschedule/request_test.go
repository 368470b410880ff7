package employmenttermschedule

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

func TestSelectedParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		names []string
		want  selection // the zero request if it is refused
	}{
		{"everything", nil, selection{true, true, true, true}},
		{"terms", []string{"GROUPS"}, selection{groups: true}},
		{"members, in another case", []string{"memberships"}, selection{memberships: true}},
		{"two", []string{"groupShifts", "groupPayCodeEdits"}, selection{shifts: true, edits: true}},
		{"one twice", []string{"GROUPSHIFTS", "GROUPSHIFTS"}, selection{shifts: true}},
		{"something else", []string{"GROUPSHIFT"}, selection{}},
		{"an empty name", []string{""}, selection{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := parseSelect(c.names)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want == selection{}, fault.HasStatus(err, 400), "%v", err)
		})
	}
}

func TestDaysThatAreAskedFor(t *testing.T) {
	t.Parallel()
	march := &commonv1.DateRange{StartDate: "2026-03-02", EndDate: "2026-03-08"}
	days := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))
	on := proto.Bool(true)
	type where = schedulingv1.EmploymentTermScheduleWhere
	for _, c := range []struct {
		name  string
		where *where
		code  string
	}{
		{"of terms", &where{Groups: &schedulingv1.EmploymentTermsAndDays{DateRange: march}}, ""},
		{"of employees", &where{Employees: &schedulingv1.EmployeesAndDays{DateRange: march}}, ""},
		{"of a hyperfind", &where{Hyperfind: &schedulingv1.HyperfindAndDays{DateRange: march, IncludeEmployeeTransfer: proto.Bool(false)}}, ""},
		{"of locations", &where{Locations: &schedulingv1.LocationsAndDays{DateRange: march}}, ""},
		{"of nothing", nil, patterndefinition.CodeNothing},
		{"of two", &where{Groups: &schedulingv1.EmploymentTermsAndDays{DateRange: march}, Employees: &schedulingv1.EmployeesAndDays{DateRange: march}}, patterndefinition.CodeOnlyOne},
		{"of two, one of them empty", &where{Groups: &schedulingv1.EmploymentTermsAndDays{DateRange: march}, Locations: &schedulingv1.LocationsAndDays{}}, patterndefinition.CodeOnlyOne},
		{"with transfers of a hyperfind", &where{Hyperfind: &schedulingv1.HyperfindAndDays{DateRange: march, IncludeEmployeeTransfer: on}}, patterndefinition.CodeInvalid},
		{"with transfers of locations", &where{Locations: &schedulingv1.LocationsAndDays{DateRange: march, IncludeEmployeeTransfer: on}}, patterndefinition.CodeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := (&Handler{}).parseDays(t.Context(), c.where)
			if c.code != "" {
				assert.True(t, fault.HasCode(err, c.code), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, days, got)
		})
	}
}

// The end date of a query is not included, but for equal dates.
func TestDaysOfAQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		start, end string
		last       string // or the error, by the names of the query
	}{
		{"a week", "2026-03-02", "2026-03-09", "2026-03-08"},
		{"a day", "2026-03-02", "2026-03-03", "2026-03-02"},
		{"equal dates", "2026-03-02", "2026-03-02", "2026-03-02"},
		{"over the end of a month", "2026-02-27", "2026-03-01", "2026-02-28"},
		{"backwards", "2026-03-02", "2026-03-01", "end_date 2026-03-01 is before start_date 2026-03-02."},
		{"without an end", "2026-03-02", "", "end_date is missing."},
		{"without a start", "", "2026-03-02", "start_date is missing."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := queryRange(&schedulingv1.GetEmploymentTermScheduleRequest{StartDate: c.start, EndDate: c.end})
			if err != nil {
				assert.True(t, fault.HasStatus(err, 400), "%v", err)
				assert.Equal(t, c.last, fault.FromError(err).Message)
				return
			}
			assert.Equal(t, []string{c.start, c.last}, []string{got.GetStartDate(), got.GetEndDate()})
		})
	}
}

func TestHowMuchMayBeAskedFor(t *testing.T) {
	t.Parallel()
	week := civil.Through(civil.Of(2026, 3, 2), civil.Of(2026, 3, 8))
	most := termDays.Max() / week.Days()
	for _, c := range []struct {
		name string
		list *commonv1.RefList
		days civil.Range
		refs int // 0 if it is refused
		code string
	}{
		{"all three lists together", &commonv1.RefList{Ids: []int64{1}, Qualifiers: []string{"a"}, Refs: []*commonv1.Ref{{Id: proto.Int64(2)}}}, week, 3, ""},
		{"nothing", &commonv1.RefList{}, week, 0, patterndefinition.CodeMissing},
		{"no list", nil, week, 0, patterndefinition.CodeMissing},
		{"as much as there may be", &commonv1.RefList{Ids: make([]int64, most)}, week, most, ""},
		{"more", &commonv1.RefList{Ids: make([]int64, most+1)}, week, 0, fault.CodeProductLimit},
		{"more, on days that are not known yet", &commonv1.RefList{Ids: make([]int64, most+1)}, civil.Range{}, most + 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refs, err := requireRefs("where", c.list, c.days, termDays)
			assert.Len(t, refs, c.refs)
			if c.code != "" {
				assert.True(t, fault.HasCode(err, c.code), "%v", err)
				return
			}
			require.NoError(t, err)
		})
	}
}

func TestResponsesAreBounded(t *testing.T) {
	t.Parallel()
	var count counter
	require.NoError(t, count.add(entries.Max()-1))
	require.NoError(t, count.add(1))
	assert.True(t, fault.HasStatus(count.add(1), 413))
}
