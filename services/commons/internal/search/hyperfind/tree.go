package hyperfind

import "slices"

// node is a condition, or several combined. Only conditions are negated.
type node struct {
	// condition is nil for a combination.
	condition *condition
	negated   bool
	// any says that one of the parts is enough.
	any   bool
	parts []*node
}

// leaf is the node of a condition.
func leaf(c condition) *node { return &node{condition: &c} }

// not is the node of those for whom n does not hold.
func not(n *node) *node {
	if n.condition != nil {
		return &node{condition: n.condition, negated: !n.negated}
	}
	out := &node{any: !n.any}
	for _, part := range n.parts {
		out.parts = append(out.parts, not(part))
	}
	return out
}

// all is the node of those for whom all parts hold.
func all(parts ...*node) *node { return &node{parts: parts} }

// asks reports whether one of the conditions of a node is on a key.
func (n *node) asks(key string) bool {
	return n.condition != nil && n.condition.name == key ||
		slices.ContainsFunc(n.parts, func(part *node) bool { return part.asks(key) })
}

// bounded reports whether the persons of a node can be listed without listing
// everybody: its conditions, unless they are negated, are looked up.
func (n *node) bounded() bool {
	if n.condition != nil {
		return !n.negated
	}
	for _, part := range n.parts {
		if part.bounded() != n.any {
			return !n.any
		}
	}
	return n.any
}
