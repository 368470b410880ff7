package contract

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
)

// RecordedStep is a step with the values that were available to it.
type RecordedStep struct {
	Case   string
	Step   Step
	Values map[string]string
}

// Record runs a case like Run, and returns its steps with their values. It stops before the first
// step for which last returns true.
func Record(ctx context.Context, target Target, c Case, last func(Step) bool) ([]RecordedStep, error) {
	values := freshValues()
	maps.Copy(values, target.Values)
	var asked []RecordedStep
	stopped := false
	for _, step := range c.Steps {
		stopped = stopped || last(step)
		asked = append(asked, RecordedStep{Case: c.Path, Step: step, Values: maps.Clone(values)})
		if stopped {
			continue
		}
		if err := runStep(ctx, target, step, values); err != nil {
			return nil, fmt.Errorf("%s: %w", step.It, err)
		}
	}
	return asked, nil
}

// Response is the response to a step.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Send sends a step once, to a host name, and returns the response with any status.
func Send(ctx context.Context, target Target, host string, asked RecordedStep) (Response, error) {
	request, err := newRequest(ctx, target, asked.Step, asked.Values)
	if err != nil {
		return Response{}, err
	}
	request.Host = host
	response, err := target.Client.Do(request)
	if err != nil {
		return Response{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return Response{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

// named matches ${name} in a step.
var named = regexp.MustCompile(`\$\{(\w+)(:number)?\}`)

// Names returns the names of the values that a text uses.
func Names(text string) []string {
	var names []string
	for _, found := range named.FindAllStringSubmatch(text, -1) {
		names = append(names, found[1])
	}
	return names
}

// Text returns all parts of a step that may use values.
func (a RecordedStep) Text() string {
	var b strings.Builder
	fmt.Fprint(&b, a.Step.Do, " ", a.Step.JSON, " ", a.Step.Form, " ", a.Step.Body)
	for name, value := range a.Step.Header {
		if name != "Authorization" {
			fmt.Fprint(&b, " ", value)
		}
	}
	return b.String()
}

// Filled returns Text with the values filled in.
func (a RecordedStep) Filled() string {
	return named.ReplaceAllStringFunc(a.Text(), func(found string) string {
		return a.Values[named.FindStringSubmatch(found)[1]]
	})
}

// Called returns the called operation and its route.
func (a RecordedStep) Called(operations []*Operation) (*Operation, *Route) {
	step := a.Step
	step.Do = fill(step.Do, a.Values)
	return Called(operations, step)
}

// Request is the request of a step.
type Request struct {
	Method, Path string
	// Body is nil for a request without a body.
	Body []byte
}

// Filled returns the request of a step with its values filled in.
func Filled(a RecordedStep) Request {
	method, path, _ := strings.Cut(fill(a.Step.Do, a.Values), " ")
	// A body that cannot be encoded would have failed during recording.
	body, _, _ := encode(a.Step, a.Values)
	return Request{Method: method, Path: path, Body: body}
}
