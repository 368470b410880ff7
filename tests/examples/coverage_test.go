package examples

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/proto/gen/openapi"
)

// missing is the number of operations with a body that have no example yet. It only decreases.
const missing = 0

// Operations with a JSON body have an example.
func TestOperationsHaveExamples(t *testing.T) {
	t.Parallel()
	var description struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Examples map[string]any }
			}
		}
	}
	require.NoError(t, json.Unmarshal(openapi.JSON, &description))
	var without []string
	for _, path := range slices.Sorted(maps.Keys(description.Paths)) {
		for verb, operation := range description.Paths[path] {
			body, ok := operation.RequestBody.Content["application/json"]
			if ok && len(body.Examples) == 0 {
				without = append(without, strings.ToUpper(verb)+" "+path)
			}
		}
	}
	t.Logf("%d operations have no example:\n%s", len(without), strings.Join(without, "\n"))
	assert.LessOrEqual(t, len(without), missing)
}
