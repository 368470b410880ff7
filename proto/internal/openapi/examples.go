package openapi

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// request is an example that a test sends to the demonstration. Requests that share a file are in the order in which
// a reader can send them.
type request struct {
	// Do is the method and the address: "GET /v1/commons/jobs/3?locale=en".
	Do string `yaml:"do"`
	// Title says what the request does: "Read the shifts of two employees in a week".
	Title string            `yaml:"title"`
	JSON  any               `yaml:"json"`
	Form  map[string]string `yaml:"form"`
	// Status is the status of the response.
	Status int `yaml:"status"`
	// Response is the body of the response, if it is JSON.
	Response any `yaml:"response"`
}

// exampleSet holds the examples by route.
type exampleSet struct {
	requests map[string][]request // by verb and path
}

// loadExamples reads the examples below a folder.
func loadExamples(files fs.FS, routes []*route) (*exampleSet, error) {
	set := &exampleSet{requests: map[string][]request{}}
	return set, eachFile(files, func(data []byte) error {
		var all []request
		if err := yaml.Unmarshal(data, &all); err != nil {
			return err
		}
		for _, one := range all {
			r := findRoute(one.Do, routes)
			if r == nil {
				return fmt.Errorf("no operation serves %s", one.Do)
			}
			if one.Title == "" || one.Status == 0 {
				return fmt.Errorf("%s needs a title and a status", one.Do)
			}
			set.requests[r.key()] = append(set.requests[r.key()], one)
		}
		return nil
	})
}

// bodies returns the bodies of the examples of a route.
func (s *exampleSet) bodies(r *route) *Map[*Example] {
	return s.collect(r, func(one request) (any, bool) {
		if one.Form != nil {
			return one.Form, true
		}
		return one.JSON, one.JSON != nil
	})
}

// responses returns the bodies of the responses of a route with a status.
func (s *exampleSet) responses(r *route, status int) *Map[*Example] {
	return s.collect(r, func(one request) (any, bool) { return one.Response, one.Status == status && one.Response != nil })
}

// addTo sets the examples of the parameters of a route.
func (s *exampleSet) addTo(parameters []*Parameter, r *route) error {
	var bad error
	for _, p := range parameters {
		p.Examples = s.collect(r, func(one request) (any, bool) {
			text, ok := one.parameter(p, r)
			if !ok {
				return nil, false
			}
			value, err := p.parse(text)
			if err != nil {
				bad = errors.Join(bad, fmt.Errorf("%s: %s: %w", one.Do, p.Name, err))
			}
			return value, true
		})
	}
	return bad
}

// parameter returns the value of a parameter in the address of an example.
func (one request) parameter(p *Parameter, r *route) (text string, ok bool) {
	_, target, _ := strings.Cut(one.Do, " ")
	at, err := url.Parse(target)
	if err != nil {
		return "", false
	}
	switch p.In {
	case "query":
		return at.Query().Get(p.Name), at.Query().Has(p.Name)
	case "path":
		segments := strings.Split(at.Path, "/")
		for i, segment := range strings.Split(r.path, "/") {
			if segment == "{"+p.Name+"}" {
				return segments[i], true
			}
		}
	}
	return "", false
}

// parse returns the value that the text of a parameter stands for.
func (p *Parameter) parse(text string) (any, error) {
	switch p.Schema.Type {
	case "integer":
		return strconv.ParseInt(text, 10, 64)
	case "number":
		return strconv.ParseFloat(text, 64)
	case "boolean":
		return strconv.ParseBool(text)
	case "array":
		var list []any
		for _, item := range strings.Split(text, ",") {
			value, err := (&Parameter{Schema: p.Schema.Items}).parse(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	}
	return text, nil
}

// collect returns what the examples of a route have, or nil. Examples of one request have one name.
func (s *exampleSet) collect(r *route, value func(one request) (any, bool)) *Map[*Example] {
	out := &Map[*Example]{}
	for i, one := range s.requests[r.key()] {
		if v, ok := value(one); ok {
			out.Set(fmt.Sprintf("example%d", i+1), &Example{Summary: one.Title, Value: v})
		}
	}
	if len(out.Keys()) == 0 {
		return nil
	}
	return out
}
