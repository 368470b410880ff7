package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxExamples is how many examples a body has at most.
const maxExamples = 2

// documentURL is the name by which the schemas of a description are found.
const documentURL = "https://rotaloom.invalid/openapi.json"

// keepValidExamples leaves the examples that their schema allows, the first few
// of each body. The server takes more than the description shows, such as
// numbers as text, and the cases hold that too; such forms are no examples.
func keepValidExamples(d *Document) error {
	compiler, err := newCompiler(d)
	if err != nil {
		return err
	}
	for _, path := range d.Paths.Keys() {
		item := d.Paths.Get(path)
		for verb, o := range map[string]*Operation{"get": item.Get, "put": item.Put, "post": item.Post, "delete": item.Delete} {
			if o == nil {
				continue
			}
			at := fmt.Sprintf("%s#/paths/%s/%s", documentURL, pointer(path), verb)
			if err := pruneOperation(compiler, o, at); err != nil {
				return err
			}
		}
	}
	return nil
}

func newCompiler(d *Document) (*jsonschema.Compiler, error) {
	data, err := plainJSON(d)
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	return compiler, compiler.AddResource(documentURL, value)
}

func pruneOperation(compiler *jsonschema.Compiler, o *Operation, at string) error {
	if o.RequestBody != nil {
		if err := pruneContent(compiler, o.RequestBody.Content, at+"/requestBody/content"); err != nil {
			return err
		}
	}
	for _, status := range o.Responses.Keys() {
		content := o.Responses.Get(status).Content
		if err := pruneContent(compiler, content, at+"/responses/"+status+"/content"); err != nil {
			return err
		}
	}
	return nil
}

func pruneContent(compiler *jsonschema.Compiler, content map[string]Body, at string) error {
	for mediaType, body := range content {
		if body.Examples == nil {
			continue
		}
		schema, err := compiler.Compile(at + "/" + pointer(mediaType) + "/schema")
		if err != nil {
			return err
		}
		valid := &Map[*Example]{}
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
		content[mediaType] = body
	}
	return nil
}

// pointer escapes a member's name for a JSON pointer in a URL.
func pointer(name string) string {
	name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return strings.NewReplacer("{", "%7B", "}", "%7D").Replace(name)
}

func decodedJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}
