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

// maxSegments is the largest number of path segments.
const maxSegments = 16

// Router finds the route of a request. Literal segments take precedence over parameters, in any order of the
// contracts.
type Router struct{ root node }

// node is a node of the path tree.
type node struct {
	literals map[string]*node
	param    *node
	routes   map[string]*Route // by HTTP method
	items    bool              // whether a route here or below answers errors as items
	objects  bool              // whether another one does not
}

// add adds a route; a segment "" stands for a parameter.
func (rt *Router) add(segments []string, r *Route) error {
	n := &rt.root
	for _, s := range segments {
		n.note(r)
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
	n.note(r)
	if n.routes == nil {
		n.routes = map[string]*Route{}
	}
	if other := n.routes[r.Method]; other != nil {
		return fmt.Errorf("%s %s is already served by %s", r.Method, r.Path, other.Policy.Name)
	}
	n.routes[r.Method] = r
	return nil
}

func (n *node) note(r *Route) {
	n.items, n.objects = n.items || r.Policy.ErrorItems, n.objects || !r.Policy.ErrorItems
}

// NoRoute is the error for a request without a route. Allow lists the methods of the path, if it exists.
type NoRoute struct {
	Fault *fault.Error
	Allow string
	// ErrorItems reports whether the error is a list of items, because those of all routes nearby are.
	ErrorItems bool
}

// Find returns the route of a request and the values of its path parameters. The path is escaped.
func (rt *Router) Find(method, path string) (*Route, []string, *NoRoute) {
	var segments []string
	if strings.HasPrefix(path, "/") {
		segments = strings.SplitN(path[1:], "/", maxSegments+1)
	}
	for i, s := range segments {
		unescaped, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, rt.notFound(segments)
		}
		segments[i] = unescaped
	}
	n, values := rt.root.find(segments, make([]string, 0, 2))
	if n == nil {
		return nil, nil, rt.notFound(segments)
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
		Fault:      fault.New(fault.CodeMethodNotAllowed, http.StatusMethodNotAllowed, "This path only supports "+strings.Join(allowed, ", ")+"."),
		Allow:      strings.Join(allowed, ", "),
		ErrorItems: n.itemsOnly(),
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

func (rt *Router) notFound(segments []string) *NoRoute {
	n := &rt.root
	for _, s := range segments {
		next := n.literals[s]
		if next == nil {
			next = n.param
		}
		if next == nil {
			break
		}
		n = next
	}
	return &NoRoute{
		Fault:      fault.NotFound(fault.CodeNotFound, "There is no operation with this path. Compare the path with the API description."),
		ErrorItems: n.itemsOnly(),
	}
}

func (n *node) itemsOnly() bool { return n.items && !n.objects }

// All returns every route.
func (rt *Router) All() iter.Seq[*Route] {
	return func(yield func(*Route) bool) { rt.root.yieldRoutes(yield) }
}

func (n *node) yieldRoutes(yield func(*Route) bool) bool {
	for _, r := range n.routes {
		if !yield(r) {
			return false
		}
	}
	for _, next := range n.literals {
		if !next.yieldRoutes(yield) {
			return false
		}
	}
	return n.param == nil || n.param.yieldRoutes(yield)
}
