package contract

import (
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/rotaloom/rotaloom/proto/contracts" // registers every contract
)

// Operation is an rpc with its routes.
type Operation struct {
	// Name is the full name of the rpc.
	Name   string
	Routes []*Route
}

// Route is a method and a path.
type Route struct {
	method string
	// segments are the segments of the path; "" is a parameter.
	segments []string
}

// Operations returns the operations of the contracts that have routes.
func Operations() []*Operation {
	var out []*Operation
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for k := range methods.Len() {
				if routes := methodRoutes(methods.Get(k)); len(routes) > 0 {
					out = append(out, &Operation{Name: string(methods.Get(k).FullName()), Routes: routes})
				}
			}
		}
		return true
	})
	return out
}

func methodRoutes(method protoreflect.MethodDescriptor) []*Route {
	if !proto.HasExtension(method.Options(), annotations.E_Http) {
		return nil
	}
	main := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	var out []*Route
	for _, rule := range append([]*annotations.HttpRule{main}, main.GetAdditionalBindings()...) {
		for verb, path := range map[string]string{
			http.MethodGet: rule.GetGet(), http.MethodPost: rule.GetPost(), http.MethodPut: rule.GetPut(),
			http.MethodPatch: rule.GetPatch(), http.MethodDelete: rule.GetDelete(),
		} {
			if path != "" {
				out = append(out, &Route{method: verb, segments: pathSegments(path)})
			}
		}
	}
	return out
}

// pathSegments splits a path; an open part of a contract or case becomes "". A parameter with a
// single allowed word, {name=word}, becomes that word.
func pathSegments(path string) []string {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		if strings.HasPrefix(s, "{") {
			_, segments[i], _ = strings.Cut(strings.TrimSuffix(s, "}"), "=")
		}
	}
	return segments
}

// Called returns the operation that a step calls, and its route; nil if it calls none. A literal
// segment takes precedence over a parameter.
func Called(operations []*Operation, step Step) (*Operation, *Route) {
	method, target, _ := strings.Cut(step.Do, " ")
	path, _, _ := strings.Cut(target, "?")
	if !strings.HasPrefix(path, "/api/authentication/") {
		path = strings.TrimPrefix(path, "/api")
	}
	segments := pathSegments(path)
	var best *Operation
	var bestRoute *Route
	for _, o := range operations {
		for _, r := range o.Routes {
			if r.method == method && r.matches(segments) && (best == nil || r.parameters() < bestRoute.parameters()) {
				best, bestRoute = o, r
			}
		}
	}
	return best, bestRoute
}

func (r *Route) matches(segments []string) bool {
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

func (r *Route) parameters() int {
	n := 0
	for _, s := range r.segments {
		if s == "" {
			n++
		}
	}
	return n
}

// String returns the route for texts.
func (r *Route) String() string {
	return fmt.Sprintf("%s /%s", r.method, strings.ReplaceAll("/"+strings.Join(r.segments, "/")+"/", "//", "/{}/"))
}
