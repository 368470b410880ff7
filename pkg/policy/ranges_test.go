package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
)

// ranged has a field of each kind that has a range or a length.
const ranged = `
name: "ranged.proto" package: "rotaloom.policytest.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto"
dependency: "google/api/annotations.proto"
message_type {
  name: "Page"
  field { name: "index" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 json_name: "index"
          options { [rotaloom.options.v1.field] { ranges { min: 0 code: "WRL-1" } } } }
  field { name: "count" number: 2 label: LABEL_OPTIONAL type: TYPE_INT64 json_name: "count" proto3_optional: true oneof_index: 0
          options { [rotaloom.options.v1.field] {
            ranges { max: 500 code: "WRL-2" status: 413 message: "{name} {value} is more than {max}." show_details: true }
            ranges { min: 1 max: 500 code: "WRL-3" } } } }
  field { name: "month" number: 3 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "month"
          options { [rotaloom.options.v1.field] { ranges { max: 12 code: "WRL-4" } } } }
  field { name: "wage" number: 4 label: LABEL_OPTIONAL type: TYPE_DOUBLE json_name: "hourlyWage" proto3_optional: true oneof_index: 1
          options { [rotaloom.options.v1.field] { ranges { min: 0 code: "WRL-5" message: "{name}: {value} is no wage." } } } }
  field { name: "ids" number: 5 label: LABEL_REPEATED type: TYPE_INT64 json_name: "ids"
          options { [rotaloom.options.v1.field] { ranges { min: 1 code: "WRL-6" } } } }
  field { name: "after" number: 6 label: LABEL_OPTIONAL type: TYPE_INT32 json_name: "after" proto3_optional: true oneof_index: 2
          options { [rotaloom.options.v1.field] { ranges { min: 0 max: 1440 code: "WRL-7" required: true } } } }
  field { name: "note" number: 7 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "note"
          options { [rotaloom.options.v1.field] { length { max: 3 code: "WRL-8" } } } }
  field { name: "lines" number: 8 label: LABEL_REPEATED type: TYPE_STRING json_name: "lines"
          options { [rotaloom.options.v1.field] { length { max: 3 code: "WRL-9" status: 413 message: "{name} is longer than {max}." } } } }
  field { name: "parts" number: 9 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Page" json_name: "parts" }
  field { name: "by_name" number: 10 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Page.ByNameEntry" json_name: "byName" }
  nested_type { name: "ByNameEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "key" }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Page" json_name: "value" } }
  oneof_decl { name: "_count" }
  oneof_decl { name: "_wage" }
  oneof_decl { name: "_after" }
}
message_type {
  name: "Change"
  field { name: "body" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.policytest.v1.Page" json_name: "body" }
}
service {
  name: "Pages"
  method { name: "Read" input_type: ".rotaloom.policytest.v1.Page" output_type: ".rotaloom.policytest.v1.Page" }
  method { name: "Change" input_type: ".rotaloom.policytest.v1.Change" output_type: ".rotaloom.policytest.v1.Page"
    options { [google.api.http] { post: "/x" body: "body" } } }
}`

func TestRanges(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, ranged)
	read := method(t, files, "/rotaloom.policytest.v1.Pages/Read")
	const there = " after: 0"
	for _, c := range []struct{ name, req, code, text string }{
		{"nothing that was left out", there, "", ""},
		{"the ends of all ranges", `index: 0 count: 1 month: 12 wage: 0 ids: 1 after: 1440`, "", ""},
		{"the largest numbers", `index: 9223372036854775807 count: 500 wage: 1.7976931348623157e308 ids: 9223372036854775807` + there, "", ""},
		{"below a range without max", `index: -1` + there, "WRL-1", "index must not be less than 0."},
		{"far below", `index: -9223372036854775808` + there, "WRL-1", "index must not be less than 0."},
		{"above the first of two ranges", `count: 501` + there, "WRL-2", "count 501 is more than 500."},
		{"far above", `count: 9223372036854775807` + there, "WRL-2", "count 9223372036854775807 is more than 500."},
		{"below the second of two ranges", `count: 0` + there, "WRL-3", "count must be from 1 to 500."},
		{"above a range without min", `month: 13` + there, "WRL-4", "month must not be more than 12."},
		{"below 0", `wage: -0.01` + there, "WRL-5", "hourlyWage: -0.01 is no wage."},
		{"below 0 by least", `wage: -5e-324` + there, "WRL-5", "hourlyWage: -5e-324 is no wage."},
		{"-0", `wage: -0.0` + there, "", ""},
		{"not a number", `wage: nan` + there, "WRL-5", "hourlyWage: NaN is no wage."},
		{"infinity", `wage: inf` + there, "WRL-5", "hourlyWage: +Inf is no wage."},
		{"an element of a list", `ids: 1 ids: 0` + there, "WRL-6", "ids[1] must not be less than 1."},
		{"a missing required value", ``, "WRL-7", "after must be from 0 to 1440."},
		{"a required value out of range", `after: 1441`, "WRL-7", "after must be from 0 to 1440."},
		{"a text at its length", `note: "äöü"` + there, "", ""},
		{"a text with a character more", `note: "äöüß"` + there, "WRL-8", "note must have at most 3 characters."},
		{"a long text in a list", `lines: "" lines: "1234"` + there, "WRL-9", "lines[1] is longer than 3."},
		{"a message below", `after: 0 parts { after: 0 } parts { after: 0 count: 0 }`, "WRL-3", "parts[1].count must be from 1 to 500."},
		{"a missing required value in a message below", `after: 0 parts { }`, "WRL-7", "parts[0].after must be from 0 to 1440."},
		{"a value of a map", `after: 0 by_name { key: "k" value { after: 0 month: 13 } }`, "WRL-4", "byName.k.month must not be more than 12."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := read.CheckRanges(policytest.Message(t, files, "rotaloom.policytest.v1.Page", c.req))
			if c.code == "" {
				assert.NoError(t, err)
				return
			}
			f := fault.FromError(err)
			require.NotNil(t, f)
			assert.Equal(t, c.code, f.Code)
			assert.Equal(t, c.text, f.Message)
			if assert.Len(t, f.Members, 1) {
				assert.Contains(t, f.Message, f.Members[0])
			}
			if c.code != "WRL-2" {
				assert.Empty(t, f.Details.GetLimits(), "details only where the contract asks for them")
			}
		})
	}
}

func TestRangesHaveStatusAndDetails(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, ranged)
	change := method(t, files, "/rotaloom.policytest.v1.Pages/Change")
	for _, c := range []struct {
		name, req string
		status    int
		text      string
		actual    int64
	}{
		{"without a status", `after: -1`, 400, "after must be from 0 to 1440.", 0},
		{"with a status", `after: 0 lines: "1234"`, 413, "lines[0] is longer than 3.", 0},
		{"with details", `after: 0 count: 501`, 413, "count 501 is more than 500.", 501},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := fault.FromError(change.CheckRanges(policytest.Message(t, files, "rotaloom.policytest.v1.Change", `body { `+c.req+` }`)))
			require.NotNil(t, f)
			assert.Equal(t, c.status, f.Status)
			assert.Equal(t, c.text, f.Message, "the path does not name the body")
			if c.actual == 0 {
				assert.Empty(t, f.Details.GetLimits())
				return
			}
			require.Len(t, f.Details.GetLimits(), 1)
			assert.Equal(t, c.actual, f.Details.GetLimits()[0].GetActual())
			assert.EqualValues(t, 500, f.Details.GetLimits()[0].GetMaximum())
		})
	}
}

func TestARequestWithoutABodyIsInRange(t *testing.T) {
	t.Parallel()
	files := policytest.Files(t, ranged)
	change := method(t, files, "/rotaloom.policytest.v1.Pages/Change")
	assert.NoError(t, change.CheckRanges(policytest.Message(t, files, "rotaloom.policytest.v1.Change", ``)))
}

func TestAuditNamesWrongRanges(t *testing.T) {
	t.Parallel()
	const message = `name: "audit.proto" package: "rotaloom.audit.v1" syntax: "proto3"
		dependency: "rotaloom/options/v1/options.proto" dependency: "google/api/annotations.proto"
		message_type { name: "M" %s
		  field { name: "number" number: 1 %s json_name: "number" options { [rotaloom.options.v1.field] { %s } } } }
		service { name: "S" method { name: "Do" input_type: ".rotaloom.audit.v1.M" output_type: ".rotaloom.audit.v1.M"
		  options { [google.api.http] { get: "/v1/x" } [rotaloom.options.v1.method] { permission: "test.thing.read" } } } }`
	const (
		plain    = `label: LABEL_OPTIONAL type: TYPE_INT64`
		optional = plain + ` proto3_optional: true oneof_index: 0`
		double   = `label: LABEL_OPTIONAL type: TYPE_DOUBLE proto3_optional: true oneof_index: 0`
		text     = `label: LABEL_OPTIONAL type: TYPE_STRING proto3_optional: true oneof_index: 0`
		boolean  = `label: LABEL_OPTIONAL type: TYPE_BOOL proto3_optional: true oneof_index: 0`
		list     = `label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.audit.v1.M"`
	)
	for _, c := range []struct{ field, option, problem string }{
		{optional, `ranges { min: 1 max: 1 code: "WRL-1" }`, ""},
		{optional, `ranges { min: 1 code: "WRL-1" required: true }`, ""},
		{double, `ranges { min: 0.5 max: 0.75 code: "WRL-1" }`, ""},
		{text, `length { max: 1 code: "WRL-1" }`, ""},
		{text, `ranges { min: 1 code: "WRL-1" }`, "holds no number"},
		{boolean, `ranges { min: 1 code: "WRL-1" }`, "holds no number"},
		{list, `ranges { min: 1 code: "WRL-1" }`, "holds no number"},
		{optional, `ranges { code: "WRL-1" }`, "needs a min or a max"},
		{optional, `ranges { min: 2 max: 1 code: "WRL-1" }`, "min above its max"},
		{double, `ranges { min: nan max: 1 code: "WRL-1" }`, "min above its max"},
		{optional, `ranges { min: 0.5 code: "WRL-1" }`, "other bounds"},
		{optional, `ranges { max: 9007199254740992 code: "WRL-1" }`, "other bounds"},
		{optional, `ranges { min: 1 }`, "needs a code"},
		{optional, `ranges { min: 1 code: "WRL-1" } ranges { max: 5 }`, "needs a code"},
		{plain, `ranges { min: 1 code: "WRL-1" required: true }`, "needs a field with presence"},
		{optional, `ranges { min: 1 code: "WRL-1" required: true message: "{value} is wrong." }`, "must not show the value"},
		{optional, `ranges { min: 1 code: "WRL-1" show_details: true }`, "has no details"},
		{double, `ranges { max: 1 code: "WRL-1" show_details: true }`, "has no details"},
		{optional, `length { max: 1 code: "WRL-1" }`, "holds no text"},
		{text, `length { code: "WRL-1" }`, "max above 0"},
		{text, `length { max: 1 }`, "needs a code"},
	} {
		t.Run(c.field+c.option, func(t *testing.T) {
			t.Parallel()
			oneof := ""
			if strings.Contains(c.field, "oneof_index") {
				oneof = `oneof_decl { name: "_number" }`
			}
			problems := policy.Audit(policytest.Files(t, fmt.Sprintf(message, oneof, c.field, c.option)))
			if c.problem == "" {
				assert.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1, c.problem)
			assert.Contains(t, problems[0], c.problem)
		})
	}
}
