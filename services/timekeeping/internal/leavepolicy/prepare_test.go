package leavepolicy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestLeaveTypes(t *testing.T) {
	t.Parallel()
	type leaveType = timekeepingv1.LeaveType
	for _, test := range []struct {
		name  string
		given *leaveType
		says  string // "" for one that is completed as want
		want  *leaveType
	}{
		{"a name alone", &leaveType{Name: "Sick"}, "", &leaveType{Name: "Sick", LeaveTypeGroup: groupPaid, Paid: proto.Bool(true), Enabled: proto.Bool(true)}},
		{"a qualifier alone", &leaveType{Qualifier: "Sick"}, "", &leaveType{Name: "Sick", Qualifier: "Sick", LeaveTypeGroup: groupPaid, Paid: proto.Bool(true), Enabled: proto.Bool(true)}},
		{"unpaid", &leaveType{Name: "FMLA", Paid: proto.Bool(false)}, "", &leaveType{Name: "FMLA", LeaveTypeGroup: groupTracking, Paid: proto.Bool(false), Enabled: proto.Bool(true)}},
		{"no name", &leaveType{}, "name", nil},
		{"another qualifier", &leaveType{Name: "Sick", Qualifier: "Ill"}, "qualifier must be the same as name", nil},
		{"an unknown group", &leaveType{Name: "Sick", LeaveTypeGroup: "HALF"}, "leaveTypeGroup must be", nil},
		{"a tracking type that is paid", &leaveType{Name: "Sick", LeaveTypeGroup: groupTracking, Paid: proto.Bool(true)}, "paid must be false", nil},
		{"a description with a bell", &leaveType{Name: "Sick", Description: "a\x07"}, "control characters", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := NewTypes(nil).resource.Validate("leaveType", test.given)
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			assert.True(t, proto.Equal(test.want, got), "%v", got)
		})
	}
}

func TestCustomFields(t *testing.T) {
	t.Parallel()
	type field = timekeepingv1.LeaveCustomField
	for _, test := range []struct {
		name  string
		given *field
		says  string // "" for one that is completed as want
		want  *field
	}{
		{"a name alone", &field{Name: "Doctor"}, "", &field{Name: "Doctor", Type: fieldText, IsActive: proto.Bool(true)}},
		{"a list", &field{Name: "Side", Type: "list", Values: []string{"left", "right"}}, "", &field{Name: "Side", Type: fieldList, Values: []string{"left", "right"}, IsActive: proto.Bool(true)}},
		{"an unknown type", &field{Name: "Side", Type: "COLOUR"}, "type must be one of", nil},
		{"a list without values", &field{Name: "Side", Type: fieldList}, "values belong to", nil},
		{"values of a text", &field{Name: "Side", Values: []string{"left"}}, "values belong to", nil},
		{"a value twice", &field{Name: "Side", Type: fieldList, Values: []string{"left", "left"}}, "values[1]", nil},
		{"an empty value", &field{Name: "Side", Type: fieldList, Values: []string{" "}}, "values[0]", nil},
		{"a value that is too long", &field{Name: "Side", Type: fieldList, Values: []string{strings.Repeat("x", maxValue+1)}}, "values[0] must have at most", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := NewFields(nil).resource.Validate("customField", test.given)
			if test.says != "" {
				require.ErrorContains(t, err, test.says)
				return
			}
			require.NoError(t, err)
			assert.True(t, proto.Equal(test.want, got), "%v", got)
		})
	}
}

func TestValuesOfCustomFields(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, kind, value string
		want              string // "" for one that is refused
	}{
		{"a text", fieldText, "any", "any"},
		{"a number", fieldNumber, "-1.5e3", "-1.5e3"},
		{"no number", fieldNumber, "many", ""},
		{"a number that is none", fieldNumber, "NaN", ""},
		{"a number without end", fieldNumber, "Inf", ""},
		{"a hexadecimal number", fieldNumber, "0x1p4", ""},
		{"a date", fieldDate, "2026-02-28", "2026-02-28"},
		{"a day that is not", fieldDate, "2026-02-30", ""},
		{"a truth value", fieldBoolean, "TRUE", "true"},
		{"no truth value", fieldBoolean, "yes", ""},
		{"one of a list", fieldList, "left", "left"},
		{"none of a list", fieldList, "Left", ""},
		{"a control character", fieldText, "a\x00", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := CheckValue("items[0].value", &timekeepingv1.LeaveCustomField{Name: "Side", Type: test.kind, Values: []string{"left"}}, test.value)
			if test.want == "" {
				require.Error(t, err)
				assert.Equal(t, CodeInvalid, fault.FromError(err).Code)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}
