package routing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

const uploaded = `name: "up.proto" package: "rotaloom.up.v1" syntax: "proto3" dependency: "rotaloom/options/v1/options.proto"
message_type { name: "Up"
  field { name: "file_name" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "fileName" }
  field { name: "content_type" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "contentType" }
  field { name: "file" number: 3 label: LABEL_OPTIONAL type: TYPE_BYTES json_name: "file"
    options { [rotaloom.options.v1.field] { upload { max: 100 code: "WRL-1" } } } } }`

func TestParseUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, body, want string }{
		"good":             {"", "", "*", ""},
		"a part of a body": {"", "", "up", "is the whole body"},
		"no bytes":         {"TYPE_BYTES", "TYPE_STRING", "*", "needs bytes"},
		"no code":          {`code: "WRL-1"`, "", "*", "needs a code"},
		"no max":           {"max: 100", "", "*", "needs a code, and a max"},
		"a large max":      {"max: 100", "max: 7340033", "*", "up to 7340032"},
		"no name":          {`"file_name"`, `"name"`, "*", "text fields file_name"},
		"a type of bytes":  {`"content_type" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING`, `"content_type" number: 2 label: LABEL_OPTIONAL type: TYPE_BYTES`, "*", "text fields file_name"},
		"no upload":        {`upload { max: 100 code: "WRL-1" }`, "", "*", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, uploaded, c.old)
			desc, err := policytest.Files(t, strings.Replace(uploaded, c.old, c.new, 1)).FindDescriptorByName("rotaloom.up.v1.Up")
			require.NoError(t, err)
			u, err := parseUpload(desc.(protoreflect.MessageDescriptor), c.body)
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, name == "good", u != nil)
		})
	}
}
