package routing

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
)

const (
	// maxVisits bounds the nodes that the search for one path visits.
	maxVisits = 200
	// otherMethod is the cost of a route that has another method than the request, in edits.
	otherMethod = 2
	// version is the first segment of the paths of operations, which callers forget.
	version = "v1"
)

// nearestSearch searches the route whose path is nearest to a path without a route.
type nearestSearch struct {
	method string
	visits int
	best   *Route
	cost   int
}

// Suggest adds the nearest operation to an error about a path, if there is one.
func (rt *Router) Suggest(method, path string, bad *fault.Error) *fault.Error {
	if r := rt.findNearest(method, path); r != nil {
		return bad.WithMessage(bad.Message + " Did you mean " + r.Method + " " + r.Path + "?")
	}
	return bad
}

// findNearest returns the route that a caller probably meant by a method and a path, or nil. At least one word of its path
// differs from the given one; values of parameters do not count. The work is bounded.
func (rt *Router) findNearest(method, path string) *Route {
	if len(path) > 1000 || strings.Count(path, "/") > maxSegments {
		return nil
	}
	var segments []string
	for s := range strings.SplitSeq(path, "/") {
		if unescaped, err := url.PathUnescape(s); err == nil {
			s = unescaped
		}
		if s != "" {
			segments = append(segments, s)
		}
	}
	search := &nearestSearch{method: method, visits: maxVisits}
	search.visit(&rt.root, segments, max(0, strings.Count(path, "/")-len(segments)))
	if len(segments) > 0 && segments[0] != version {
		search.visit(&rt.root, slices.Insert(segments, 0, version), 1)
	}
	return search.best
}

// visit searches below a node. cost is the number of edits up to the node.
func (s *nearestSearch) visit(n *node, segments []string, cost int) {
	if s.visits--; s.visits < 0 || s.best != nil && cost > s.cost {
		return
	}
	if len(segments) == 0 {
		s.offer(n, cost)
		return
	}
	if next := n.literals[segments[0]]; next != nil {
		s.visit(next, segments[1:], cost)
	}
	for word, next := range n.literals {
		if word == segments[0] {
			continue
		}
		if edits, near := suggest.Distance(segments[0], word); near {
			s.visit(next, segments[1:], cost+max(edits, 1))
		}
	}
	if n.param != nil {
		s.visit(n.param, segments[1:], cost)
	}
}

// offer takes the route of a node if its path is nearer than the best one so far.
func (s *nearestSearch) offer(n *node, cost int) {
	if cost == 0 {
		return // The path itself.
	}
	for method, r := range n.routes {
		whole := cost
		if method != s.method {
			whole += otherMethod
		}
		if s.best == nil || whole < s.cost || whole == s.cost && r.Method+r.Path < s.best.Method+s.best.Path {
			s.best, s.cost = r, whole
		}
	}
}
