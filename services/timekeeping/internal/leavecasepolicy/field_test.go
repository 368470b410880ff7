package leavecasepolicy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecasepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
)

func TestValuesThatCasesAreGiven(t *testing.T) {
	t.Parallel()
	ctx, w := newFixture(t)
	field := func(name, value string) *timekeepingv1.LeaveCaseCustomField {
		return &timekeepingv1.LeaveCaseCustomField{CustomField: refByName(name), Value: proto.String(value)}
	}
	type fields = []*timekeepingv1.LeaveCaseCustomField
	before := map[string]string{"Doctor": "Who", "Side": ""}
	for _, c := range []struct {
		name     string
		employee int64
		sent     fields
		code     string
		want     map[string]string
	}{
		{"a value", withProfile, fields{field("Side", "left")}, "", map[string]string{"Doctor": "Who", "Side": "left"}},
		{"another value of a required field", withProfile, fields{field("doctor", "No")}, "", map[string]string{"Doctor": "No", "Side": ""}},
		{"no value of a field without one", withProfile, fields{field("Side", "")}, "", before},
		{"any field, without a profile", withoutProfile, fields{field("Room", "12")}, "", map[string]string{"Doctor": "Who", "Room": "12"}},
		{"no value, without a profile", withoutProfile, fields{field("Doctor", "")}, "", map[string]string{}},
		{"nothing", withProfile, nil, leavepolicy.CodeMissing, before},
		{"no field", withProfile, fields{{Value: proto.String("left")}}, leavepolicy.CodeMissing, before},
		{"no value of a required field", withProfile, fields{field("Doctor", "")}, leavecasepolicy.CodeRequired, before},
		{"a field of another profile", withProfile, fields{field("Room", "12")}, leavecasepolicy.CodeNotInProfile, before},
		{"a field that is not there", withProfile, fields{field("Floor", "1")}, leavepolicy.CodeUnknown, before},
		{"a value that is not in the list", withProfile, fields{field("Side", "up")}, leavepolicy.CodeInvalid, before},
		{"a field twice", withProfile, fields{field("Side", "left"), field("Side", "right")}, leavepolicy.CodeInvalid, before},
		{"all or none", withProfile, fields{field("Side", "left"), field("Room", "12")}, leavecasepolicy.CodeNotInProfile, before},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref := w.newCase(ctx, t, c.employee, "Open")
			_, err := w.fields.UpdateLeaveCaseCustomFields(ctx, &timekeepingv1.LeaveCaseCustomFields{LeaveCase: ref, CustomFields: fields{field("Doctor", "Who")}})
			require.NoError(t, err)
			_, err = w.fields.UpdateLeaveCaseCustomFields(ctx, &timekeepingv1.LeaveCaseCustomFields{LeaveCase: ref, CustomFields: c.sent})
			faulttest.RequireCode(t, c.code, err)
			list, err := w.fields.ListLeaveCaseCustomFields(ctx, &timekeepingv1.ListLeaveCaseCustomFieldsRequest{LeaveCaseId: ref.Id})
			require.NoError(t, err)
			got := map[string]string{}
			for _, f := range list.GetItems() {
				got[f.GetCustomField().GetName()] = f.GetValue()
				assert.Equal(t, c.employee == withProfile && f.GetCustomField().GetName() == "Doctor", f.GetRequired())
			}
			assert.Equal(t, c.want, got)
		})
	}
	t.Run("of no case", func(t *testing.T) {
		t.Parallel()
		_, err := w.fields.UpdateLeaveCaseCustomFields(ctx, &timekeepingv1.LeaveCaseCustomFields{CustomFields: fields{field("Side", "left")}})
		faulttest.RequireCode(t, leavecase.CodeCaseMissing, err)
	})
}
