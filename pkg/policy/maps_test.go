package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

// localized has a localized text with each kind of bound.
const localized = `
name: "localized.proto" package: "rotaloom.policytest.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto"
message_type {
  name: "Opening"
  field { name: "title" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Opening.TitleEntry" json_name: "title"
          options { [rotaloom.options.v1.field] {
            limit { max: 2 code: "WRL-1" } length { max: 3 code: "WRL-2" } key_format: FORMAT_LOCALE } } }
  nested_type { name: "TitleEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "key" }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "value" } }
}
service {
  name: "Openings"
  method { name: "Create" input_type: ".rotaloom.policytest.v1.Opening" output_type: ".rotaloom.policytest.v1.Opening" }
}`

func TestMapsAreBounded(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, localized)
	create := method(t, files, "/rotaloom.policytest.v1.Openings/Create")
	entry := func(key, value string) string { return ` title { key: "` + key + `" value: "` + value + `" }` }
	for _, c := range []struct{ name, req, code, text string }{
		{"none", "", "", ""},
		{"at the bounds", entry("en", "äöü") + entry("es_419", ""), "", ""},
		{"too many entries", entry("en", "") + entry("de", "") + entry("fr", ""), "WRL-1", "title in the request: 3, allowed: 2"},
		{"a text that is too long", entry("de_de", "1234") + entry("en_us", "12345"), "WRL-2", "title.de_de must have at most 3 characters."},
		{"a key in capitals", entry("EN_us", ""), fault.CodeValue, `The key "EN_us" of title is not a language of the form en or en_us.`},
		{"a key with a hyphen", entry("en-us", ""), fault.CodeValue, ""},
		{"an empty key", entry("", ""), fault.CodeValue, ""},
		{"a key without a region after its underscore", entry("en_", ""), fault.CodeValue, ""},
		{"the first of two wrong keys", entry("y!", "") + entry("x!", ""), fault.CodeValue, `"x!"`},
		{"a long key", entry(strings.Repeat("x", 100), ""), fault.CodeValue, strings.Repeat("x", 40) + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			req := policytest.Message(t, files, "rotaloom.policytest.v1.Opening", c.req)
			err := create.CheckFormats(req)
			if err == nil {
				err = create.CheckLimits(req)
			}
			if err == nil {
				err = create.CheckRanges(req)
			}
			if c.code == "" {
				require.NoError(t, err)
				return
			}
			f := fault.FromError(err)
			require.NotNil(t, f)
			assert.Equal(t, c.code, f.Code)
			assert.Contains(t, f.Message, c.text)
		})
	}
}

// The options of a map fit only maps with texts.
func TestBoundsOfMapsNeedTexts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, new, want string }{
		"keys that are no texts":   {`name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING`, `name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_INT32`, "no map with texts as keys"},
		"values that are no texts": {`name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING`, `name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_INT32`, "has a length but holds no text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, localized, c.old)
			files := policytest.Files(t, strings.Replace(localized, c.old, c.new, 1))
			_, err := policy.NewTable(files).Method("/rotaloom.policytest.v1.Openings/Create")
			assert.ErrorContains(t, err, c.want)
		})
	}
}
