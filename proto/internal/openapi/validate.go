package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// definitionsURL is the URL of all schemas of a description: its components and its bodies. They
// are in one $defs, because the compiler processes that once; for each schema elsewhere it would
// copy all schemas.
const definitionsURL = "https://rotaloom.invalid/definitions.json"

// exampleBody is a body with examples.
type exampleBody struct {
	// of is the operation and the part of it: "multiReadPersons, response 200".
	of   string
	body Body
}

// checkExamples returns the examples that do not match the schema of their body.
func checkExamples(d *Document) error {
	bodies := exampleBodies(d)
	compiler, err := newCompiler(d, bodies)
	if err != nil {
		return err
	}
	var bad error
	for i, b := range bodies {
		schema, err := compiler.Compile(definitionsURL + "#/$defs/" + bodyName(i))
		if err != nil {
			return err
		}
		for _, name := range b.body.Examples.Keys() {
			example := b.body.Examples.Get(name)
			value, err := decodeJSON(example.Value)
			if err != nil {
				return err
			}
			if err := schema.Validate(value); err != nil {
				bad = errors.Join(bad, fmt.Errorf("%s: example %q: %w", b.of, example.Summary, err))
			}
		}
	}
	return bad
}

// exampleBodies returns the bodies with examples of all operations.
func exampleBodies(d *Document) []exampleBody {
	var out []exampleBody
	add := func(of string, content map[string]Body) {
		for _, body := range content {
			if body.Examples != nil {
				out = append(out, exampleBody{of, body})
			}
		}
	}
	for _, path := range d.Paths.Keys() {
		for _, o := range d.Paths.Get(path).operations() {
			if o.RequestBody != nil {
				add(o.OperationID+", request", o.RequestBody.Content)
			}
			for _, status := range o.Responses.Keys() {
				add(o.OperationID+", response "+status, o.Responses.Get(status).Content)
			}
		}
	}
	return out
}

func bodyName(i int) string { return fmt.Sprintf("body-%d", i) }

func newCompiler(d *Document, bodies []exampleBody) (*jsonschema.Compiler, error) {
	definitions := map[string]any{}
	for _, name := range d.Components.Schemas.Keys() {
		definitions[name] = d.Components.Schemas.Get(name)
	}
	for i, b := range bodies {
		definitions[bodyName(i)] = b.body.Schema
	}
	data, err := json.Marshal(map[string]any{"$defs": definitions})
	if err != nil {
		return nil, err
	}
	data = bytes.ReplaceAll(data, []byte(`"#/components/schemas/`), []byte(`"#/$defs/`))
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	return compiler, compiler.AddResource(definitionsURL, value)
}

func decodeJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}
