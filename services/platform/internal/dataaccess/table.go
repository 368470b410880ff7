package dataaccess

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"google.golang.org/protobuf/proto"
)

// table is a result before it is written: columns, and nodes in their order. A
// node of rows is a row and a period of it, a number made of both; a node of
// groups is the number of a group.
type table struct {
	columns []*column
	// periods is how many there are of each row; 1 without a time series.
	periods int32
	nodes   []int32
	// groups are set when the nodes are groups of those of rows.
	groups []group
	rows   *table
}

// group is some nodes of rows.
type group struct{ members []int32 }

// cell is where a column has the value of a node.
func (t *table) cell(c *column, node int32) int32 {
	if c.series {
		return node
	}
	return node / t.periods
}

// newTable makes the table of all rows and periods.
func newTable(columns []*column, rows, periods int) *table {
	t := &table{columns: columns, periods: int32(periods), nodes: make([]int32, rows*periods)}
	for i := range t.nodes {
		t.nodes[i] = int32(i)
	}
	return t
}

// keep takes away the nodes that a filter does not keep. Of a column that could
// not be read nothing is known, so nothing is kept.
func (t *table) keep(filters []*filter) {
	for _, f := range filters {
		t.nodes = slices.DeleteFunc(t.nodes, func(node int32) bool {
			return f.column.failed != "" || !f.keeps(t.cell(f.column, node))
		})
	}
}

// sortKey is a column to sort by.
type sortKey struct {
	column    *column
	ascending bool
}

// sort orders the nodes; what the keys leave open stays as it was. A node
// without a value comes last, in either direction.
func (t *table) sort(keys []sortKey) {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k sortKey) bool { return k.column.failed != "" })
	if len(keys) == 0 {
		return
	}
	slices.SortStableFunc(t.nodes, func(a, b int32) int {
		for _, k := range keys {
			x, y := t.cell(k.column, a), t.cell(k.column, b)
			switch {
			case k.column.there[x] != k.column.there[y]:
				if k.column.there[x] {
					return -1
				}
				return 1
			case !k.column.there[x]:
				continue
			}
			if c := k.column.compare(x, y); c != 0 && k.ascending {
				return c
			} else if c != 0 {
				return -c
			}
		}
		return 0
	})
}

// grouping is a column to group by, or one of the groups when it has an
// operation.
type grouping struct {
	column    *column
	operation string
}

func parseOperation(path, text string, c *column) (string, error) {
	operation := strings.ToUpper(text)
	switch operation {
	case "", "COUNT", "MIN", "MAX":
		return operation, nil
	case "SUM", "AVG":
		if c.numeric() {
			return operation, nil
		}
		return "", invalid(CodeBadRequest, "%s: %s needs numbers, and %s has none.", path, operation, c.key)
	}
	return "", invalid(CodeBadRequest, "%s: the operation %q is none of SUM, AVG, MIN, MAX, COUNT.", path, shortened(text))
}

// group puts nodes together that have the same values. The groups come in the
// order of their first members.
func (t *table) group(by []grouping) *table {
	out := &table{rows: t, periods: 1}
	places := map[string]int{}
	var name []byte
	for _, node := range t.nodes {
		name = name[:0]
		for _, g := range by {
			if g.operation == "" && g.column.failed == "" {
				name = t.appendName(name, g.column, node)
			}
		}
		at, known := places[string(name)]
		if !known {
			at = len(out.groups)
			places[string(name)] = at
			out.groups = append(out.groups, group{})
			out.nodes = append(out.nodes, int32(at))
		}
		out.groups[at].members = append(out.groups[at].members, node)
	}
	for _, g := range by {
		out.columns = append(out.columns, t.summarized(g, out.groups))
	}
	return out
}

// appendName appends what tells the value of a node from others.
func (t *table) appendName(dst []byte, c *column, node int32) []byte {
	cell := t.cell(c, node)
	if !c.there[cell] {
		return append(dst, 0)
	}
	return append(c.appendRaw(append(dst, 1), cell), 0)
}

// summarized is a column of groups.
func (t *table) summarized(g grouping, groups []group) *column {
	c := g.column
	out := &column{key: c.key, alias: c.alias, kind: c.kind, series: true, failed: c.failed, element: c.element}
	if g.operation == "COUNT" {
		out.kind = dataelement.Long
	} else if g.operation == "AVG" {
		out.kind = dataelement.Number
	}
	out.there = make([]bool, len(groups))
	out.texts, out.numbers, out.integers = make([]string, len(groups)), make([]float64, len(groups)), make([]int64, len(groups))
	if c.failed != "" {
		return out
	}
	for i := range groups {
		t.summarize(out, int32(i), g, groups[i].members)
	}
	return out
}

// summarize sets the value of one group.
func (t *table) summarize(out *column, at int32, g grouping, members []int32) {
	c := g.column
	var cells []int32
	for _, node := range members {
		if cell := t.cell(c, node); c.there[cell] {
			cells = append(cells, cell)
		}
	}
	out.there[at] = len(cells) > 0 || g.operation == "COUNT"
	if !out.there[at] {
		return
	}
	var sum float64
	if g.operation == "SUM" || g.operation == "AVG" {
		for _, cell := range cells {
			sum += c.number(cell)
		}
	}
	switch g.operation {
	case "COUNT":
		out.integers[at] = int64(len(cells))
		return
	case "AVG":
		out.numbers[at] = sum / float64(len(cells))
		return
	case "SUM":
		out.numbers[at], out.integers[at] = sum, int64(sum)
		return
	}
	chosen := cells[0]
	if g.operation == "MIN" {
		chosen = slices.MinFunc(cells, c.compare)
	} else if g.operation == "MAX" {
		chosen = slices.MaxFunc(cells, c.compare)
	}
	out.take(at, c, chosen)
}

// take copies a value of another column of the same kind.
func (c *column) take(at int32, from *column, cell int32) {
	switch c.kind {
	case dataelement.String:
		c.texts[at] = from.texts[cell]
	case dataelement.Number:
		c.numbers[at] = from.numbers[cell]
	default:
		c.integers[at] = from.integers[cell]
	}
}

// shape is what a request makes of what was read.
type shape struct {
	filters []*filter
	groups  []grouping
	sorts   []*platformv1.DataSort
}

// apply makes the table of an answer.
func (s *shape) apply(t *table) (*table, error) {
	t.keep(s.filters)
	if len(s.groups) > 0 {
		t = t.group(s.groups)
	}
	keys := make([]sortKey, 0, len(s.sorts))
	for _, k := range s.sorts {
		at := slices.IndexFunc(t.columns, func(c *column) bool {
			return c.key == k.GetKey() && (k.Alias == nil || c.alias != nil && *c.alias == k.GetAlias())
		})
		if at < 0 {
			return nil, invalid(CodeBadRequest, "sortBy: %q is not a column of groupBy.", shortened(k.GetKey()))
		}
		keys = append(keys, sortKey{t.columns[at], strings.EqualFold(k.GetSortDirection(), "ASC")})
	}
	t.sort(keys)
	return t, nil
}

// newShape reads what is to be done, and adds the columns that it needs to the
// plan.
func newShape(q *query, p *plan, known *elements) (*shape, error) {
	s := &shape{sorts: q.GetSortBy()}
	for _, f := range q.GetWhere() {
		c, err := p.column("where", f.GetKey(), f.Alias, q, known)
		if err != nil {
			return nil, err
		}
		made, err := newFilter("where", f, c)
		if err != nil {
			return nil, err
		}
		s.filters = append(s.filters, made)
	}
	for _, g := range q.GetGroupBy() {
		c, err := p.column("groupBy", g.GetKey(), g.Alias, q, known)
		if err != nil {
			return nil, err
		}
		operation, err := parseOperation("groupBy", g.GetOperation(), c)
		if err != nil {
			return nil, err
		}
		s.groups = append(s.groups, grouping{c, operation})
	}
	for _, k := range q.GetSortBy() {
		switch strings.ToUpper(k.GetSortDirection()) {
		case "", "ASC", "DESC":
		default:
			return nil, invalid(CodeBadRequest, "sortBy: the direction %q is neither ASC nor DESC.", shortened(k.GetSortDirection()))
		}
		if _, err := p.column("sortBy", k.GetKey(), k.Alias, q, known); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// totals says of each column how many values it has, and what they add up to.
func (t *table) totals(columns []*column) []*platformv1.DataSummary {
	var out []*platformv1.DataSummary
	for _, c := range columns {
		if c.failed != "" {
			continue
		}
		var count int64
		var sum, least, most float64
		for _, node := range t.nodes {
			cell := t.cell(c, node)
			if !c.there[cell] {
				continue
			}
			if count++; c.numeric() {
				v := c.number(cell)
				if count == 1 {
					least, most = v, v
				}
				sum, least, most = sum+v, min(least, v), max(most, v)
			}
		}
		s := &platformv1.DataSummary{Key: c.key, Count: strconv.FormatInt(count, 10)}
		if c.numeric() && count > 0 {
			text := func(f float64) *string { return proto.String(string(appendNumber(nil, f))) }
			s.Min, s.Max, s.Sum, s.Avg = text(least), text(most), text(sum), text(sum/float64(count))
		}
		out = append(out, s)
	}
	return out
}
