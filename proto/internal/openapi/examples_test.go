package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const shelves = `
name: "shelves.proto" package: "rotaloom.shelves.v1" syntax: "proto3"
message_type { name: "Shelf"
  field { name: "id" number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 json_name: "id" }
  field { name: "name" number: 2 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "name" }
  field { name: "tags" number: 3 label: LABEL_REPEATED type: TYPE_STRING json_name: "tags" } }
service { name: "ShelfService"
  method { name: "GetShelf" input_type: ".rotaloom.shelves.v1.Shelf" output_type: ".rotaloom.shelves.v1.Shelf"
    options { [google.api.http] { get: "/v1/shelves/{id}" } [rotaloom.options.v1.method] { permission: "a.b.read" } } }
  method { name: "PutShelf" input_type: ".rotaloom.shelves.v1.Shelf" output_type: ".rotaloom.shelves.v1.Shelf"
    options { [google.api.http] { put: "/v1/shelves/{id}" body: "*" } [rotaloom.options.v1.method] { permission: "a.b.write" } } } }`

func TestExamplesAreShown(t *testing.T) {
	t.Parallel()
	d, err := describeExamples(t, shelves, "", `
- {do: "GET /v1/shelves/7?tags=a,b", title: Read a shelf, status: 200, response: {id: 7, name: Top}}
- {do: PUT /v1/shelves/7, title: Rename a shelf, json: {name: Low}, status: 200, response: {id: 7, name: Low}}`)
	require.NoError(t, err)
	get := at(t, d, "paths", "/v1/shelves/{id}", "get")
	examples := map[string]any{}
	for _, p := range at(t, get, "parameters").([]any) {
		if example, ok := p.(map[string]any)["examples"]; ok {
			examples[p.(map[string]any)["name"].(string)] = at(t, example, "example1", "value")
		}
	}
	assert.Equal(t, map[string]any{"id": 7.0, "tags": []any{"a", "b"}}, examples)
	read := map[string]any{"example1": map[string]any{"summary": "Read a shelf", "value": map[string]any{"id": 7.0, "name": "Top"}}}
	assert.Equal(t, read, at(t, get, "responses", "200", "content", "application/json", "examples"))
	put := at(t, d, "paths", "/v1/shelves/{id}", "put", "requestBody", "content", "application/json", "examples", "example1")
	assert.Equal(t, map[string]any{"summary": "Rename a shelf", "value": map[string]any{"name": "Low"}}, put)
}

func TestWrongExamplesAreRefused(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct{ examples, says string }{
		"an unknown operation":     {`[{do: GET /v1/tables/7, title: Read a table, status: 200}]`, "no operation serves GET /v1/tables/7"},
		"no title":                 {`[{do: GET /v1/shelves/7, status: 200}]`, "needs a title and a status"},
		"a parameter of no number": {`[{do: GET /v1/shelves/top, title: Read a shelf, status: 200}]`, "GET /v1/shelves/top: id: "},
		"an unknown property":      {`[{do: PUT /v1/shelves/7, title: Rename a shelf, json: {nam: Low}, status: 200}]`, `putShelf, request: example "Rename a shelf"`},
		"a wrong response":         {`[{do: GET /v1/shelves/7, title: Read a shelf, status: 200, response: {id: seven}}]`, `getShelf, response 200: example "Read a shelf"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := describeExamples(t, shelves, "", one.examples)
			assert.ErrorContains(t, err, one.says)
		})
	}
}
