package routing

import (
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// maxSegments bounds the segments of a path that is looked up.
const maxSegments = 16

// Router finds the route of a request. A literal segment goes before a
// parameter, wherever the contracts write them.
type Router struct{ root node }

// node is what the paths have in common up to one segment.
type node struct {
	literals map[string]*node
	param    *node
	routes   map[string]*Route // by HTTP method
}

// add adds a route under its segments, "" for a parameter.
func (rt *Router) add(segments []string, r *Route) error {
	n := &rt.root
	for _, s := range segments {
		if s == "" {
			if n.param == nil {
				n.param = &node{}
			}
			n = n.param
			continue
		}
		if n.literals == nil {
			n.literals = map[string]*node{}
		}
		if n.literals[s] == nil {
			n.literals[s] = &node{}
		}
		n = n.literals[s]
	}
	if n.routes == nil {
		n.routes = map[string]*Route{}
	}
	if other := n.routes[r.Method]; other != nil {
		return fmt.Errorf("%s %s is already served by %s", r.Method, r.Path, other.Policy.Name)
	}
	n.routes[r.Method] = r
	return nil
}

// NoRoute says why there is no route; Allow lists the methods that there are.
type NoRoute struct {
	Fault *fault.Error
	Allow string
}

// Find returns the route of a request and the values of its path's
// parameters. The path is still escaped.
func (rt *Router) Find(method, path string) (*Route, []string, *NoRoute) {
	var segments []string
	if strings.HasPrefix(path, "/") {
		segments = strings.SplitN(path[1:], "/", maxSegments+1)
	}
	for i, s := range segments {
		unescaped, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, notFound()
		}
		segments[i] = unescaped
	}
	n, values := rt.root.find(segments, make([]string, 0, 2))
	if n == nil {
		return nil, nil, notFound()
	}
	if r := n.routes[method]; r != nil {
		return r, values, nil
	}
	var allowed []string
	for m := range n.routes {
		allowed = append(allowed, m)
	}
	slices.Sort(allowed)
	return nil, nil, &NoRoute{
		Fault: fault.New(fault.CodeMethodNotAllowed, http.StatusMethodNotAllowed, "This path is only served for "+strings.Join(allowed, ", ")+"."),
		Allow: strings.Join(allowed, ", "),
	}
}

func (n *node) find(segments, values []string) (*node, []string) {
	if len(segments) == 0 {
		if n.routes == nil {
			return nil, nil
		}
		return n, values
	}
	if next := n.literals[segments[0]]; next != nil {
		if found, all := next.find(segments[1:], values); found != nil {
			return found, all
		}
	}
	if n.param == nil {
		return nil, nil
	}
	return n.param.find(segments[1:], append(values, segments[0]))
}

func notFound() *NoRoute {
	return &NoRoute{Fault: fault.NotFound(fault.CodeNotFound, "There is no operation with this path.")}
}

// All returns every route.
func (rt *Router) All() iter.Seq[*Route] {
	return func(yield func(*Route) bool) { rt.root.each(yield) }
}

func (n *node) each(yield func(*Route) bool) bool {
	for _, r := range n.routes {
		if !yield(r) {
			return false
		}
	}
	for _, next := range n.literals {
		if !next.each(yield) {
			return false
		}
	}
	return n.param == nil || n.param.each(yield)
}
