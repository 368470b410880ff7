// Package table filters, groups and sorts what was read: values by column and cell.
package table

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/catalogue"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
)

// Column is a column of a result: the values of an element, by cell.
type Column struct {
	Key        string
	Alias      *string
	Kind       dataelement.Type
	Properties map[string]string
	Element    *catalogue.Element

	// Series says that there is a cell for each period of a row, not one for
	// the row.
	Series bool
	// Failed says why there are no values, "" when there are.
	Failed   string
	There    []bool
	Texts    []string
	Numbers  []float64
	Integers []int64
	// Head begins the attributes of the column.
	Head []byte
}

// numeric reports whether the values can be added up.
func (c *Column) numeric() bool { return c.Kind == dataelement.Number || c.Kind == dataelement.Long }

// number returns a value that can be added up.
func (c *Column) number(cell int32) float64 {
	if c.Kind == dataelement.Number {
		return c.Numbers[cell]
	}
	return float64(c.Integers[cell])
}

// Fill takes over what a provider returned. A column that is not as long as it
// must be has no further values.
func (c *Column) Fill(from *datav1.DataColumn, cells int) {
	c.There = make([]bool, cells)
	switch c.Kind {
	case dataelement.String:
		c.Texts = spread(c.There, from, from.GetTexts())
	case dataelement.Number:
		c.Numbers = spread(c.There, from, from.GetNumbers())
	default:
		c.Integers = spread(c.There, from, from.GetIntegers())
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

// Name identifies what the column asks for: the same element with the same
// properties is read once.
func (c *Column) Name() string {
	if len(c.Properties) == 0 {
		return c.Key
	}
	var out strings.Builder
	out.WriteString(c.Key)
	for _, key := range slices.Sorted(maps.Keys(c.Properties)) {
		fmt.Fprintf(&out, "\x00%s\x00%s", key, c.Properties[key])
	}
	return out.String()
}

// compare orders two cells that have values.
func (c *Column) compare(a, b int32) int {
	switch c.Kind {
	case dataelement.String:
		return compareText(c.Texts[a], c.Texts[b])
	case dataelement.Number:
		return compareNumber(c.Numbers[a], c.Numbers[b])
	default:
		return compareNumber(c.Integers[a], c.Integers[b])
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
	Columns []*Column
	Shown   int
}

// NewPlan finds the elements of a request.
func NewPlan(q *query.Query, known *catalogue.Elements) (*plan, error) {
	p := &plan{}
	for _, s := range q.GetSelect() {
		c, err := newColumn(s.GetKey(), s.GetProperties(), q, known)
		if err != nil {
			return nil, err
		}
		c.Alias = s.Alias
		p.Columns = append(p.Columns, c)
	}
	p.Shown = len(p.Columns)
	return p, nil
}

func newColumn(key string, properties []*platformv1.DataProperty, q *query.Query, known *catalogue.Elements) (*Column, error) {
	kinds, err := known.Find(key)
	if err != nil {
		return nil, err
	}
	e := kinds.Of(q.View.Kind)
	if e == nil {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "The data element %s is not one of the view %s.", key, q.View.Name)
	}
	c := &Column{Key: key, Kind: e.GetType(), Element: e, Properties: map[string]string{}, Series: e.GetSeries()}
	for _, given := range properties {
		at := slices.IndexFunc(e.GetProperties(), func(p *datav1.DataElementProperty) bool { return strings.EqualFold(p.GetKey(), given.GetKey()) })
		if at < 0 {
			return nil, errcode.Invalid(errcode.CodeProperty, "The data element %s has no property %q.", key, errcode.Shortened(given.GetKey()))
		}
		c.Properties[e.GetProperties()[at].GetKey()] = given.GetValue()
	}
	for _, needed := range e.GetProperties() {
		if c.Properties[needed.GetKey()] == "" {
			return nil, errcode.Invalid(errcode.CodeProperty, "The data element %s needs the property %s: %s", key, needed.GetKey(), needed.GetDescription())
		}
	}
	return c, nil
}

// column returns the column that a filter, a grouping or a sort key names: by
// its alias, or by its key. One that is not selected is read and not shown.
func (p *plan) column(path, key string, alias *string, q *query.Query, known *catalogue.Elements) (*Column, error) {
	for _, c := range p.Columns {
		if c.Key == key && (alias == nil || c.Alias != nil && *c.Alias == *alias) {
			return c, nil
		}
	}
	if alias != nil {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: no column of %q has the alias %q.", path, errcode.Shortened(key), errcode.Shortened(*alias))
	}
	c, err := newColumn(key, nil, q, known)
	if err != nil {
		return nil, err
	}
	p.Columns = append(p.Columns, c)
	return c, nil
}
