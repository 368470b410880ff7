package contract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	d, err := described()
	require.NoError(t, err)
	for _, o := range Operations() {
		for _, r := range o.Routes {
			path := strings.ReplaceAll("/"+strings.Join(r.segments, "/")+"/", "//", "/x/")
			assert.NotEmpty(t, d.describedPath(r.method, strings.TrimSuffix(path, "/")), "%s of %s", r, o.Name)
		}
	}
}

// TestNamesDifferByMoreThanCase keeps generated clients working: they write the names of properties in the form of
// their language, and then declare "payCode" and "paycode" of one object twice. Some write each schema into a file of its
// own, and many file systems ignore the case of names.
func TestNamesDifferByMoreThanCase(t *testing.T) {
	t.Parallel()
	d, err := described()
	require.NoError(t, err)
	objects := 0
	var check func(path string, value any)
	check = func(path string, value any) {
		schema, _ := value.(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		if len(properties) > 0 {
			objects++
		}
		checkNames(t, path, properties)
		for name, part := range schema {
			check(path+"/"+name, part)
		}
	}
	check("", d.root)
	components, _ := d.root["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	require.NotEmpty(t, schemas)
	checkNames(t, "/components/schemas", schemas)
	assert.Greater(t, objects, 500, "the schemas of the description were not found")
}

// checkNames reports names that differ only by case or underscores.
func checkNames(t *testing.T, path string, named map[string]any) {
	t.Helper()
	names := map[string]string{}
	for name := range named {
		plain := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		assert.Empty(t, names[plain], "%s has %s and a name that differs from it only by case or underscores", path, name)
		names[plain] = name
	}
}

func TestDifferencesFromTheDescriptionAreNoticed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, do, request, response, problem string
		status                               int
		lines                                bool
	}{
		{name: "as described", do: "GET /v1/scheduling/shift_templates/5", status: 200, response: `{"id":5}`},
		{name: "under /api", do: "GET /api/v1/scheduling/shift_templates/5", status: 200, response: `{"id":5,"x":1}`, problem: "additional properties 'x'"},
		{name: "a member that is not described", do: "GET /v1/scheduling/shift_templates/5", status: 200, response: `{"id":5,"x":1}`, problem: "additional properties 'x'"},
		{name: "a member of another type", do: "GET /v1/scheduling/shift_templates/5", status: 200, response: `{"id":"5"}`, problem: "got string, want integer"},
		{name: "a status that is not described", do: "GET /v1/scheduling/shift_templates/5", status: 418, response: `{}`, problem: "no status 418"},
		{name: "an error of another form", do: "GET /v1/scheduling/shift_templates/5", status: 404, response: `{"code":5}`, problem: "additional properties 'code'"},
		{name: "an object for a list", do: "GET /v1/scheduling/shift_templates", status: 200, response: `{}`, problem: "want array"},
		{name: "lenient forms of a request", do: "POST /v1/scheduling/shift_templates", status: 200, request: `{"id":"5","name":7,"segments":{"orderNumber":1.5,"startDateTime":"2026-03-02T08:00:00","endDateTime":"2026-03-02T16:00:00"},"label":null}`, response: `{}`},
		{name: "the other name of a property", do: "POST /v1/timekeeping/timecard", status: 200, request: `{"where":{"dateRange":{"startDate":"2026-03-02","EndDate":"2026-03-03"}},"do":{"punches":{"added":[{"isEditable":true}]}}}`, response: `{}`},
		{name: "the other name in a response", do: "POST /v1/timekeeping/timecard", status: 200, response: `{"punches":[{"isEditable":true}]}`, problem: "additional properties 'isEditable'"},
		{name: "a request that is not described", do: "POST /v1/scheduling/shift_templates", status: 200, request: `{"foo":1}`, response: `{}`, problem: "additional properties 'foo'"},
		{name: "lines of an array", do: "POST /v1/commons/persons/base_persons/multi_read", status: 200, lines: true, response: `[{"personNumber":"1"},{"personNumber":"2"}]`},
		{name: "a line that is no item", do: "POST /v1/commons/persons/base_persons/multi_read", status: 200, lines: true, response: `[{"personNumber":"1"},[]]`, problem: "want object"},
		{name: "lines of an object", do: "POST /v1/scheduling/schedule/multi_read", status: 200, lines: true, response: `[{"dayLocks":[{"id":1,"startDateTime":"2026-03-02T00:00:00","endDateTime":"2026-03-03T00:00:00"}]},{"openShifts":[]}]`},
		{name: "an item without its list", do: "POST /v1/scheduling/schedule/multi_read", status: 200, lines: true, response: `[{"id":1}]`, problem: "line 1"},
		{name: "lines of an operation that has none", do: "GET /v1/scheduling/shift_templates", status: 200, lines: true, response: `[{"id":1}]`, problem: "in application/x-ndjson"},
		{name: "an unknown operation", do: "GET /v1/nothing", status: 404, response: `nothing`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			step := Step{Do: test.do, Status: http.StatusOK}
			if test.request != "" {
				step.JSON = test.request
			}
			err := checkDescribed(step, []byte(test.request), test.status, []byte(test.response), test.lines)
			if test.problem == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.problem)
		})
	}
}
