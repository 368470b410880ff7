package openapi

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// step is the part of a contract case's step that the description uses.
type step struct {
	It           string            `yaml:"it"`
	Do           string            `yaml:"do"`
	JSON         any               `yaml:"json"`
	Form         map[string]string `yaml:"form"`
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
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		var c struct {
			Steps []step `yaml:"steps"`
		}
		if err := yaml.Unmarshal(data, &c); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, c.Steps...)
		return nil
	})
	return all, err
}

// sortSteps assigns each step to the route that it calls: a literal path segment takes precedence
// over a parameter.
func sortSteps(steps []step, routes []*route) map[string][]step {
	out := map[string][]step{}
	for _, s := range steps {
		verb, target, _ := strings.Cut(s.Do, " ")
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
		if best != nil {
			out[best.key()] = append(out[best.key()], s)
		}
	}
	return out
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

// requests returns example bodies of successful requests.
func (c *contractCases) requests(r *route, mediaType string) *Map[*Example] {
	out := &Map[*Example]{}
	for _, s := range c.steps[r.key()] {
		body := s.JSON
		if mediaType == formType && s.Form != nil {
			body = formValue(s.Form)
		}
		if body != nil && s.Status < http.StatusBadRequest {
			addExample(out, s.It, body)
		}
	}
	return orNil(out)
}

// addExample adds a body under a new name.
func addExample(examples *Map[*Example], what string, body any) {
	if value, ok := sample(body); ok {
		name := fmt.Sprintf("example%d", len(examples.Keys())+1)
		examples.Set(name, &Example{Summary: what, Value: value})
	}
}

func formValue(form map[string]string) map[string]any {
	out := map[string]any{}
	for name, value := range form {
		out[name] = value
	}
	return out
}

// responses returns the bodies that the cases expect. Real responses usually contain more.
func (c *contractCases) responses(r *route, status int) *Map[*Example] {
	out := &Map[*Example]{}
	for _, s := range c.steps[r.key()] {
		if s.Status == status && s.Expect != nil {
			addExample(out, s.It, s.Expect)
		}
	}
	return orNil(out)
}

func orNil(examples *Map[*Example]) *Map[*Example] {
	if len(examples.Keys()) == 0 {
		return nil
	}
	return examples
}

var variable = regexp.MustCompile(`^\$\{(\w+):number\}$`)

// sampleNumber replaces numbers that are known only at run time.
const sampleNumber = 1001

// sample replaces values that a case fills in at run time or leaves open by examples; ok reports
// whether the value can be shown.
func sample(v any) (value any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		if _, some := v["<contains>"]; some {
			return nil, false
		}
		out := map[string]any{}
		for name, member := range v {
			if member, ok := sample(member); ok {
				out[name] = member
			}
		}
		return out, true
	case []any:
		out := []any{}
		for _, item := range v {
			item, ok := sample(item)
			if !ok {
				return nil, false
			}
			out = append(out, item)
		}
		return out, true
	case time.Time:
		return v.Format(time.DateOnly), true
	case string:
		return sampleText(v)
	}
	return v, true
}

func sampleText(text string) (any, bool) {
	switch {
	case variable.MatchString(text), text == "<number>":
		return sampleNumber, true
	case text == "<date>":
		return "2026-03-02", true
	case text == "<text>":
		return "text", true
	case text == "<list>":
		return []any{}, true
	case strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">"):
		return nil, false
	}
	return expansion.ReplaceAllString(text, "$1"), true
}

// expansion matches a run-time value inside a text.
var expansion = regexp.MustCompile(`\$\{(\w+)\}`)
