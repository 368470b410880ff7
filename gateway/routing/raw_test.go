package routing

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestRaw(t *testing.T) {
	t.Parallel()
	raw, err := parseRaw((&timekeepingv1.PayrollExportText{}).ProtoReflect().Descriptor())
	require.NoError(t, err)
	const csv, json = "text/csv;charset=utf-8", "application/json;charset=utf-8"
	for name, c := range map[string]struct {
		contentType, want string
		fails             bool
	}{
		"the type of the contract":           {"", csv, false},
		"one of its others":                  {json, json, false},
		"a type that the contract knows not": {"text/html", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fields, err := proto.Marshal(&timekeepingv1.PayrollExportText{Pieces: [][]byte{[]byte("a,"), []byte("b")}, ContentType: c.contentType})
			require.NoError(t, err)
			got, err := raw.ContentType(fields)
			if c.fails {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			var body bytes.Buffer
			require.NoError(t, raw.Write(&body, fields))
			assert.Equal(t, "a,b", body.String())
		})
	}
	_, err = raw.ContentType([]byte{0xff})
	assert.Error(t, err)
	none, err := parseRaw((&timekeepingv1.PayrollExport{}).ProtoReflect().Descriptor())
	require.NoError(t, err)
	assert.Nil(t, none)
}

// Browsers run scripts of some types, so no contract may declare them.
func TestRawTypesAreNotActive(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`content_type: "text/csv"`:                                                  "",
		`content_type: "text/html;charset=utf-8"`:                                   "text/html",
		`content_type: "application/pdf" other_content_types: "image/svg+xml"`:      "image/svg+xml",
		`content_type: "application/pdf" other_content_types: "TEXT/HTML; a=b"`:     "TEXT/HTML",
		`content_type: "application/octet-stream" other_content_types: "image/png"`: "",
	} {
		t.Run(options, func(t *testing.T) {
			t.Parallel()
			files := policytest.Files(t, `name: "raw.proto" package: "rotaloom.raw.v1" syntax: "proto3" dependency: "rotaloom/options/v1/options.proto"
			message_type { name: "File" options { [rotaloom.options.v1.message] { raw_field: "pieces" `+options+` } }
			  field { name: "pieces" number: 1 label: LABEL_REPEATED type: TYPE_BYTES json_name: "pieces" }
			  field { name: "content_type" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "content_type" } }`)
			desc, err := files.FindDescriptorByName("rotaloom.raw.v1.File")
			require.NoError(t, err)
			_, err = parseRaw(desc.(protoreflect.MessageDescriptor))
			if want == "" {
				assert.NoError(t, err, options)
			} else {
				assert.ErrorContains(t, err, want)
			}
		})
	}
}
