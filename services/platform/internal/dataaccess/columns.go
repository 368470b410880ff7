package dataaccess

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// column is a column of a result: the values of an element, by cell.
type column struct {
	key        string
	alias      *string
	kind       dataelement.Type
	properties map[string]string
	element    *element

	// series says that there is a cell for each period of a row, not one for
	// the row.
	series bool
	// failed says why there are no values, "" when there are.
	failed   string
	there    []bool
	texts    []string
	numbers  []float64
	integers []int64
	// head begins the attributes of the column.
	head []byte
}

// numeric reports whether the values can be added up.
func (c *column) numeric() bool { return c.kind == dataelement.Number || c.kind == dataelement.Long }

// number returns a value that can be added up.
func (c *column) number(cell int32) float64 {
	if c.kind == dataelement.Number {
		return c.numbers[cell]
	}
	return float64(c.integers[cell])
}

// fill takes over what a provider answered. A column that is not as long as it
// must be has no further values.
func (c *column) fill(from *datav1.DataColumn, cells int) {
	c.there = make([]bool, cells)
	switch c.kind {
	case dataelement.String:
		c.texts = spread(c.there, from, from.GetTexts())
	case dataelement.Number:
		c.numbers = spread(c.there, from, from.GetNumbers())
	default:
		c.integers = spread(c.there, from, from.GetIntegers())
	}
}

// spread gives each value its cell.
func spread[V any](there []bool, from *datav1.DataColumn, values []V) []V {
	out := make([]V, len(there))
	next := 0
	for i := range there {
		if next < len(values) && dataelement.Present(from, i) {
			there[i], out[i] = true, values[next]
			next++
		}
	}
	return out
}

// name tells what the column asks for: the same element with the same
// properties is read once.
func (c *column) name() string {
	if len(c.properties) == 0 {
		return c.key
	}
	var out strings.Builder
	out.WriteString(c.key)
	for _, key := range slices.Sorted(maps.Keys(c.properties)) {
		fmt.Fprintf(&out, "\x00%s\x00%s", key, c.properties[key])
	}
	return out.String()
}

// compare orders two cells that have values.
func (c *column) compare(a, b int32) int {
	switch c.kind {
	case dataelement.String:
		return compareText(c.texts[a], c.texts[b])
	case dataelement.Number:
		return compareNumber(c.numbers[a], c.numbers[b])
	default:
		return compareNumber(c.integers[a], c.integers[b])
	}
}

// compareText orders texts as people look for them: without regard to case,
// which decides only between equal ones.
func compareText(a, b string) int {
	if c := strings.Compare(strings.ToLower(a), strings.ToLower(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func compareNumber[N int64 | float64](a, b N) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// plan is which columns a request needs: those that are shown first, then those
// that are filtered or sorted by only.
type plan struct {
	columns []*column
	shown   int
}

// newPlan finds the elements of a request.
func newPlan(q *query, known *elements) (*plan, error) {
	p := &plan{}
	for _, s := range q.GetSelect() {
		c, err := newColumn(s.GetKey(), s.GetProperties(), q, known)
		if err != nil {
			return nil, err
		}
		c.alias = s.Alias
		p.columns = append(p.columns, c)
	}
	p.shown = len(p.columns)
	return p, nil
}

func newColumn(key string, properties []*platformv1.DataProperty, q *query, known *elements) (*column, error) {
	kinds, err := known.find(key)
	if err != nil {
		return nil, err
	}
	e := kinds.of(q.view.kind)
	if e == nil {
		return nil, invalid(CodeBadRequest, "The data element %s is not one of the view %s.", key, q.view.name)
	}
	c := &column{key: key, kind: e.GetType(), element: e, properties: map[string]string{}, series: e.GetSeries()}
	for _, given := range properties {
		at := slices.IndexFunc(e.GetProperties(), func(p *datav1.DataElementProperty) bool { return strings.EqualFold(p.GetKey(), given.GetKey()) })
		if at < 0 {
			return nil, invalid(CodeProperty, "The data element %s has no property %q.", key, shortened(given.GetKey()))
		}
		c.properties[e.GetProperties()[at].GetKey()] = given.GetValue()
	}
	for _, needed := range e.GetProperties() {
		if c.properties[needed.GetKey()] == "" {
			return nil, invalid(CodeProperty, "The data element %s needs the property %s: %s", key, needed.GetKey(), needed.GetDescription())
		}
	}
	return c, nil
}

// column returns the column that a filter, a grouping or a sort key names: by
// its alias, or by its key. One that is not selected is read and not shown.
func (p *plan) column(path, key string, alias *string, q *query, known *elements) (*column, error) {
	for _, c := range p.columns {
		if c.key == key && (alias == nil || c.alias != nil && *c.alias == *alias) {
			return c, nil
		}
	}
	if alias != nil {
		return nil, invalid(CodeBadRequest, "%s: no column of %q has the alias %q.", path, shortened(key), shortened(*alias))
	}
	c, err := newColumn(key, nil, q, known)
	if err != nil {
		return nil, err
	}
	p.columns = append(p.columns, c)
	return c, nil
}
