package query

import "slices"

// Node is a condition, or several combined. Only conditions are negated.
type Node struct {
	// condition is nil for a combination.
	condition *condition
	negated   bool
	// any says that one of the parts is enough.
	any   bool
	parts []*Node
}

// leaf is the node of a condition.
func leaf(c condition) *Node { return &Node{condition: &c} }

// Not is the node of those for whom n does not hold.
func Not(n *Node) *Node {
	if n.condition != nil {
		return &Node{condition: n.condition, negated: !n.negated}
	}
	out := &Node{any: !n.any}
	for _, part := range n.parts {
		out.parts = append(out.parts, Not(part))
	}
	return out
}

// All is the node of those for whom all parts hold.
func All(parts ...*Node) *Node { return &Node{parts: parts} }

// hasKey reports whether one of the conditions of a node is on a key.
func (n *Node) hasKey(key string) bool {
	return n.condition != nil && n.condition.name == key ||
		slices.ContainsFunc(n.parts, func(part *Node) bool { return part.hasKey(key) })
}

// bounded reports whether the persons of a node can be listed without listing
// everybody: its conditions, unless they are negated, are looked up.
func (n *Node) bounded() bool {
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
