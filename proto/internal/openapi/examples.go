package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxExamples is how many examples a body has at most.
const maxExamples = 2

// definitionsURL is the name of the schemas of a description, of its components and of its
// bodies. They stand in one $defs, since the compiler goes through that once; of schemas
// that stand anywhere it copies all that it knows for each.
const definitionsURL = "https://rotaloom.invalid/definitions.json"

// exampleBody is a body that has examples.
type exampleBody struct {
	content   map[string]Body
	mediaType string
}

// dropInvalidExamples leaves the examples that their schema allows, the first few
// of each body. The server takes more than the description shows, such as
// numbers as text, and the cases hold that too; such forms are no examples.
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

// exampleBodies returns the bodies of all operations that have examples.
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
		item := d.Paths.Get(path)
		for _, o := range []*Operation{item.Get, item.Put, item.Post, item.Delete} {
			if o == nil {
				continue
			}
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

// prune leaves the first few examples that a schema allows.
func (b exampleBody) prune(schema *jsonschema.Schema) error {
	body, valid := b.content[b.mediaType], &Map[*Example]{}
	for _, name := range body.Examples.Keys() {
		example := body.Examples.Get(name)
		value, err := decodedJSON(example.Value)
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

func decodedJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}
