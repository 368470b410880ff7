package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const recruiting = "/v1/recruiting/"

// missingGUID is a GUID that no object has.
const missingGUID = "7b0a4a7e-3d5c-4f6e-9a51-2c8f0d1e6b01"

// objects holds the GUIDs of objects by the list that has them: "candidates", "candidates/assessments".
type objects map[string]string

// post creates an object in a list of recruiting, and returns its GUID.
func (w *fixture) post(t *testing.T, token, list, body string) string {
	t.Helper()
	return w.createIn(t, token, list, "application/json", []byte(body))
}

// upload sends a PDF to a list of documents, and returns its GUID.
func (w *fixture) upload(t *testing.T, token, list string) string {
	t.Helper()
	contentType, form := contract.Form(map[string]string{"document_type": "Resume"}, "cv.pdf", []byte(contract.PDF))
	return w.createIn(t, token, list, contentType, form)
}

// createIn creates an object in a list of recruiting from a body of a media type, and returns its GUID.
func (w *fixture) createIn(t *testing.T, token, list, contentType string, body []byte) string {
	t.Helper()
	got, err := w.sendAs(t.Context(), token, http.MethodPost, recruiting+list, contentType, body)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, got.status, "%s: %s", list, got.body)
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal(got.body, &made))
	return made.ID
}

// fillRecruiting creates an object in every list, around an opportunity with more properties, and returns them with
// the e-mail address of the candidate.
func (w *fixture) fillRecruiting(t *testing.T, more string) (o objects, email string) {
	t.Helper()
	name := scenario.Unique("Hidden")
	email = strings.ToLower(name) + "@example.test"
	o = objects{}
	add := func(list, format string, arguments ...any) {
		path := regexp.MustCompile(`^\w+/`).ReplaceAllStringFunc(list, func(parent string) string {
			return parent + o[strings.TrimSuffix(parent, "/")] + "/"
		})
		if format == "" {
			o[list] = w.upload(t, w.admin.Token, path)
			return
		}
		o[list] = w.post(t, w.admin.Token, path, fmt.Sprintf(format, arguments...))
	}
	for _, list := range []string{"applicant-sources", "behaviors", "motivations", "disposition-reasons", "fields-of-study", "prefixes", "suffixes"} {
		add(list, `{"name": %q}`, name)
	}
	add("job-boards", `{"name": %q, "is_external": true}`, name)
	add("proficiency-levels", `{"name": %q, "ordinal_value": 3}`, name)
	code := name[len(name)-15:]
	add("legal-entities", `{"name": %q, "code": %q}`, name, code)
	add("locations", `{"name": %q, "code": %q}`, name, code)
	add("org-units", `{"name": %q, "code": %q, "org_level": {"level": 2}}`, name, code)
	add("physical-locations", `{"name": %q}`, name)
	add("recruiting-processes", `{"name": %q, "steps": [{"name": "Applied"}, {"name": "Hired"}]}`, name)
	o["third-party-job-board-integrations"] = o["job-boards"]
	add("opportunities", `{"title": {"en_us": %q}, "recruiting_process": {"id": %q}%s}`, name, o["recruiting-processes"], more)
	add("opportunities/assessments", `{"name": "Typing"}`)
	add("opportunities/screening-questions", `{"question": {"en_us": "Why?"}, "type": "Text"}`)
	add("candidates", `{"name": {"first": "Ada", "last": %q}, "contact_info": {"email": %q}}`, name, email)
	o["applications/candidate"] = o["candidates"]
	add("candidates/assessments", `{"type": "Prehire", "name": "Typing"}`)
	add("candidates/references", `{"name": "Cy Day"}`)
	add("candidates/documents", "")
	add("applications", `{"candidate": {"id": %q}, "opportunity": {"id": %q}, "creation_method": "CandidateImport", "hire_details": {"start_date": "2026-06-01"}}`, o["candidates"], o["opportunities"])
	add("applications/documents", "")
	add("offers", `{"application": {"id": %q}}`, o["applications"])
	author, _ := w.person(t, "Employee")
	add("candidates/background-checks", `{"author": {"id": %q}, "application": {"id": %q}, "status": "Requested", "order_number": %q, "packages": [{"name": "Basic"}]}`, personGUID(author), o["applications"], code)
	return o, email
}

// routesWithGUID returns the operations of recruiting with an id in their paths.
func routesWithGUID(t *testing.T) (out []string) {
	t.Helper()
	for _, o := range operations(t) {
		if strings.Contains(o.Route, " "+recruiting) && strings.Contains(o.Route, "{") {
			out = append(out, o.Route)
		}
	}
	require.NotEmpty(t, out)
	return out
}

// fill returns a route with the GUIDs of the objects, or false if the objects lack one.
func (o objects) fill(route string) (method, path string, ok bool) {
	method, path, _ = strings.Cut(route, " ")
	segments, list := strings.Split(path, "/"), []string{}
	for i, segment := range segments {
		if !strings.HasPrefix(segment, "{") {
			list = append(list, segment)
			continue
		}
		id, found := o[strings.Join(list[3:], "/")]
		if !found {
			return "", "", false
		}
		segments[i] = id
	}
	return method, strings.Join(segments, "/"), true
}

// acceptedBodies are bodies of operations that refuse an empty object before they look for the object of the path.
var acceptedBodies = map[string]string{
	"candidates/assessments": `{"type": "Prehire", "name": "Typing"}`, "candidates/comments": `{"comment": "x"}`,
	"applications/comments": `{"comment": "x"}`, "applications/hire": `{"hire_details": {"start_date": "2026-06-01"}}`,
}

// acceptedBody returns a body that an operation accepts, and its content type.
func acceptedBody(route string) (contentType string, body []byte) {
	_, list, _ := strings.Cut(parameter.ReplaceAllString(route, ""), recruiting)
	list = strings.ReplaceAll(list, "//", "/")
	if strings.HasSuffix(list, "/documents") {
		return contract.Form(map[string]string{"document_type": "Resume"}, "cv.pdf", []byte(contract.PDF))
	}
	if body, ok := acceptedBodies[list]; ok {
		return "application/json", []byte(body)
	}
	return "application/json", []byte("{}")
}

// requireUnknown requires that a caller gets the same response about objects as about missing ones, from every
// operation with an id. It returns the number of operations.
func requireUnknown(t *testing.T, api scenario.API, o objects) (n int) {
	t.Helper()
	missing := objects{}
	for list := range o {
		missing[list] = uuid.NewString()
	}
	for _, route := range routesWithGUID(t) {
		method, path, ok := o.fill(route)
		if !ok {
			continue
		}
		n++
		_, other, _ := missing.fill(route)
		contentType, body := acceptedBody(route)
		if method == http.MethodGet || method == http.MethodDelete {
			body = nil
		}
		hidden, none := requireAsked(t, api, method, path, contentType, body), requireAsked(t, api, method, other, contentType, body)
		assert.Equal(t, none.status, hidden.status, "%s: %s", route, hidden.body)
		expected := string(none.body)
		for list, id := range missing {
			expected = strings.ReplaceAll(expected, id, o[list])
		}
		assert.Equal(t, expected, string(hidden.body), route)
		if none.status == http.StatusForbidden && concernsPersonalData(route) {
			continue // These operations refuse a restricted caller before they look for the candidate.
		}
		assert.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest}, hidden.status, "%s: %s", route, hidden.body)
		if method == http.MethodGet || method == http.MethodDelete || len(body) > len("{}") {
			assert.Equal(t, http.StatusNotFound, hidden.status, "%s: %s", route, hidden.body)
		}
	}
	return n
}

// concernsPersonalData reports whether a route exports or erases a candidate. Only callers who see all employees
// may do that.
func concernsPersonalData(route string) bool {
	return strings.HasSuffix(route, "/export") || strings.HasSuffix(route, "/erase")
}

// requireUnlisted requires that no list that a caller reads has one of the objects.
func requireUnlisted(t *testing.T, api scenario.API, o objects) {
	t.Helper()
	for _, operation := range operations(t) {
		if !strings.HasPrefix(operation.Route, "GET "+recruiting) || strings.Contains(operation.Route, "{") {
			continue
		}
		_, path, _ := strings.Cut(operation.Route, " ")
		got := requireAsked(t, api, http.MethodGet, path, "", nil)
		for list, id := range o {
			assert.NotContains(t, string(got.body), id, "%s shows %s", path, list)
		}
	}
}

func requireAsked(t *testing.T, api scenario.API, method, path, contentType string, body []byte) reply {
	t.Helper()
	got, err := ask(t.Context(), api, method, path, contentType, body)
	require.NoError(t, err)
	return got
}

// personGUID returns the GUID of a person with an id, as recruiting shows it.
func personGUID(id int64) string {
	return fmt.Sprintf("%08x-%04x-8%03x-8000-000000000002", id>>28, id>>12&0xffff, id&0xfff)
}
