package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Errors about a path name the path that the caller probably meant.
func TestErrorsSuggestPaths(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, &fakes{})
	for name, c := range map[string]struct {
		method, path string
		status       int
		want         string // the suggestion, or "" for none
	}{
		"a misspelt word":           {"GET", "/v1/scheduling/shedule/shifts/7", 404, "GET /v1/scheduling/schedule/shifts/{id}"},
		"two misspelt words":        {"POST", "/v1/sheduling/schedule/mutli_read", 404, "POST /v1/scheduling/schedule/multi_read"},
		"a misspelt word for an id": {"POST", "/v1/commons/persons/mutli_read", 405, "POST /v1/commons/persons/multi_read"},
		"singular":                  {"GET", "/v1/commons/person/7", 404, "GET /v1/commons/persons/{person_id}"},
		"another case":              {"GET", "/v1/commons/Persons/7", 404, "GET /v1/commons/persons/{person_id}"},
		"a slash at the end":        {"POST", "/v1/commons/persons/multi_read/", 404, "POST /v1/commons/persons/multi_read"},
		"without the version":       {"POST", "/commons/persons/multi_read", 404, "POST /v1/commons/persons/multi_read"},
		"another method":            {"GET", "/v1/commons/hyperfind/excute", 404, "POST /v1/commons/hyperfind/execute"},
		"nothing near":              {"GET", "/v1/commons/weather", 404, ""},
		"an unknown id":             {"GET", "/v1/commons/persons/abc", 404, ""},
		"a long path":               {"GET", "/v1/" + strings.Repeat("persons", 200), 404, ""},
		"many segments":             {"GET", "/v1" + strings.Repeat("/person", 40), 404, ""},
		"only slashes":              {"GET", "/////", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			re := call(t, s, c.method, c.path, "")
			require.Equal(t, c.status, re.status, re.body)
			var got struct{ Message string }
			require.NoError(t, json.Unmarshal([]byte(re.body), &got))
			if c.want == "" {
				assert.NotContains(t, got.Message, "Did you mean")
				return
			}
			assert.True(t, strings.HasSuffix(got.Message, " Did you mean "+c.want+"?"), got.Message)
		})
	}
}
