package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/rotaloom/rotaloom/proto/contracts" // registers every contract
	"github.com/rotaloom/rotaloom/tests/contract/cases"
)

// operation is an rpc with its routes, and what the cases show of it.
type operation struct {
	name                protoreflect.FullName
	routes              []route
	succeeds, isRefused bool
}

// route is a method and the segments of a path; "" stands for a parameter.
type route struct {
	method   string
	segments []string
	called   bool
}

func TestEveryOperationHasCases(t *testing.T) {
	t.Parallel()
	all, err := Load(cases.FS)
	require.NoError(t, err)
	operations := operationsOfContracts()
	require.NotEmpty(t, operations)
	for _, c := range all {
		for _, step := range c.Steps {
			if o := called(operations, step); o != nil {
				o.succeeds = o.succeeds || step.Status < http.StatusBadRequest
				o.isRefused = o.isRefused || step.Status >= http.StatusBadRequest
			}
		}
	}
	for _, o := range operations {
		for _, r := range o.routes {
			assert.True(t, r.called, "no case calls %s of %s", &r, o.name)
		}
		assert.True(t, o.succeeds, "no case shows a success of %s", o.name)
		assert.True(t, o.isRefused, "no case shows how %s refuses a request", o.name)
	}
}

func operationsOfContracts() []*operation {
	var out []*operation
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				if routes := routesOf(methods.Get(k)); len(routes) > 0 {
					out = append(out, &operation{name: methods.Get(k).FullName(), routes: routes})
				}
			}
		}
		return true
	})
	return out
}

func routesOf(method protoreflect.MethodDescriptor) []route {
	if !proto.HasExtension(method.Options(), annotations.E_Http) {
		return nil
	}
	main := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	var out []route
	for _, rule := range append([]*annotations.HttpRule{main}, main.GetAdditionalBindings()...) {
		for verb, path := range map[string]string{
			http.MethodGet: rule.GetGet(), http.MethodPost: rule.GetPost(), http.MethodPut: rule.GetPut(),
			http.MethodPatch: rule.GetPatch(), http.MethodDelete: rule.GetDelete(),
		} {
			if path != "" {
				out = append(out, route{method: verb, segments: segmentsOf(path)})
			}
		}
	}
	return out
}

// segmentsOf splits a path; what a contract or a case leaves open is "".
func segmentsOf(path string) []string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			segments[i] = ""
		}
	}
	return segments
}

// called marks the route that a step calls and answers its operation, nil when
// it calls none. A literal goes before a parameter.
func called(operations []*operation, step Step) *operation {
	method, target, _ := strings.Cut(step.Do, " ")
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/api/authentication/") {
		path = strings.TrimPrefix(path, "/api")
	}
	segments := segmentsOf(path)
	var best *operation
	var bestRoute *route
	for _, o := range operations {
		for i := range o.routes {
			r := &o.routes[i]
			if r.method == method && r.matches(segments) && (best == nil || r.parameters() < bestRoute.parameters()) {
				best, bestRoute = o, r
			}
		}
	}
	if bestRoute != nil {
		bestRoute.called = true
	}
	return best
}

func (r *route) matches(segments []string) bool {
	if len(r.segments) != len(segments) {
		return false
	}
	for i, s := range r.segments {
		if s != "" && s != segments[i] {
			return false
		}
	}
	return true
}

func (r *route) parameters() int {
	n := 0
	for _, s := range r.segments {
		if s == "" {
			n++
		}
	}
	return n
}

func (r *route) String() string {
	return fmt.Sprintf("%s /%s", r.method, strings.ReplaceAll("/"+strings.Join(r.segments, "/")+"/", "//", "/{}/"))
}
