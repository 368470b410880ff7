package openapi

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// step is the part of a contract case's step that the description uses.
type step struct {
	Do           string            `yaml:"do"`
	Status       int               `yaml:"status"`
	Expect       any               `yaml:"expect"`
	ExpectHeader map[string]string `yaml:"expectHeader"`
}

// contractCases holds the steps of all contract cases by route.
type contractCases struct {
	steps map[string][]step // by verb and path
}

// outcome is an outcome that a case shows.
type outcome struct {
	status    int
	errorCode string
}

// loadSteps reads the cases below a folder, in the order of their paths.
func loadSteps(files fs.FS) ([]step, error) {
	var all []step
	err := eachFile(files, func(data []byte) error {
		var c struct {
			Steps []step `yaml:"steps"`
		}
		err := yaml.Unmarshal(data, &c)
		all = append(all, c.Steps...)
		return err
	})
	return all, err
}

// eachFile reads the YAML files below a folder, in the order of their paths.
func eachFile(files fs.FS, read func(data []byte) error) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err == nil {
			err = read(data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
}

// sortSteps assigns each step to the route that it calls.
func sortSteps(steps []step, routes []*route) map[string][]step {
	out := map[string][]step{}
	for _, s := range steps {
		if r := findRoute(s.Do, routes); r != nil {
			out[r.key()] = append(out[r.key()], s)
		}
	}
	return out
}

// findRoute returns the route of a request, "GET /v1/jobs/3?depth=1", or nil. A literal path segment takes
// precedence over a parameter.
func findRoute(request string, routes []*route) *route {
	verb, target, _ := strings.Cut(request, " ")
	at, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(at, "/api/authentication/") {
		at = strings.TrimPrefix(at, "/api")
	}
	var best *route
	for _, r := range routes {
		if r.verb == verb && matches(r.path, at) && (best == nil || parameters(r.path) < parameters(best.path)) {
			best = r
		}
	}
	return best
}

func (r *route) key() string { return r.verb + " " + r.path }

func matches(pattern, at string) bool {
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

func parameters(pattern string) int { return strings.Count(pattern, "{") }

// outcomes returns the outcomes of a route in the cases.
func (c *contractCases) outcomes(r *route) []outcome {
	var out []outcome
	for _, s := range c.steps[r.key()] {
		o := outcome{status: s.Status}
		if code := expectedCode(s.Expect); s.Status >= http.StatusBadRequest && !strings.ContainsAny(code, "<$") {
			o.errorCode = code
		}
		out = append(out, o)
	}
	return out
}

// expectedCode returns the error code of an error body, which is an object or a list of items.
func expectedCode(body any) (code string) {
	switch body := body.(type) {
	case map[string]any:
		code, _ = body["errorCode"].(string)
	case []any:
		if len(body) > 0 {
			item, _ := body[0].(map[string]any)
			code, _ = item["message_code"].(string)
		}
	}
	return code
}

// headers returns the names of the headers that the cases check.
func (c *contractCases) headers(r *route, status int) map[string]bool {
	out := map[string]bool{}
	for _, s := range c.steps[r.key()] {
		for name, want := range s.ExpectHeader {
			if s.Status == status && want != "<absent>" {
				out[http.CanonicalHeaderKey(name)] = true
			}
		}
	}
	return out
}
