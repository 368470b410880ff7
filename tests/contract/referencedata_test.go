package contract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The product accepts all properties that the reference product takes, and returns all that it
// returns: the API description has each property, with a type that fits.
func TestReferenceIsDescribed(t *testing.T) {
	t.Parallel()
	r, err := references()
	require.NoError(t, err)
	d, err := described()
	require.NoError(t, err)
	require.NotEmpty(t, r.Operations)
	for route, o := range r.Operations {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			verb, path, _ := strings.Cut(route, " ")
			at := []string{"paths", path, strings.ToLower(verb)}
			_, ok := d.follow(at...)
			require.True(t, ok, "the operation is unknown")
			for way, body := range map[string]any{"takes": o.Takes, "returns": o.Returns} {
				t.Run(way, func(t *testing.T) {
					if body == nil {
						return
					}
					_, err := r.operationSchema(way, route)
					require.NoError(t, err)
					part := slices.Concat(at, []string{"requestBody"})
					if way == "returns" {
						part = slices.Concat(at, []string{"responses", strconv.Itoa(http.StatusOK)})
					}
					content, ok := d.follow(append(part, "content", "application/json", "schema")...)
					require.True(t, ok, "nothing is described that it %s", way)
					c := comparison{reference: r, description: d, done: map[string]bool{}}
					c.compare(way, body, d.at(content))
					assert.Empty(t, c.problems)
				})
			}
		})
	}
}

// comparison walks through a type of the reference and a schema of the description.
type comparison struct {
	reference   *referenceData
	description *description
	done        map[string]bool
	problems    []string
}

func (c *comparison) compare(path string, want any, schema map[string]any) {
	at := ""
	for schema["$ref"] != nil {
		at = schema["$ref"].(string)
		schema = c.description.at(strings.Split(strings.TrimPrefix(at, "#/"), "/"))
	}
	kind, _ := schema["type"].(string)
	switch want := want.(type) {
	case []any:
		items, _ := schema["items"].(map[string]any)
		if kind != "array" {
			c.problem(path, "is not a list but %s", kind)
			return
		}
		c.compare(path+"[]", want[0], items)
	case string:
		if want == "any" {
			return
		}
		if t := c.reference.Types[want]; t != nil {
			if pair := want + at; !c.done[pair] {
				c.done[pair] = true
				c.object(path, t, schema)
			}
			return
		}
		wanted := "string"
		if scalar := scalars[want]; scalar != nil {
			wanted = scalar["type"].(string)
		}
		if kind != wanted && !(wanted == "number" && kind == "integer") {
			c.problem(path, "is described as %s, not %s", kind, want)
		}
	}
}

func (c *comparison) object(path string, t *referenceType, schema map[string]any) {
	listed, _ := schema["properties"].(map[string]any)
	properties := maps.Clone(listed)
	for _, value := range listed {
		property, _ := value.(map[string]any)
		text, _ := property["description"].(string)
		if name := otherName(text); name != "" {
			properties[name] = property
		}
	}
	for key, want := range t.Properties {
		property := strings.TrimSuffix(key, "!")
		described, there := properties[property].(map[string]any)
		if !there {
			c.problem(path+"."+property, "is not described; say why under missing")
			continue
		}
		c.compare(path+"."+property, want, described)
	}
	for _, list := range t.Missing {
		for _, property := range list {
			if properties[property] != nil {
				c.problem(path+"."+property, "is described, and listed as missing")
			}
		}
	}
	for _, property := range slices.Concat(t.Own, slices.Concat(slices.Collect(maps.Values(t.Differs))...)) {
		if properties[property] == nil {
			c.problem(path+"."+property, "is listed as our own or as different, and not described")
		}
	}
}

func (c *comparison) problem(path, format string, args ...any) {
	c.problems = append(c.problems, path+" "+fmt.Sprintf(format, args...))
}

// at returns a part of the description.
func (d *description) at(way []string) map[string]any {
	var at any = d.root
	for _, name := range way {
		at = at.(map[string]any)[name]
	}
	members, _ := at.(map[string]any)
	return members
}

// Differences are noticed in both directions.
func TestDifferencesFromTheReferenceAreNoticed(t *testing.T) {
	t.Parallel()
	r, err := loadReference(fstest.MapFS{"a.yaml": {Data: []byte(`
types:
  ref: {properties: {id: integer, qualifier: text}}
  pet: {properties: {name!: text, kind: CAT|DOG, owners: [ref], born: date}, own: [toys]}
operations:
  POST /pets: {takes: pet, returns: [pet]}
`)}})
	require.NoError(t, err)
	tests := []struct {
		name, way string
		value     any
		problem   string
	}{
		{name: "as it is", way: "returns", value: []any{map[string]any{"name": "a", "kind": "CAT", "born": "2026-01-01", "toys": 5}}},
		{name: "a request need not say all", way: "takes", value: map[string]any{"kind": "DOG"}},
		{name: "a missing required property", way: "returns", value: []any{map[string]any{}}, problem: "missing property 'name'"},
		{name: "another type", way: "takes", value: map[string]any{"name": true}, problem: "want string"},
		{name: "a type inside", way: "takes", value: map[string]any{"owners": []any{map[string]any{"id": "x"}}}, problem: "want integer"},
		{name: "no value of the enumeration", way: "takes", value: map[string]any{"kind": "COW"}, problem: "does not match pattern"},
		{name: "a request in any case", way: "takes", value: map[string]any{"kind": "cat"}},
		{name: "a response in another case", way: "returns", value: []any{map[string]any{"name": "a", "kind": "cat"}}, problem: "must be one of"},
		{name: "a property that is not listed", way: "returns", value: []any{map[string]any{"name": "a", "age": 5}}, problem: "additional properties 'age'"},
		{name: "an object for a list", way: "returns", value: map[string]any{}, problem: "want array"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			schema, err := r.operationSchema(test.way, "POST /pets")
			require.NoError(t, err)
			err = schema.Validate(test.value)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.problem)
		})
	}
	nothing, err := r.operationSchema("takes", "GET /pets")
	require.NoError(t, err)
	assert.Nil(t, nothing)
	for name, text := range map[string]string{
		"an unknown type":       `types: {a: {properties: {b: foo}}}`,
		"two in a list":         `types: {a: {properties: {b: [text, text]}}}`,
		"our own that is there": `types: {a: {properties: {b: text}, own: [b]}}`,
		"different and there":   `types: {a: {properties: {b: text}, differs: {a text here: [b]}}}`,
		"an unknown key":        `types: {a: {property: {}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := loadReference(fstest.MapFS{"a.yaml": {Data: []byte(text)}})
			require.Error(t, err)
		})
	}
}
