package employmentterm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestUsesLooksWhereverATermRefers(t *testing.T) {
	t.Parallel()
	named, byID := &commonv1.Ref{Qualifier: proto.String("Sick")}, &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("Other")}
	term := func(v *timekeepingv1.EmploymentTermVersion) *timekeepingv1.EmploymentTerm {
		return &timekeepingv1.EmploymentTerm{Name: "T", Versions: &timekeepingv1.EmploymentTermVersions{EmploymentTermVersion: []*timekeepingv1.EmploymentTermVersion{{}, v}}}
	}
	tests := []struct {
		name     string
		term     *timekeepingv1.EmploymentTerm
		property Property
		want     bool
	}{
		{"nothing", term(&timekeepingv1.EmploymentTermVersion{}), PayCode, false},
		{"the minimum wage", term(&timekeepingv1.EmploymentTermVersion{MinimumWage: &timekeepingv1.MinimumWage{ContributingPayCodes: named}}), PayCode, true},
		{"a day's pay code, by id", term(&timekeepingv1.EmploymentTermVersion{DayPaycodes: &timekeepingv1.TermDayPaycodes{
			TermDayPaycode: []*timekeepingv1.TermDayPaycode{{}, {PayCode: byID}},
		}}), PayCode, true},
		{"a work rule of that name", term(&timekeepingv1.EmploymentTermVersion{DurationPaycodes: &timekeepingv1.TermDurationPaycodes{
			TermDurationPaycode: []*timekeepingv1.TermDurationPaycode{{WorkRule: named}},
		}}), PayCode, false},
		{"that work rule", term(&timekeepingv1.EmploymentTermVersion{DurationPaycodes: &timekeepingv1.TermDurationPaycodes{
			TermDurationPaycode: []*timekeepingv1.TermDurationPaycode{{WorkRule: named}},
		}}), WorkRule, true},
		{"a pay rule of that name", term(&timekeepingv1.EmploymentTermVersion{PayRule: named}), PayCode, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, uses(test.term.ProtoReflect(), test.property, 7, "SICK"))
		})
	}
	assert.False(t, uses(tests[2].term.ProtoReflect(), PayCode, 8, "Other"), "the id wins")
}
