package query

// Node is a condition or a combination of nodes. Only conditions can be negated.
type Node struct {
	// condition is nil for a combination.
	condition *condition
	negated   bool
	// any reports that one matching part is enough.
	any   bool
	parts []*Node
}

// leaf returns the node of a condition.
func leaf(c condition) *Node { return &Node{condition: &c} }

// Not returns the complement of n.
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

// All returns the node that applies if all parts apply.
func All(parts ...*Node) *Node { return &Node{parts: parts} }

// isBounded reports whether the persons of a node can be listed without reading all persons:
// conditions without negation use an index.
func (n *Node) isBounded() bool {
	if n.condition != nil {
		return !n.negated
	}
	for _, part := range n.parts {
		if part.isBounded() != n.any {
			return !n.any
		}
	}
	return n.any
}
