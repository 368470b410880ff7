// Package contract runs contract cases: requests and the expected responses, written as data. A
// case uses only the network, so the same cases hold every way of running the product to the same
// contract.
package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Case is a sequence of steps. Steps may use values that earlier steps kept. Cases share one server
// and run concurrently: a case names the objects that it creates with ${unique}.
type Case struct {
	// Path of the file, "<domain>/<resource>/<case>".
	Path string `yaml:"-"`
	// Name is a sentence that states the expected behaviour.
	Name  string `yaml:"name"`
	Steps []Step `yaml:"steps"`
}

// Step is a request with the expected response.
type Step struct {
	// It describes the purpose of the step.
	It string `yaml:"it"`
	// Do is the method and the path, "POST /v1/...".
	Do string `yaml:"do"`
	// JSON, Form and Body are the request body; at most one is set. Body is sent unchanged.
	JSON any               `yaml:"json"`
	Form map[string]string `yaml:"form"`
	Body string            `yaml:"body"`
	// Header is added to the request. An empty value removes a header.
	Header map[string]string `yaml:"header"`
	// Anonymous omits the access token.
	Anonymous bool `yaml:"anonymous"`
	// Status is the expected status.
	Status int `yaml:"status"`
	// Expect is the expected JSON response: objects may have additional members, arrays must have
	// exactly the expected items. Lines of JSON are an array. See Match for the placeholders.
	Expect any `yaml:"expect"`
	// Text is the exact expected response.
	Text *string `yaml:"text"`
	// ExpectHeader holds the expected headers; "<absent>" and "<any>" work.
	ExpectHeader map[string]string `yaml:"expectHeader"`
	// Keep stores parts of the response, name: path, for later steps. A path is
	// the names and indexes to a value, "0.groupSchedulePattern.id", or
	// "header:Content-Location".
	Keep map[string]string `yaml:"keep"`
	// Within repeats the request until the response is as expected, or the time is over. It is for
	// asynchronous changes.
	Within time.Duration `yaml:"within"`
}

// Load reads all cases below the root of files.
func Load(files fs.FS) ([]Case, error) {
	var cases []Case
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".yaml" {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		c, err := parse(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.Path = strings.TrimSuffix(name, ".yaml")
		cases = append(cases, c)
		return nil
	})
	return cases, err
}

func parse(data []byte) (Case, error) {
	var c Case
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		return c, err
	}
	if err := decoder.Decode(new(Case)); !errors.Is(err, io.EOF) {
		return c, errors.New("a file holds one case")
	}
	if c.Name == "" || len(c.Steps) == 0 {
		return c, errors.New("a case needs a name and steps")
	}
	for i, s := range c.Steps {
		c.Steps[i].JSON, c.Steps[i].Expect = plainDates(s.JSON), plainDates(s.Expect)
		if s.It == "" || s.Status == 0 || len(strings.Fields(s.Do)) != 2 {
			return c, fmt.Errorf("step %d needs it, do (method and path) and status", i+1)
		}
	}
	return c, nil
}

// plainDates turns the dates that YAML recognises back into their text.
func plainDates(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = plainDates(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plainDates(v[i])
		}
	case time.Time:
		return v.Format(time.DateOnly)
	}
	return v
}
