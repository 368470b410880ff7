package apidocs

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPagesAreServed(t *testing.T) {
	t.Parallel()
	for path, contentType := range map[string]string{
		"/openapi.json": "application/json", "/openapi.yaml": "application/yaml",
		"/docs": "text/html; charset=utf-8", "/docs/": "text/html; charset=utf-8",
		"/docs/errors": "text/html; charset=utf-8", "/docs/errors.css": "text/css; charset=utf-8",
		"/docs/start.js": "text/javascript; charset=utf-8", "/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
		"/docs/search.js": "text/javascript; charset=utf-8", "/docs/page.css": "text/css; charset=utf-8",
		"/docs/parts/index.json": "application/json", "/docs/parts/commons-job.json": "application/json",
		"/docs/swagger-ui.css": "text/css; charset=utf-8", "/docs/favicon-32x32.png": "image/png",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			plain := get(t, path, nil)
			require.Equal(t, http.StatusOK, plain.StatusCode)
			require.Equal(t, contentType, plain.Header.Get("Content-Type"))
			require.Contains(t, plain.Header.Get("Content-Security-Policy"), "default-src 'none'")
			body, err := io.ReadAll(plain.Body)
			require.NoError(t, err)
			require.NotEmpty(t, body)

			packed := get(t, path, http.Header{"Accept-Encoding": {"br, gzip"}})
			require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
			reader, err := gzip.NewReader(packed.Body)
			require.NoError(t, err)
			unpacked, err := io.ReadAll(reader)
			require.NoError(t, err)
			require.Equal(t, body, unpacked)

			known := get(t, path, http.Header{"If-None-Match": {plain.Header.Get("ETag")}})
			require.Equal(t, http.StatusNotModified, known.StatusCode)
		})
	}
}

func TestRootLeadsToThePage(t *testing.T) {
	t.Parallel()
	root := get(t, "/", nil)
	require.Equal(t, http.StatusSeeOther, root.StatusCode)
	require.Equal(t, "/docs", root.Header.Get("Location"))
}

func TestOtherPathsAreNoPages(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/x", "/docs/x", "/docs/parts/x.json", "/docs/../openapi.json", "/v1/scheduling/shift_templates"} {
		t.Run(path, func(t *testing.T) {
			require.Nil(t, Find(path), path)
		})
	}
}

func TestDescriptionIsJSON(t *testing.T) {
	t.Parallel()
	var d struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	require.NoError(t, json.NewDecoder(get(t, "/openapi.json", nil).Body).Decode(&d))
	require.Equal(t, "3.1.1", d.OpenAPI)
	require.NotEmpty(t, d.Paths)
}

func get(t *testing.T, path string, header http.Header) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "https://host"+path, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	page := Find(path)
	require.NotNil(t, page)
	page.ServeHTTP(w, r)
	return w.Result()
}

// An operation on several items says which faults refuse the whole request.
func TestOperationsOnSeveralItemsSayWhatRefusesAll(t *testing.T) {
	t.Parallel()
	var d struct {
		Paths map[string]map[string]struct {
			Description string                     `json:"description"`
			Responses   map[string]json.RawMessage `json:"responses"`
			Parameters  []struct {
				Name string `json:"name"`
			} `json:"parameters"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(Find("/openapi.json").body, &d))
	partly := 0
	for path, operations := range d.Paths {
		for verb, o := range operations {
			for _, p := range o.Parameters {
				if p.Name == "partial_success" && o.Responses["207"] != nil {
					partly++
					require.Contains(t, o.Description, "A fault of one item refuses the whole request, unless partial_success is true", verb+" "+path)
				}
			}
		}
	}
	require.Greater(t, partly, 5)
	require.Contains(t, d.Paths["/v1/commons/persons/multi_create"]["post"].Description, "A fault of one item does not refuse the others")
}
