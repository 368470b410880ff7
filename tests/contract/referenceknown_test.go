package contract

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The data states the request and response of each operation of the reference product, or why they
// are unknown.
func TestEveryOperationOfTheReferenceIsKnown(t *testing.T) {
	t.Parallel()
	r, err := references()
	require.NoError(t, err)
	d, err := described()
	require.NoError(t, err)
	unknown := map[string]bool{}
	for reason, list := range r.Unknown {
		require.NotEmpty(t, reason)
		for _, name := range list {
			require.False(t, unknown[name], "%s is there twice", name)
			unknown[name] = true
		}
	}
	seen := map[string]bool{}
	for path, verbs := range d.at([]string{"paths"}) {
		for verb := range verbs.(map[string]any) {
			operation := d.at([]string{"paths", path, verb})
			if operation["x-origin"] != "reference" {
				continue
			}
			route := strings.ToUpper(verb) + " " + path
			known := r.Operations[route]
			for way, body := range map[string]any{"takes": known.Takes, "returns": known.Returns} {
				at := []string{"paths", path, verb, "requestBody"}
				if way == "returns" {
					at = []string{"paths", path, verb, "responses", strconv.Itoa(http.StatusOK)}
				}
				_, has := d.follow(append(at, "content", "application/json")...)
				listed := unknown[route] || unknown[route+" "+way]
				seen[route] = seen[route] || has && unknown[route]
				seen[route+" "+way] = has
				if has {
					assert.True(t, (body != nil) != listed, "%s %s: say what, or why that is not known, and not both", route, way)
				}
			}
		}
	}
	for name := range unknown {
		assert.True(t, seen[name], "%s is listed as unknown, but is not an operation of the reference product with a body", name)
	}
}
