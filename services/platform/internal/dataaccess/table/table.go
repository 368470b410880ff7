package table

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/catalogue"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
)

// Table is a result before encoding: columns, and nodes in order. A node of rows is a number that combines a
// row and a period; a node of groups is the number of a group.
type Table struct {
	Columns []*Column
	// periods is the number of periods of each row; 1 without a time series.
	periods int32
	Nodes   []int32
	// Groups is set if the nodes are groups of the nodes of Rows.
	Groups []group
	Rows   *Table
}

// group contains the row nodes of a group.
type group struct{ Members []int32 }

// Cell returns the cell of a node in a column.
func (t *Table) Cell(c *Column, node int32) int32 {
	if c.Series {
		return node
	}
	return node / t.periods
}

// New returns the table of all rows and periods.
func New(columns []*Column, rows, periods int) *Table {
	t := &Table{Columns: columns, periods: int32(periods), Nodes: make([]int32, rows*periods)}
	for i := range t.Nodes {
		t.Nodes[i] = int32(i)
	}
	return t
}

// filterNodes removes the nodes that a filter does not select. A filter on a column that could not be read
// selects nothing.
func (t *Table) filterNodes(filters []*filter) {
	for _, f := range filters {
		t.Nodes = slices.DeleteFunc(t.Nodes, func(node int32) bool {
			return f.column.Failed != "" || !f.matches(t.Cell(f.column, node))
		})
	}
}

// sortKey is a column to sort by.
type sortKey struct {
	column    *Column
	ascending bool
}

// sort sorts the nodes; it is stable. Nodes without a value come last, in both directions.
func (t *Table) sort(keys []sortKey) {
	keys = slices.DeleteFunc(slices.Clone(keys), func(k sortKey) bool { return k.column.Failed != "" })
	if len(keys) == 0 {
		return
	}
	slices.SortStableFunc(t.Nodes, func(a, b int32) int {
		for _, k := range keys {
			x, y := t.Cell(k.column, a), t.Cell(k.column, b)
			switch {
			case k.column.Present[x] != k.column.Present[y]:
				if k.column.Present[x] {
					return -1
				}
				return 1
			case !k.column.Present[x]:
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

// grouping is a column to group by, or an aggregated column if it has an operation.
type grouping struct {
	column    *Column
	operation string
}

func parseOperation(path, text string, c *Column) (string, error) {
	operation := strings.ToUpper(text)
	switch operation {
	case "", "COUNT", "MIN", "MAX":
		return operation, nil
	case "SUM", "AVG":
		if c.numeric() {
			return operation, nil
		}
		return "", errcode.Invalid(errcode.CodeBadRequest, "%s: %s needs a numeric data element, which %s is not.", path, operation, c.Key)
	}
	return "", fault.Invalid(errcode.CodeBadRequest, suggest.NotOneOf(path, text, "SUM", "AVG", "MIN", "MAX", "COUNT"))
}

// group combines nodes with the same values. The groups have the order of their first members.
func (t *Table) group(by []grouping) *Table {
	out := &Table{Rows: t, periods: 1}
	places := map[string]int{}
	var name []byte
	for _, node := range t.Nodes {
		name = name[:0]
		for _, g := range by {
			if g.operation == "" && g.column.Failed == "" {
				name = t.appendName(name, g.column, node)
			}
		}
		at, known := places[string(name)]
		if !known {
			at = len(out.Groups)
			places[string(name)] = at
			out.Groups = append(out.Groups, group{})
			out.Nodes = append(out.Nodes, int32(at))
		}
		out.Groups[at].Members = append(out.Groups[at].Members, node)
	}
	for _, g := range by {
		out.Columns = append(out.Columns, t.summaryColumn(g, out.Groups))
	}
	return out
}

// appendName appends an encoding that identifies the value of a node.
func (t *Table) appendName(dst []byte, c *Column, node int32) []byte {
	cell := t.Cell(c, node)
	if !c.Present[cell] {
		return append(dst, 0)
	}
	return append(c.AppendRaw(append(dst, 1), cell), 0)
}

// summaryColumn returns an aggregated column of groups.
func (t *Table) summaryColumn(g grouping, groups []group) *Column {
	c := g.column
	out := &Column{Key: c.Key, Alias: c.Alias, Kind: c.Kind, Series: true, Failed: c.Failed, Element: c.Element}
	if g.operation == "COUNT" {
		out.Kind = dataelement.Long
	} else if g.operation == "AVG" {
		out.Kind = dataelement.Number
	}
	out.Present = make([]bool, len(groups))
	out.Texts, out.Numbers, out.Integers = make([]string, len(groups)), make([]float64, len(groups)), make([]int64, len(groups))
	if c.Failed != "" {
		return out
	}
	for i := range groups {
		t.summarize(out, int32(i), g, groups[i].Members)
	}
	return out
}

// summarize sets the value of one group.
func (t *Table) summarize(out *Column, at int32, g grouping, members []int32) {
	c := g.column
	var cells []int32
	for _, node := range members {
		if cell := t.Cell(c, node); c.Present[cell] {
			cells = append(cells, cell)
		}
	}
	out.Present[at] = len(cells) > 0 || g.operation == "COUNT"
	if !out.Present[at] {
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
		out.Integers[at] = int64(len(cells))
		return
	case "AVG":
		out.Numbers[at] = sum / float64(len(cells))
		return
	case "SUM":
		out.Numbers[at], out.Integers[at] = sum, int64(sum)
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

// take copies a value from another column of the same kind.
func (c *Column) take(at int32, from *Column, cell int32) {
	switch c.Kind {
	case dataelement.String:
		c.Texts[at] = from.Texts[cell]
	case dataelement.Number:
		c.Numbers[at] = from.Numbers[cell]
	default:
		c.Integers[at] = from.Integers[cell]
	}
}

// Shape contains the filters, groupings and sort keys of a request.
type Shape struct {
	filters []*filter
	groups  []grouping
	sorts   []*platformv1.DataSort
}

// Apply returns the table of the response.
func (s *Shape) Apply(t *Table) (*Table, error) {
	t.filterNodes(s.filters)
	if len(s.groups) > 0 {
		t = t.group(s.groups)
	}
	keys := make([]sortKey, 0, len(s.sorts))
	for _, k := range s.sorts {
		at := slices.IndexFunc(t.Columns, func(c *Column) bool {
			return c.Key == k.GetKey() && (k.Alias == nil || c.Alias != nil && *c.Alias == k.GetAlias())
		})
		if at < 0 {
			return nil, errcode.Invalid(errcode.CodeBadRequest, "sortBy: %q is not a column of groupBy.", errcode.Shorten(k.GetKey()))
		}
		keys = append(keys, sortKey{t.Columns[at], strings.EqualFold(k.GetSortDirection(), "ASC")})
	}
	t.sort(keys)
	return t, nil
}

// NewShape parses the operations of a request, and adds the columns that they need to the plan.
func NewShape(q *query.Query, p *plan, known *catalogue.Elements) (*Shape, error) {
	s := &Shape{}
	for _, f := range q.GetWhere() {
		key, alias := q.ResolveColumn(f.GetKey(), f.Alias, f.GetColumnName())
		c, err := p.column("where", key, alias, q, known)
		if err != nil {
			return nil, err
		}
		condition, err := newFilter("where", f, c)
		if err != nil {
			return nil, err
		}
		s.filters = append(s.filters, condition)
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
			return nil, errcode.Invalid(errcode.CodeBadRequest, "sortBy: the direction %q must be ASC or DESC.", errcode.Shorten(k.GetSortDirection()))
		}
		key, alias := q.ResolveColumn(k.GetKey(), k.Alias, k.GetColumnName())
		if _, err := p.column("sortBy", key, alias, q, known); err != nil {
			return nil, err
		}
		s.sorts = append(s.sorts, &platformv1.DataSort{Key: key, Alias: alias, SortDirection: k.GetSortDirection()})
	}
	return s, nil
}

// Totals returns the count, sum, average and extremes of each column over some nodes.
func (t *Table) Totals(nodes []int32, columns []*Column) []*platformv1.DataSummary {
	var out []*platformv1.DataSummary
	for _, c := range columns {
		if c.Failed != "" {
			continue
		}
		var count int64
		var sum, least, most float64
		for _, node := range nodes {
			cell := t.Cell(c, node)
			if !c.Present[cell] {
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
		s := &platformv1.DataSummary{Key: c.Key, Count: proto.Int64(count)}
		if c.numeric() && count > 0 {
			text := func(f float64) *string { return proto.String(string(appendNumber(nil, f))) }
			s.Min, s.Max, s.Sum, s.Avg = text(least), text(most), text(sum), text(sum/float64(count))
		}
		out = append(out, s)
	}
	return out
}
