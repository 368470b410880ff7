package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

func TestCheckFormat(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, contract)
	for _, c := range []struct{ name, message, field, text, code string }{
		{"a time of day", "Shift", "clock", "08:00", ""},
		{"a bad time of day", "Shift", "clock", "25:00", fault.CodeTime},
		{"a moment", "Shift", "start_at", "2026-01-01T08:00:00", ""},
		{"a bad moment", "Shift", "start_at", "2026-02-30T08:00:00", fault.CodeDate},
		{"a day", "Read", "days", "2026-01-01", ""},
		{"a bad day", "Read", "days", "2026-02-30", fault.CodeDate},
		{"no text", "Shift", "clock", "", ""},
		{"a field without format", "Read", "first", "25:00", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			desc, err := files.FindDescriptorByName(protoreflect.FullName("rotaloom.policytest.v1." + c.message))
			require.NoError(t, err)
			field := desc.(protoreflect.MessageDescriptor).Fields().ByName(protoreflect.Name(c.field))
			refused := policy.CheckFormat(field, "where", c.text)
			if c.code == "" {
				require.Nil(t, refused)
				return
			}
			require.NotNil(t, refused)
			assert.Equal(t, c.code, refused.Code)
			assert.Contains(t, refused.Message, "of where is not")
		})
	}
}
