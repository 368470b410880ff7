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

// Each format accepts and refuses the same texts in every field.
func TestFormatsOfTexts(t *testing.T) {
	t.Parallel()
	const id = "8f0c2a10-5A11-4d0e-9a35-0f6e2b7d1c01"
	for format, c := range map[string]struct {
		good, bad []string
		code      string
	}{
		"FORMAT_INSTANT":         {[]string{"2024-03-04T09:15:00Z", "2024-03-04T09:15:00.5+02:00"}, []string{"2024-03-04", "2024-03-04T09:15:00"}, fault.CodeTime},
		"FORMAT_DATE_OR_INSTANT": {[]string{"2024-03-04", "2024-03-04T09:15:00Z"}, []string{"2024-02-30", "2024-03-04T09:15:00", "now"}, fault.CodeDate},
		"FORMAT_GUID":            {[]string{id}, []string{"1", id + "0", "{" + id + "}", "urn:uuid:" + id, "8f0c2a105a114d0e9a350f6e2b7d1c01", "8f0c2a10-5a11-4d0e-9a35-0f6e2b7d1c0g"}, fault.CodeValue},
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			files := policytest.Files(t, `name: "f.proto" package: "rotaloom.policytest.v1" syntax: "proto3" dependency: "rotaloom/options/v1/options.proto"
				message_type { name: "M" field { name: "at" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "at"
				  options { [rotaloom.options.v1.field] { format: `+format+` } } } }`)
			desc, err := files.FindDescriptorByName("rotaloom.policytest.v1.M")
			require.NoError(t, err)
			field := desc.(protoreflect.MessageDescriptor).Fields().Get(0)
			for _, text := range append(c.good, "") {
				assert.Nil(t, policy.CheckFormat(field, "at", text), text)
			}
			for _, text := range c.bad {
				if refused := policy.CheckFormat(field, "at", text); assert.NotNil(t, refused, text) {
					assert.Equal(t, c.code, refused.Code)
				}
			}
		})
	}
}
