package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// MaxCounted limits the rows of a statement, and so the count that an error can report. It is
// far above every threshold, so that the planner plans for the whole result.
const MaxCounted = 1_000_000

// compiler builds the statement of a query.
type compiler struct {
	args []any
	with []string
	// names counts the subqueries, to give each a name.
	names int
	// from and to are the parameters of the first day and of the day after the last. last is the
	// parameter of the last day.
	from, to, last string
}

// tenantParameter is the parameter of the tenant, the first one in all statements.
const tenantParameter = "$1"

// Compile returns SQL for the persons of a query on the days: their ids, numbers and full
// names, by ascending id. If visible is not nil, the result contains only those persons.
func Compile(tenantID int64, root *Node, days civil.Range, visible []int64) (sql string, args []any) {
	c := &compiler{}
	c.arg(tenantID)
	c.from, c.to, c.last = c.arg(days.From), c.arg(days.To), c.arg((days.To - 1))
	where := []string{
		"p.tenant_id = " + tenantParameter,
		// Each parameter needs a type, even if no condition uses it.
		fmt.Sprintf("%s::date < %s::date AND %s::date IS NOT NULL", c.from, c.to, c.last),
	}
	if len(root.parts) > 0 || root.condition != nil {
		where = append(where, c.holds(root, "p.id"))
	}
	if visible != nil {
		where = append(where, "p.id = ANY("+c.arg(visible)+")")
	}
	if len(c.with) > 0 {
		sql = "WITH " + strings.Join(c.with, ", ") + " "
	}
	return sql + "SELECT p.id, p.person_number, p.full_name FROM person p WHERE " + strings.Join(where, " AND ") +
		fmt.Sprintf(" ORDER BY p.id LIMIT %d", MaxCounted), c.args
}

// arg adds an argument and returns its parameter.
func (c *compiler) arg(value any) string {
	c.args = append(c.args, value)
	return fmt.Sprintf("$%d", len(c.args))
}

func (c *compiler) name(prefix string) string {
	c.names++
	return fmt.Sprintf("%s%d", prefix, c.names)
}

// holds returns an SQL condition that is true if the node applies to an id.
func (c *compiler) holds(n *Node, id string) string {
	switch {
	case n.condition == nil && !n.any:
		parts := make([]string, len(n.parts))
		for i, part := range n.parts {
			parts[i] = c.holds(part, id)
		}
		return strings.Join(parts, " AND ")
	case n.condition != nil && n.condition.name == KeyScheduled:
		// Most persons are scheduled, so checking each person is cheaper than listing all of them.
		if n.negated {
			return "NOT " + n.condition.isScheduled(c, id)
		}
		return n.condition.isScheduled(c, id)
	case n.isBounded():
		return fmt.Sprintf("%s IN (%s)", id, c.list(n))
	default:
		// The complement of an unbounded node is bounded, so the excluded persons can be listed.
		out := c.name("o")
		return fmt.Sprintf("NOT EXISTS (SELECT FROM (%s) AS %s WHERE %[2]s.id = %s)", c.list(Not(n)), out, id)
	}
}

// list returns an SQL query for the ids of the persons of a bounded node. It can return an id
// several times.
func (c *compiler) list(n *Node) string {
	switch {
	case n.condition != nil:
		return n.condition.sql(c)
	case n.any:
		parts := make([]string, len(n.parts))
		for i, part := range n.parts {
			parts[i] = c.list(part)
		}
		return strings.Join(parts, " UNION ALL ")
	}
	first := slices.IndexFunc(n.parts, func(part *Node) bool {
		return part.isBounded() && (part.condition == nil || part.condition.name != KeyScheduled)
	})
	if first < 0 {
		first = slices.IndexFunc(n.parts, (*Node).isBounded)
	}
	from := c.name("s")
	sql := fmt.Sprintf("SELECT %s.id FROM (%s) AS %[1]s", from, c.list(n.parts[first]))
	if rest := slices.Delete(slices.Clone(n.parts), first, first+1); len(rest) > 0 {
		sql += " WHERE " + c.holds(All(rest...), from+".id")
	}
	return sql
}
