package contract

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rotaloom/rotaloom/proto/gen/openapi"
)

// descriptionURL is the URL of the API description for references to its parts.
const descriptionURL = "https://rotaloom.invalid/openapi.json"

// description is the API description that the product serves. Every request and every response of a
// case must match it.
type description struct {
	mu       sync.Mutex
	root     map[string]any
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

var described = sync.OnceValues(func() (*description, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.JSON))
	if err != nil {
		return nil, err
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the API description is not an object")
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(descriptionURL, root); err != nil {
		return nil, err
	}
	return &description{root: root, compiler: compiler, compiled: map[string]*jsonschema.Schema{}}, nil
})

// checkDescribed checks a step's request and response against the API description and against the
// data about the reference product. It skips steps that call no operation, and requests that are
// meant to fail. lines reports whether the body is a list of lines.
func checkDescribed(step Step, request []byte, status int, body []byte, lines bool) error {
	d, err := described()
	if err != nil {
		return err
	}
	verb, target, _ := strings.Cut(step.Do, " ")
	path := d.describedPath(verb, target)
	if path == "" {
		return nil
	}
	at := []string{"paths", path, strings.ToLower(verb)}
	route := verb + " " + path
	if err := d.checkRequest(step, route, at, request); err != nil {
		return err
	}
	response, ok := d.follow(append(at, "responses", strconv.Itoa(status))...)
	if !ok {
		return fmt.Errorf("the API description has no status %d of %s", status, step.Do)
	}
	if len(body) == 0 {
		return nil
	}
	for _, media := range []string{"text/csv", "application/octet-stream"} {
		if _, ok := d.follow(append(response, "content", media)...); ok {
			return nil // The case compares it itself.
		}
	}
	media := "application/json"
	if lines {
		media = linesType
	}
	schema, ok := d.follow(append(response, "content", media, "schema")...)
	if !ok {
		return fmt.Errorf("the API description has no body of %d of %s in %s", status, step.Do, media)
	}
	if lines {
		return d.checkLines(schema, body)
	}
	value, err := d.validate(schema, body)
	if err != nil {
		return fmt.Errorf("the response is not as the API description says: %w", err)
	}
	if status != http.StatusOK {
		return nil
	}
	return checkReference("returns", route, value)
}

// checkRequest validates the JSON of an accepted request, in its strict form.
func (d *description) checkRequest(step Step, route string, at []string, request []byte) error {
	if step.JSON == nil || step.Status >= http.StatusBadRequest {
		return nil
	}
	way, ok := d.follow(append(at, "requestBody", "content", "application/json", "schema")...)
	if !ok {
		return nil
	}
	schema, err := d.schema(way)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(request))
	if err != nil {
		return fmt.Errorf("the request is not JSON: %w", err)
	}
	value = strict(schema, value)
	if err := schema.Validate(renameToOwn(schema, value)); err != nil {
		return fmt.Errorf("the request is not as the API description says: %w", err)
	}
	return checkReference("takes", route, value)
}

// describedPath returns the path in the description for a request, or "". A literal path segment
// takes precedence over a parameter.
func (d *description) describedPath(verb, target string) string {
	at, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(at, "/api/authentication/") {
		at = strings.TrimPrefix(at, "/api")
	}
	paths, _ := d.root["paths"].(map[string]any)
	best := ""
	for path, item := range paths {
		operations, _ := item.(map[string]any)
		_, ok := operations[strings.ToLower(verb)]
		if ok && fits(path, at) && (best == "" || strings.Count(path, "{") < strings.Count(best, "{")) {
			best = path
		}
	}
	return best
}

func fits(pattern, at string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(at, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
	}
	return true
}

// follow finds a part of the description by a path of names, follows a reference at its end, and
// returns the path to the part.
func (d *description) follow(way ...string) ([]string, bool) {
	var at any = d.root
	for _, name := range way {
		members, _ := at.(map[string]any)
		next, ok := members[name]
		if !ok {
			return nil, false
		}
		at = next
	}
	members, _ := at.(map[string]any)
	if ref, ok := members["$ref"].(string); ok && strings.HasPrefix(ref, "#/components/responses/") {
		return d.follow(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return append([]string(nil), way...), true
}

// validate returns the JSON of a body, if it matches the schema.
func (d *description) validate(way []string, body []byte) (any, error) {
	schema, err := d.schema(way)
	if err != nil {
		return nil, err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("no JSON: %w: %s", err, cut(body))
	}
	return value, schema.Validate(value)
}

func (d *description) schema(way []string) (*jsonschema.Schema, error) {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	at := descriptionURL + "#"
	for _, name := range way {
		at += "/" + escape.Replace(name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if schema, ok := d.compiled[at]; ok {
		return schema, nil
	}
	schema, err := d.compiler.Compile(at)
	if err != nil {
		return nil, err
	}
	d.compiled[at] = schema
	return schema, nil
}
