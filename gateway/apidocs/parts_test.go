package apidocs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxPart is the size of the largest part, in bytes. The page shows a part of this size within a second.
const maxPart = 400_000

// readPart decodes a part.
func readPart(t *testing.T, path string, into any) (size int) {
	t.Helper()
	page := Find(path)
	require.NotNil(t, page)
	require.NoError(t, json.Unmarshal(page.body, into))
	return len(page.body)
}

// Each operation is in one part, and each part has the components that it refers to.
func TestParts(t *testing.T) {
	t.Parallel()
	var index []indexTag
	readPart(t, indexPath, &index)
	operations := 0
	for _, entry := range index {
		t.Run(entry.Name, func(t *testing.T) {
			assert.NotEmpty(t, entry.Group)
			var part description
			assert.LessOrEqual(t, readPart(t, entry.Part, &part), maxPart)
			inPart := 0
			for o := range part.operations() {
				inPart++
				assert.Contains(t, o.Description, accessMark, "says who may call it")
				for _, match := range reference.FindAllSubmatch(o.body, -1) {
					assert.Contains(t, part.Components[string(match[1])], string(match[2]))
				}
			}
			assert.Len(t, entry.Operations, inPart)
			for _, o := range entry.Operations {
				assert.NotContains(t, o.Description, accessMark, "the search leaves it out")
			}
			for _, components := range part.Components {
				for _, component := range components {
					for _, match := range reference.FindAllSubmatch(component, -1) {
						assert.Contains(t, part.Components[string(match[1])], string(match[2]))
					}
				}
			}
		})
		operations += len(entry.Operations)
	}
	all := 0
	for range whole().operations() {
		all++
	}
	assert.Equal(t, all, operations)
}

// OpenAPI 3.0 ignores properties beside a reference.
func TestPartsHaveNothingBesideReferences(t *testing.T) {
	t.Parallel()
	described := false
	var check func(t *testing.T, value any)
	check = func(t *testing.T, value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				check(t, v)
			}
		case map[string]any:
			if _, ok := value["$ref"]; ok {
				assert.Len(t, value, 1, "%v", value)
			}
			if value["allOf"] != nil {
				described = true
				assert.NotEmpty(t, value["description"])
			}
			for _, v := range value {
				check(t, v)
			}
		}
	}
	var index []indexTag
	readPart(t, indexPath, &index)
	for _, entry := range index {
		t.Run(entry.Name, func(t *testing.T) {
			var part map[string]any
			readPart(t, entry.Part, &part)
			assert.Equal(t, fastVersion, part["openapi"])
			check(t, part["components"])
			check(t, part["paths"])
		})
	}
	assert.True(t, described, "some references have a description")
}

func TestIntroductionHasNoOperations(t *testing.T) {
	t.Parallel()
	var part description
	readPart(t, introductionPath, &part)
	assert.Empty(t, part.Paths)
	assert.NotEmpty(t, part.Info.Description)
	assert.NotEmpty(t, part.Components[securitySchemes])
}
