package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Generators of clients name the words of a property after its object, as they name another object.
func TestWordsDoNotTakeTheNameOfASchema(t *testing.T) {
	t.Parallel()
	d := describe(t, `name: "boxes.proto" package: "rotaloom.boxes.v1" syntax: "proto3"
message_type { name: "Box"
  field { name: "state" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "state" options { [rotaloom.options.v1.field] { values: "OPEN" } } }
  field { name: "color" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "color" options { [rotaloom.options.v1.field] { values: "RED" } } }
  field { name: "all" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".rotaloom.boxes.v1.BoxState" json_name: "all" } }
message_type { name: "BoxState" field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 json_name: "id" } }
service { name: "BoxService" method { name: "PutBox" input_type: ".rotaloom.boxes.v1.Box" output_type: ".rotaloom.boxes.v1.Box"
  options { [google.api.http] { post: "/v1/boxes" body: "*" } [rotaloom.options.v1.method] { permission: "a.b.write" } } } }`, "")
	schemas := at(t, d, "components", "schemas")
	assert.Equal(t, "#/components/schemas/boxes.Box.stateWord", at(t, schemas, "boxes.Box", "properties", "state", "$ref"))
	assert.Equal(t, []any{"OPEN"}, at(t, schemas, "boxes.Box.stateWord", "enum"))
	assert.Equal(t, []any{"RED"}, at(t, schemas, "boxes.Box", "properties", "color", "enum"))
}
