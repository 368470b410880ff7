package setupref_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

func TestUsesLooksWhereverATermRefers(t *testing.T) {
	t.Parallel()
	named, byID := &commonv1.Ref{Qualifier: proto.String("Sick")}, &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("Other")}
	term := func(v *schedulingv1.EmploymentTermVersion) *schedulingv1.EmploymentTerm {
		return &schedulingv1.EmploymentTerm{Name: "T", Versions: &schedulingv1.EmploymentTermVersions{EmploymentTermVersion: []*schedulingv1.EmploymentTermVersion{{}, v}}}
	}
	tests := []struct {
		name     string
		term     *schedulingv1.EmploymentTerm
		property setupref.Property
		want     bool
	}{
		{"nothing", term(&schedulingv1.EmploymentTermVersion{}), setupref.PayCode, false},
		{"the minimum wage", term(&schedulingv1.EmploymentTermVersion{MinimumWage: &schedulingv1.MinimumWage{ContributingPayCodes: named}}), setupref.PayCode, true},
		{"a day's pay code, by id", term(&schedulingv1.EmploymentTermVersion{DayPaycodes: &schedulingv1.TermDayPaycodes{
			TermDayPaycode: []*schedulingv1.TermDayPaycode{{}, {PayCode: byID}},
		}}), setupref.PayCode, true},
		{"a work rule of that name", term(&schedulingv1.EmploymentTermVersion{DurationPaycodes: &schedulingv1.TermDurationPaycodes{
			TermDurationPaycode: []*schedulingv1.TermDurationPaycode{{WorkRule: named}},
		}}), setupref.PayCode, false},
		{"that work rule", term(&schedulingv1.EmploymentTermVersion{DurationPaycodes: &schedulingv1.TermDurationPaycodes{
			TermDurationPaycode: []*schedulingv1.TermDurationPaycode{{WorkRule: named}},
		}}), setupref.WorkRule, true},
		{"a pay rule of that name", term(&schedulingv1.EmploymentTermVersion{PayRule: named}), setupref.PayCode, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, setupref.RefersTo(test.term.ProtoReflect(), test.property, 7, "SICK"))
		})
	}
	assert.False(t, setupref.RefersTo(tests[2].term.ProtoReflect(), setupref.PayCode, 8, "Other"), "the id wins")
}
