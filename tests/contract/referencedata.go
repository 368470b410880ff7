package contract

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/rotaloom/rotaloom/tests/contract/reference"
)

// referenceURL is the URL of the schemas of the reference.
const referenceURL = "https://rotaloom.invalid/reference.json"

// referenceData describes the requests and responses of the reference product.
// reference/common.yaml explains its notation.
type referenceData struct {
	Types      map[string]*referenceType     `yaml:"types"`
	Operations map[string]referenceOperation `yaml:"operations"`
	// Unknown lists operations with unknown types, by reason. A suffix " takes" or " returns"
	// limits the entry to requests or responses.
	Unknown map[string][]string `yaml:"unknown"`

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// referenceType is an object type.
type referenceType struct {
	// Properties are the types of its properties by name. A "!" after the name marks a property
	// that responses always have.
	Properties map[string]any `yaml:"properties"`
	// Own are additional properties of our product.
	Own []string `yaml:"own"`
	// Missing are properties that our product lacks, by reason.
	Missing map[string][]string `yaml:"missing"`
	// Differs are properties with another type in our product, by difference.
	Differs map[string][]string `yaml:"differs"`
}

// referenceOperation is a method and path.
type referenceOperation struct {
	Takes   any `yaml:"takes"`
	Returns any `yaml:"returns"`
}

var references = sync.OnceValues(func() (*referenceData, error) { return loadReference(reference.FS) })

func loadReference(files fs.FS) (*referenceData, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	all := &referenceData{
		Types: map[string]*referenceType{}, Operations: map[string]referenceOperation{}, Unknown: map[string][]string{},
		compiled: map[string]*jsonschema.Schema{},
	}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		one := &referenceData{}
		decoder := yaml.NewDecoder(bytes.NewReader(data))
		decoder.KnownFields(true)
		if err := decoder.Decode(one); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for key, t := range one.Types {
			if all.Types[key] != nil {
				return nil, fmt.Errorf("%s: the type %s is there twice", name, key)
			}
			all.Types[key] = t
		}
		for key, o := range one.Operations {
			if _, there := all.Operations[key]; there {
				return nil, fmt.Errorf("%s: %s is there twice", name, key)
			}
			all.Operations[key] = o
		}
		for reason, list := range one.Unknown {
			all.Unknown[reason] = append(all.Unknown[reason], list...)
		}
	}
	return all, all.compile()
}

// compile builds two schemas of each type: one for requests, without required properties because
// our product requires fewer, and one for responses.
func (r *referenceData) compile() error {
	root := map[string]any{}
	for way, required := range map[string]bool{"takes": false, "returns": true} {
		schemas := map[string]any{}
		for name, t := range r.Types {
			schema, err := r.object(t, way, required)
			if err != nil {
				return fmt.Errorf("the type %s: %w", name, err)
			}
			schemas[name] = schema
		}
		root[way] = schemas
		for route, o := range r.Operations {
			body := o.Takes
			if required {
				body = o.Returns
			}
			if body == nil {
				continue
			}
			schema, err := r.schema(body, way)
			if err != nil {
				return fmt.Errorf("%s: %w", route, err)
			}
			schemas[route] = schema
		}
	}
	r.compiler = jsonschema.NewCompiler()
	r.compiler.DefaultDraft(jsonschema.Draft2020)
	r.compiler.AssertFormat()
	return r.compiler.AddResource(referenceURL, root)
}

func (r *referenceData) object(t *referenceType, way string, required bool) (map[string]any, error) {
	properties, always := map[string]any{}, []any{}
	for _, key := range slices.Sorted(maps.Keys(t.Properties)) {
		name, must := strings.CutSuffix(key, "!")
		schema, err := r.schema(t.Properties[key], way)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		properties[name] = schema
		if must && required {
			always = append(always, name)
		}
	}
	for _, name := range slices.Concat(t.Own, slices.Concat(slices.Collect(maps.Values(t.Differs))...)) {
		if _, there := properties[name]; there {
			return nil, fmt.Errorf("%s is there, and listed as our own or as different", name)
		}
		properties[name] = true
	}
	return map[string]any{
		"type": "object", "properties": properties, "required": always, "additionalProperties": false,
	}, nil
}

// scalars are the types of values other than objects and lists.
var scalars = map[string]map[string]any{
	"integer":   {"type": "integer"},
	"number":    {"type": "number"},
	"boolean":   {"type": "boolean"},
	"text":      {"type": "string"},
	"date":      {"type": "string", "format": "date"},
	"time":      {"type": "string", "pattern": `^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$`},
	"date-time": {"type": "string", "pattern": `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$`},
	"any":       {},
}

// schema returns the schema of a type in the notation of the data.
func (r *referenceData) schema(value any, way string) (any, error) {
	switch v := value.(type) {
	case []any:
		if len(v) != 1 {
			return nil, fmt.Errorf("a list has one type, not %d", len(v))
		}
		items, err := r.schema(v[0], way)
		return map[string]any{"type": "array", "items": items}, err
	case string:
		if scalar, ok := scalars[v]; ok {
			return scalar, nil
		}
		if r.Types[v] != nil {
			return map[string]any{"$ref": "#/" + way + "/" + v}, nil
		}
		if values := strings.Split(v, "|"); len(values) > 1 {
			if way == "takes" { // Case-insensitive.
				return map[string]any{"type": "string", "pattern": "^(?i:" + v + ")$"}, nil
			}
			var enum []any
			for _, one := range values {
				enum = append(enum, one)
			}
			return map[string]any{"enum": enum}, nil
		}
	}
	return nil, fmt.Errorf("the type %v is unknown", value)
}

// operationSchema returns the schema of an operation's request or response; nil if it is unknown.
func (r *referenceData) operationSchema(way, route string) (*jsonschema.Schema, error) {
	o, known := r.Operations[route]
	if !known || way == "takes" && o.Takes == nil || way == "returns" && o.Returns == nil {
		return nil, nil
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", " ", "%20")
	at := referenceURL + "#/" + way + "/" + escape.Replace(route)
	r.mu.Lock()
	defer r.mu.Unlock()
	if schema, ok := r.compiled[at]; ok {
		return schema, nil
	}
	schema, err := r.compiler.Compile(at)
	if err != nil {
		return nil, err
	}
	r.compiled[at] = schema
	return schema, nil
}

// checkReference checks a value against the type of the reference product's request or response.
func checkReference(way, route string, value any) error {
	r, err := references()
	if err != nil {
		return err
	}
	schema, err := r.operationSchema(way, route)
	if err != nil || schema == nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s differs from the type that the reference product %s (tests/contract/reference): %w", route, way, err)
	}
	return nil
}
