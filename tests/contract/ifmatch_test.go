package contract_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// staleTag is an entity tag that no object of a case has.
const staleTag = `"999999999"`

// withoutRead lists the routes whose path has no read with an entity tag. Three versions are sent
// to them instead: another version, the version of a new object, and any.
var withoutRead = []string{
	"PUT /v1/scheduling/schedule_pattern_templates",
	"DELETE /v1/scheduling/schedule_pattern_templates",
	"PUT /v1/commons/persons/schedule_rule_sets/{}",
}

// onlyOnce is a case whose companies have unique business identifiers: it runs once in a tenant.
const onlyOnce = "timekeeping/brazil_compliance/lifecycle"

// versionedRoute is a route that takes If-Match, with a case that calls it.
type versionedRoute struct {
	text string
	at   contract.Case
}

// Every route whose object has a version refuses another version with 412, and changes nothing
// then. Of several concurrent requests with the current version, exactly one is carried out. A
// route fails if no case calls it.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	operations := contract.Operations()
	routes := versionedRoutes(t, operations)
	target := launch.Standalone(t, "--no-throttle", "--log-level", "error").Target(t)
	for i, r := range routes {
		t.Run(r.text, func(t *testing.T) {
			t.Parallel()
			steps, err := contract.Record(t.Context(), target, another(t, r.at, i), func(s contract.Step) bool { return calls(operations, s, r.text) })
			require.NoError(t, err, r.at.Path)
			at := slices.IndexFunc(steps, func(s contract.RecordedStep) bool { return calls(operations, s.Step, r.text) })
			require.GreaterOrEqual(t, at, 0)
			w := ifMatchWalk{target: target, step: steps[at]}
			if slices.Contains(withoutRead, r.text) {
				w.checkUnread(t)
			} else {
				w.check(t)
			}
		})
	}
}

// versionedRoutes returns the routes that take If-Match, each with the case that calls it with
// success after the fewest steps.
func versionedRoutes(t *testing.T, operations []*contract.Operation) []versionedRoute {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	table := policy.NewTable(nil)
	var out []versionedRoute
	for _, o := range operations {
		method, err := table.Method(o.Name)
		require.NoError(t, err)
		for _, route := range o.Routes {
			verb, path, _ := strings.Cut(routeText(route), " ")
			if !method.TakesIfMatch(verb, path) {
				continue
			}
			var found *contract.Case
			before := 0
			for i := range all {
				if all[i].Path == onlyOnce {
					continue
				}
				at := slices.IndexFunc(all[i].Steps, func(s contract.Step) bool { return calls(operations, s, routeText(route)) })
				if at >= 0 && (found == nil || at < before) {
					found, before = &all[i], at
				}
			}
			if assert.NotNil(t, found, "no case calls %s with success", routeText(route)) {
				out = append(out, versionedRoute{routeText(route), *found})
			}
		}
	}
	require.NotEmpty(t, out)
	return out
}

// routeText returns a route as "PUT /v1/things/{}".
func routeText(route *contract.Route) string {
	return strings.TrimSuffix(strings.Replace(route.String(), " //", " /", 1), "/")
}

// calls reports whether a step calls a route with success, and may be sent again.
func calls(operations []*contract.Operation, step contract.Step, route string) bool {
	_, called := contract.Called(operations, step)
	_, once := step.Header["Idempotency-Key"]
	return called != nil && routeText(called) == route && step.Status < 300 && !step.Anonymous && !once
}

// another returns a case with other serial numbers of devices and identifiers of companies, which
// are unique in a tenant. All other objects of the case have names with ${unique}.
func another(t *testing.T, c contract.Case, n int) contract.Case {
	t.Helper()
	path := c.Path + ".yaml"
	text, err := fs.ReadFile(cases.FS, path)
	require.NoError(t, err)
	if !bytes.Contains(text, []byte("serialNumber")) {
		return c
	}
	text = bytes.ReplaceAll(text, []byte("810"), fmt.Appendf(nil, "%03d", n+100))
	text = bytes.ReplaceAll(text, []byte("11144477735"), []byte(cpf(111444777+n)))
	list, err := contract.Load(fstest.MapFS{path: {Data: text}})
	require.NoError(t, err)
	require.Len(t, list, 1)
	return list[0]
}

// cpf returns a Brazilian CPF: nine digits with two check digits.
func cpf(n int) string {
	digits := fmt.Sprintf("%09d", n)
	for len(digits) < 11 {
		sum := 0
		for i, digit := range digits {
			sum += int(digit-'0') * (len(digits) + 1 - i)
		}
		digits += strconv.Itoa(sum * 10 % 11 % 10)
	}
	return digits
}

// ifMatchWalk sends a step of a case repeatedly, each time with another If-Match.
type ifMatchWalk struct {
	target contract.Target
	step   contract.RecordedStep
}

// send sends the step with an If-Match.
func (w ifMatchWalk) send(t *testing.T, ifMatch string) contract.Response {
	step := w.step
	step.Step.Header = maps.Clone(step.Step.Header)
	if step.Step.Header == nil {
		step.Step.Header = map[string]string{}
	}
	step.Step.Header["If-Match"] = ifMatch
	response, err := contract.Send(t.Context(), w.target, "", step)
	if !assert.NoError(t, err) {
		return contract.Response{}
	}
	return response
}

// read reads the object of the step.
func (w ifMatchWalk) read(t *testing.T) contract.Response {
	t.Helper()
	_, url, _ := strings.Cut(w.step.Step.Do, " ")
	path, _, _ := strings.Cut(url, "?")
	segments := strings.Split(path, "/")
	for !strings.Contains(segments[len(segments)-1], "${") { // a verb after the id
		segments = segments[:len(segments)-1]
		require.NotEmpty(t, segments, path)
	}
	step := contract.RecordedStep{Values: w.step.Values, Step: contract.Step{Do: "GET " + strings.Join(segments, "/")}}
	if caller, ok := w.step.Step.Header["Authorization"]; ok {
		step.Step.Header = map[string]string{"Authorization": caller}
	}
	response, err := contract.Send(t.Context(), w.target, "", step)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.Status, "%s", response.Body)
	return response
}

func (w ifMatchWalk) requireStale(t *testing.T, ifMatch string) {
	t.Helper()
	response := w.send(t, ifMatch)
	require.Equal(t, http.StatusPreconditionFailed, response.Status, "%s: %s", ifMatch, response.Body)
	require.Contains(t, string(response.Body), fault.CodeStale)
}

func (w ifMatchWalk) check(t *testing.T) {
	before := w.read(t)
	tag := before.Header.Get("ETag")
	require.Regexp(t, `^"[1-9][0-9]*"$`, tag, "the ETag of what %s changes", w.step.Step.Do)
	for _, ifMatch := range []string{staleTag, "W/" + tag, `"mine", ` + staleTag} {
		w.requireStale(t, ifMatch)
	}
	malformed := w.send(t, strings.Trim(tag, `"`))
	require.Equal(t, http.StatusBadRequest, malformed.Status, "%s", malformed.Body)
	after := w.read(t)
	assert.Equal(t, tag, after.Header.Get("ETag"), "nothing was changed")
	assert.Equal(t, string(before.Body), string(after.Body), "nothing was changed")

	w.checkRace(t, staleTag+", "+tag)
	if w.deletes() {
		assert.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest, http.StatusPreconditionFailed}, w.send(t, "*").Status, "nothing is there")
		return
	}
	now := w.read(t).Header.Get("ETag")
	assert.NotEqual(t, tag, now, "a change has another version")
	w.requireStale(t, tag)
	w.requireDone(t, "*")
}

// checkRace sends several requests with the current version at once: exactly one of them is carried
// out.
func (w ifMatchWalk) checkRace(t *testing.T, ifMatch string) {
	t.Helper()
	const racers = 4
	responses := make([]contract.Response, racers)
	var group sync.WaitGroup
	for i := range racers {
		group.Go(func() { responses[i] = w.send(t, ifMatch) })
	}
	group.Wait()
	done := 0
	for _, response := range responses {
		switch {
		case response.Status == w.step.Step.Status:
			done++
		case w.deletes() && !strings.Contains(string(response.Body), fault.CodeStale):
			assert.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest}, response.Status, "another one has deleted it: %s", response.Body)
		default:
			assert.Equal(t, http.StatusPreconditionFailed, response.Status, "%s", response.Body)
		}
	}
	assert.Equal(t, 1, done, "requests with one version that were carried out")
}

func (w ifMatchWalk) checkUnread(t *testing.T) {
	for _, ifMatch := range []string{staleTag, `W/"1"`} {
		w.requireStale(t, ifMatch)
	}
	w.requireDone(t, "*")
}

func (w ifMatchWalk) requireDone(t *testing.T, ifMatch string) {
	t.Helper()
	response := w.send(t, ifMatch)
	assert.Equal(t, w.step.Step.Status, response.Status, "%s: %s", ifMatch, response.Body)
}

func (w ifMatchWalk) deletes() bool { return strings.HasPrefix(w.step.Step.Do, "DELETE ") }

// Every route that changes an object and does not take If-Match refuses entity tags. Otherwise
// clients would believe that the server compared the version.
func TestIfMatchWithoutVersion(t *testing.T) {
	t.Parallel()
	target := launch.Standalone(t, "--no-throttle", "--log-level", "error").Target(t)
	table := policy.NewTable(nil)
	for _, o := range contract.Operations() {
		method, err := table.Method(o.Name)
		require.NoError(t, err)
		for _, route := range o.Routes {
			verb, path, _ := strings.Cut(routeText(route), " ")
			if verb == http.MethodGet || method.TakesIfMatch(verb, path) {
				continue
			}
			t.Run(routeText(route), func(t *testing.T) {
				t.Parallel()
				id := "1"
				if strings.HasPrefix(path, "/v1/recruiting/") {
					id = "7b0a4a7e-3d5c-4f6e-9a51-2c8f0d1e6b01" // Its objects have GUIDs.
				}
				step := contract.RecordedStep{Step: contract.Step{
					Do: verb + " " + strings.ReplaceAll(path, "{}", id), Header: map[string]string{"If-Match": `"1"`},
				}}
				switch {
				case strings.HasSuffix(path, "/documents"): // It takes a form with a file.
					contentType, form := contract.Form(nil, "a.pdf", []byte(contract.PDF))
					step.Step.Header["Content-Type"], step.Step.Body = contentType, string(form)
				case method.OAuthErrors:
					step.Step.Form = map[string]string{"grant_type": "password"}
				case verb == http.MethodPost || verb == http.MethodPut:
					step.Step.JSON = map[string]any{}
				}
				response, err := contract.Send(t.Context(), target, "", step)
				require.NoError(t, err)
				assert.Equal(t, http.StatusBadRequest, response.Status, "%s", response.Body)
				if !method.OAuthErrors {
					assert.Contains(t, string(response.Body), precondition.CodeNoVersion)
				}
			})
		}
	}
}
