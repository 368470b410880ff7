// Package examples holds the examples of the API description: requests to the demonstration, with titles for readers,
// and the recorded responses. A test sends each request as it is shown, and compares the responses.
package examples

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
)

// Example is a request as the API description shows it. The requests of a file build on each other, in their order:
// those that read, change or delete an object come after the one that creates it. They name GUIDs as the recorded
// responses above them do; the test sends the GUIDs that the server has generated instead.
type Example struct {
	// Do is the method and the address: "GET /v1/commons/jobs/3".
	Do string `yaml:"do"`
	// Title says what the request does: "Read the shifts of two employees in a week".
	Title string `yaml:"title"`
	// As is the user of the demonstration that sends the request. The default is the first administrator.
	As string `yaml:"as"`
	// JSON or Form is the body.
	JSON any               `yaml:"json"`
	Form map[string]string `yaml:"form"`
	// Status is the status of the response.
	Status int `yaml:"status"`
	// Varies says why responses have other lists and numbers on other days. Then only the names and
	// the types of the properties of the response are compared.
	Varies string `yaml:"varies"`
	// Unsent says why the test cannot send the request, for example because it needs a generated password.
	Unsent string `yaml:"unsent"`
	// Response is the recorded body of the response, if that is JSON. Its lists have the first items only.
	Response any `yaml:"response"`
}

// File is a file of examples.
type File struct {
	Path     string
	Examples []Example
	document yaml.Node
}

// Read reads the files below a folder, in the order of their paths.
func Read(folder string) ([]*File, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var files []*File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f := &File{Path: path}
		if err := yaml.Unmarshal(data, &f.document); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := f.document.Decode(&f.Examples); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// Name returns the domain and the name of the file.
func (f *File) Name() string {
	return filepath.Base(filepath.Dir(f.Path)) + "/" + filepath.Base(f.Path)
}

// setStatus sets the status of an example in the file.
func (f *File) setStatus(i, status int) {
	f.set(i, "status", &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(status)})
}

// setResponse sets the response of an example in the file, or removes it.
func (f *File) setResponse(i int, response any) error {
	if response == nil {
		f.set(i, "response", nil)
		return nil
	}
	var value yaml.Node
	if err := value.Encode(response); err != nil {
		return err
	}
	f.set(i, "response", &value)
	return nil
}

// set sets a property of an example to a value, as the last property, or removes it.
func (f *File) set(i int, name string, value *yaml.Node) {
	item := f.document.Content[0].Content[i]
	for k := 0; k < len(item.Content); k += 2 {
		if item.Content[k].Value == name {
			item.Content = append(item.Content[:k], item.Content[k+2:]...)
			break
		}
	}
	if value != nil {
		item.Content = append(item.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
}

// Write writes the file with the recorded responses.
func (f *File) Write() error {
	out, err := os.Create(f.Path)
	if err != nil {
		return err
	}
	defer out.Close()
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&f.document); err != nil {
		return err
	}
	return encoder.Close()
}

// jsonValue returns a value from YAML as encoding/json would read it.
func jsonValue(v any) (any, error) {
	data, err := json.Marshal(dates(v))
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(data, &out)
}

// dates replaces the times that YAML makes of texts such as 2027-03-01 by these texts.
func dates(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = dates(v[name])
		}
	case []any:
		for i := range v {
			v[i] = dates(v[i])
		}
	case time.Time:
		return v.Format(time.DateOnly)
	}
	return v
}
