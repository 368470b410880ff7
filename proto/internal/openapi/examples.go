package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxExamples bounds the examples of a body.
const maxExamples = 2

// definitionsURL is the URL of all schemas of a description: its components and its bodies. They
// are in one $defs, because the compiler processes that once; for each schema elsewhere it would
// copy all schemas.
const definitionsURL = "https://rotaloom.invalid/definitions.json"

// exampleBody is a body with examples.
type exampleBody struct {
	content   map[string]Body
	mediaType string
}

// dropInvalidExamples keeps the first few valid examples of each body. The server accepts more
// forms than the description shows, such as numbers as text. The cases use these too, but they are
// not good examples.
func dropInvalidExamples(d *Document) error {
	bodies := exampleBodies(d)
	compiler, err := newCompiler(d, bodies)
	if err != nil {
		return err
	}
	for i, b := range bodies {
		schema, err := compiler.Compile(definitionsURL + "#/$defs/" + bodyName(i))
		if err != nil {
			return err
		}
		if err := b.prune(schema); err != nil {
			return err
		}
	}
	return nil
}

// exampleBodies returns the bodies with examples of all operations.
func exampleBodies(d *Document) []exampleBody {
	var out []exampleBody
	add := func(content map[string]Body) {
		for mediaType, body := range content {
			if body.Examples != nil {
				out = append(out, exampleBody{content, mediaType})
			}
		}
	}
	for _, path := range d.Paths.Keys() {
		for _, o := range d.Paths.Get(path).operations() {
			if o.RequestBody != nil {
				add(o.RequestBody.Content)
			}
			for _, status := range o.Responses.Keys() {
				add(o.Responses.Get(status).Content)
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
		definitions[bodyName(i)] = b.content[b.mediaType].Schema
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

// prune keeps the first few examples that match a schema.
func (b exampleBody) prune(schema *jsonschema.Schema) error {
	body, valid := b.content[b.mediaType], &Map[*Example]{}
	for _, name := range body.Examples.Keys() {
		example := body.Examples.Get(name)
		value, err := decodeJSON(example.Value)
		if err != nil {
			return err
		}
		if schema.Validate(value) == nil && len(valid.Keys()) < maxExamples {
			valid.Set(fmt.Sprintf("example%d", len(valid.Keys())+1), example)
		}
	}
	body.Examples = orNil(valid)
	b.content[b.mediaType] = body
	return nil
}

func decodeJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}
