package gateway

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// recorder is a connection that notes the method that was called, and refuses.
type recorder struct {
	mu     sync.Mutex
	method string
	req    any
}

func (r *recorder) Invoke(_ context.Context, method string, args, _ any, _ ...grpc.CallOption) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.method, r.req = method, args
	return status.Error(codes.Unimplemented, "recorded")
}

func (r *recorder) NewStream(context.Context, *grpc.StreamDesc, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, status.Error(codes.Unimplemented, "no streams")
}

func (r *recorder) take() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	method := r.method
	r.method = ""
	return method
}

func all(conn grpc.ClientConnInterface) backends.Conns {
	return backends.Conns{Auth: conn, Commons: conn, Timekeeping: conn, Scheduling: conn, Recruiting: conn, Platform: conn}
}

// formBody begins the bodies of requests that are forms.
const formBody = "username="

// newHTTPRequest is a request as it comes over TLS.
func newHTTPRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, "https://rotaloom.test"+path, strings.NewReader(body))
	switch {
	case strings.HasPrefix(body, formBody):
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case body != "":
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// eachRule calls f for every HTTP rule of the contracts.
func eachRule(f func(method protoreflect.MethodDescriptor, rule *annotations.HttpRule)) {
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				for _, rule := range routing.Rules(methods.Get(j)) {
					f(methods.Get(j), rule)
				}
			}
		}
		return true
	})
}

func TestEveryServiceWithRoutesIsRegistered(t *testing.T) {
	t.Parallel()
	registered := map[string]bool{}
	for _, d := range backends.Domains(backends.Conns{}) {
		for _, s := range d.Services {
			registered[s.Name] = true
		}
	}
	eachRule(func(method protoreflect.MethodDescriptor, _ *annotations.HttpRule) {
		assert.True(t, registered[string(method.Parent().FullName())], "%s is missing in gateway/backends", method.Parent().FullName())
	})
}

func TestEveryRouteReachesItsOwnMethod(t *testing.T) {
	t.Parallel()
	conn := &recorder{}
	edge, err := newTrusting(Config{}, all(conn), discard())
	require.NoError(t, err)
	routes := 0
	eachRule(func(method protoreflect.MethodDescriptor, rule *annotations.HttpRule) {
		verb, path := routing.MethodAndPath(rule)
		for segment := range strings.SplitSeq(path, "/") {
			if strings.HasPrefix(segment, "{") {
				name, word, _ := strings.Cut(strings.Trim(segment, "{}"), "=")
				path = strings.Replace(path, segment, cmp.Or(word, fillID(method.Input().Fields().ByName(protoreflect.Name(name)))), 1)
			}
		}
		body, contentType := buildBody(t, method, rule)
		paths := []string{path}
		if strings.HasPrefix(path, "/v") {
			paths = append(paths, "/api"+path)
		}
		for _, p := range paths {
			w := httptest.NewRecorder()
			r := newHTTPRequest(verb, p, body)
			if contentType != "" {
				r.Header.Set("Content-Type", contentType)
			}
			edge.ServeHTTP(w, r)
			want := "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
			assert.Equal(t, want, conn.take(), "%s %s: %s", verb, p, w.Body)
		}
		routes++
	})
	require.Greater(t, routes, 30)
}

// fillID returns a value of a parameter in a path: its form decides whether the edge passes it on.
func fillID(field protoreflect.FieldDescriptor) string {
	if policy.CheckFormat(field, "id", "7") != nil {
		return "8f0c2a10-5a11-4d0e-9a35-0f6e2b7d1c01"
	}
	return "7"
}

// buildBody returns a body that an operation accepts, and its content type unless newHTTPRequest sets it.
func buildBody(t *testing.T, method protoreflect.MethodDescriptor, rule *annotations.HttpRule) (body, contentType string) {
	t.Helper()
	switch {
	case speaksOAuth(method):
		return formBody, ""
	case takesFile(method.Input()):
		return form(t, [3]string{"file", "a.pdf", "%PDF"})
	case rule.GetBody() == "*" && isBareArray(method.Input()):
		return "[]", ""
	case rule.GetBody() != "":
		return "{}", ""
	}
	return "", ""
}

// takesFile reports whether requests of a type are forms with a file.
func takesFile(message protoreflect.MessageDescriptor) bool {
	for i := range message.Fields().Len() {
		opts, _ := proto.GetExtension(message.Fields().Get(i).Options(), optionsv1.E_Field).(*optionsv1.Field)
		if opts.GetUpload() != nil {
			return true
		}
	}
	return false
}

// speaksOAuth reports whether a method takes forms.
func speaksOAuth(method protoreflect.MethodDescriptor) bool {
	opts, _ := proto.GetExtension(method.Options(), optionsv1.E_Method).(*optionsv1.Method)
	return opts.GetOauthErrors()
}

// isBareArray reports whether the JSON of a message is an array.
func isBareArray(message protoreflect.MessageDescriptor) bool {
	opts, _ := proto.GetExtension(message.Options(), optionsv1.E_Message).(*optionsv1.Message)
	return opts.GetBareArray() != ""
}

func TestRouting(t *testing.T) {
	t.Parallel()
	conn := &recorder{}
	edge, err := newTrusting(Config{}, all(conn), discard())
	require.NoError(t, err)
	const patterns = "/v1/scheduling/employment_term_schedule_patterns"
	tests := []struct {
		name, method, path string
		status             int
		rpc, allow         string
	}{
		{"a literal path is not an id", "GET", patterns + "/builder", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetPatternBuilder", ""},
		{"an id is an id", "GET", patterns + "/12", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetEmploymentTermSchedulePattern", ""},
		{"a literal path of another service is not an id", "GET", "/v1/commons/persons/employment_terms?person_number=1", 500, "/rotaloom.scheduling.v1.EmploymentTermAssignmentService/FindEmploymentTermAssignments", ""},
		{"a word where an id may stand has a method of its own", "GET", "/v1/commons/persons/employee?person_number=1", 500, "/rotaloom.commons.v1.PersonService/GetPersonExtension", ""},
		{"a word is not changed by the query", "GET", "/v1/commons/persons/employee?extension_type=device", 500, "/rotaloom.commons.v1.PersonService/GetPersonExtension", ""},
		{"a negative id is looked up", "GET", patterns + "/-3", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetEmploymentTermSchedulePattern", ""},
		{"an id that is not a number", "GET", patterns + "/abc", 404, "", ""},
		{"an id that is too large names nothing", "GET", patterns + "/99999999999999999999", 404, "", ""},
		{"zero names nothing", "GET", patterns + "/0", 404, "", ""},
		{"an unknown path", "GET", "/v1/scheduling/nothing", 404, "", ""},
		{"the empty path", "GET", "/", 404, "", ""},
		{"a trailing slash is another path", "GET", patterns + "/builder/", 404, "", ""},
		{"a very long path", "GET", strings.Repeat("/a", 1000), 404, "", ""},
		{"another method", "PUT", patterns + "/builder", 405, "", "GET"},
		{"another method of an id", "POST", patterns + "/12", 405, "", "DELETE, GET"},
		{"HEAD", "HEAD", patterns + "/builder", 405, "", "GET"},
		{"an escaped slash does not split a segment", "GET", patterns + "/builder%2F", 404, "", ""},
		{"escapes in a segment", "GET", patterns + "/%62uilder", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetPatternBuilder", ""},
		{"the prefix without a version", "GET", "/api/scheduling", 404, "", ""},
		{"a known query parameter", "GET", "/v1/scheduling/schedule?select=SHIFTS,DAYLOCKS&employee_id=3&excludeBreaks=true", 500, "/rotaloom.scheduling.v1.ScheduleService/GetSchedule", ""},
		{"an unknown query parameter", "GET", patterns + "/12?foo=1", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetEmploymentTermSchedulePattern", ""},
		{"an unknown query parameter, twice", "GET", patterns + "/12?foo=1&foo=%00", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetEmploymentTermSchedulePattern", ""},
		{"a query parameter of the wrong type", "GET", "/v1/scheduling/schedule?employee_id=x", 400, "", ""},
		{"a query parameter that comes twice", "GET", "/v1/scheduling/schedule?employee_id=1&employeeId=2", 400, "", ""},
		{"a path parameter in the query is ignored", "GET", patterns + "/12?id=13", 500, "/rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/GetEmploymentTermSchedulePattern", ""},
		{"a broken query", "GET", patterns + "/12?x=%zz", 400, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			edge.ServeHTTP(w, newHTTPRequest(test.method, test.path, ""))
			assert.Equal(t, test.status, w.Code, "%s", w.Body)
			assert.Equal(t, test.rpc, conn.take())
			assert.Equal(t, test.allow, w.Header().Get("Allow"))
			assert.Equal(t, contentType, w.Header().Get("Content-Type"))
			assert.Contains(t, w.Body.String(), `{"errorCode":"`)
		})
	}
}

func TestNewRefusesAMissingConnection(t *testing.T) {
	t.Parallel()
	conns := all(&recorder{})
	conns.Timekeeping = nil
	_, err := newTrusting(Config{}, conns, discard())
	require.ErrorContains(t, err, "timekeeping")
}

func FuzzFind(f *testing.F) {
	edge, err := newTrusting(Config{}, all(&recorder{}), discard())
	require.NoError(f, err)
	f.Add("GET", "/v1/scheduling/schedule/shifts/7")
	f.Add("POST", "//%2f/%00/v1")
	f.Fuzz(func(t *testing.T, method, path string) {
		route, values, none := edge.routes.Find(method, path)
		if none == nil {
			require.Equal(t, method, route.Method)
			_, bad := route.PathValues(values)
			require.True(t, bad == nil || bad.Code == fault.CodeNotFound)
			return
		}
		require.Contains(t, []string{fault.CodeNotFound, fault.CodeMethodNotAllowed}, none.Fault.Code)
	})
}
