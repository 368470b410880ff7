package apidocs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/proto/gen/openapi"
)

// description is the part of the API description that readers need in words.
type description struct {
	Paths map[string]map[string]struct {
		Summary, Description string
		Parameters           []struct{ Ref, Name, Description string }
	}
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct{ Description string }
		}
	}
}

// Every operation, parameter and property says what it is.
func TestEverythingIsDescribed(t *testing.T) {
	t.Parallel()
	var d description
	require.NoError(t, json.Unmarshal(openapi.JSON, &d))
	var without []string
	need := func(text string, of ...string) {
		if strings.TrimSpace(text) == "" {
			without = append(without, strings.Join(of, " "))
		}
	}
	for path, item := range d.Paths {
		for verb, o := range item {
			need(o.Summary, verb, path, "summary")
			need(o.Description, verb, path, "description")
			for _, p := range o.Parameters {
				if p.Name != "" {
					need(p.Description, verb, path, p.Name)
				}
			}
		}
	}
	for name, schema := range d.Components.Schemas {
		for property, p := range schema.Properties {
			need(p.Description, name, property)
		}
	}
	slices.Sort(without)
	assert.Empty(t, without, "%s", strings.Join(without, "\n"))
}
