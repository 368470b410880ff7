// Package table filters, groups and sorts the values that were read, by column and cell.
package table

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
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

	// Series means that there is a cell for each period of a row, instead of one for the row.
	Series bool
	// Failed is the reason why there are no values, or "".
	Failed   string
	Present  []bool
	Texts    []string
	Numbers  []float64
	Integers []int64
	// Head contains the leading bytes of the column's attributes.
	Head []byte
}

// numeric reports whether the values can be added.
func (c *Column) numeric() bool { return c.Kind == dataelement.Number || c.Kind == dataelement.Long }

// number returns a value of a numeric column.
func (c *Column) number(cell int32) float64 {
	if c.Kind == dataelement.Number {
		return c.Numbers[cell]
	}
	return float64(c.Integers[cell])
}

// Fill stores the values from a provider. If the provider returned too few, the remaining cells are empty.
func (c *Column) Fill(from *datav1.DataColumn, cells int) {
	c.Present = make([]bool, cells)
	switch c.Kind {
	case dataelement.String:
		c.Texts = spread(c.Present, from, from.GetTexts())
	case dataelement.Number:
		c.Numbers = spread(c.Present, from, from.GetNumbers())
	default:
		c.Integers = spread(c.Present, from, from.GetIntegers())
	}
}

// spread assigns the values to the cells that have one.
func spread[V any](present []bool, from *datav1.DataColumn, values []V) []V {
	out := make([]V, len(present))
	next := 0
	for i := range present {
		if next < len(values) && dataelement.Present(from, i) {
			present[i], out[i] = true, values[next]
			next++
		}
	}
	return out
}

// Name identifies the data of the column. The same element with the same properties is read once.
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

// compare orders two cells with values.
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

// compareText orders texts without regard to case. Case decides only between equal texts.
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

// plan contains the columns that a request needs: first the shown ones, then those only for filters or sorting.
type plan struct {
	Columns []*Column
	Shown   int
}

// NewPlan finds the elements of a request. An unknown element fails, and the others are read. If all
// elements are unknown, NewPlan returns the error of the first one, which lists the others.
func NewPlan(q *query.Query, known *catalogue.Elements) (*plan, error) {
	p := &plan{}
	var unknown []error
	for i, s := range q.GetSelect() {
		c, err := newColumn(s.GetKey(), s.GetProperties(), q, known)
		if errors.Is(err, catalogue.ErrUnknown) {
			if len(unknown) < fault.MaxViolations {
				err = known.Suggest(s.GetKey(), fault.FromError(err).WithMembers(fmt.Sprintf("select[%d].key", i)))
			}
			unknown = append(unknown, err)
			c, err = &Column{Key: s.GetKey(), Kind: dataelement.String, Failed: fault.FromError(err).Message}, nil
		}
		if err != nil {
			return nil, err
		}
		c.Alias = s.Alias
		p.Columns = append(p.Columns, c)
	}
	if len(unknown) == len(p.Columns) && len(unknown) > 0 {
		return nil, fault.Join(unknown...)
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
		return nil, errcode.Invalid(errcode.CodeBadRequest, "The data element %s does not belong to the view %s.", key, q.View.Name).
			WithCause(catalogue.ErrUnknown)
	}
	c := &Column{Key: key, Kind: e.GetType(), Element: e, Properties: map[string]string{}, Series: e.GetSeries()}
	for _, property := range properties {
		at := slices.IndexFunc(e.GetProperties(), func(p *datav1.DataElementProperty) bool { return strings.EqualFold(p.GetKey(), property.GetKey()) })
		if at < 0 {
			return nil, errcode.Invalid(errcode.CodeProperty, "The data element %s has no property %q.", key, errcode.Shorten(property.GetKey()))
		}
		c.Properties[e.GetProperties()[at].GetKey()] = property.GetValue()
	}
	for _, needed := range e.GetProperties() {
		if c.Properties[needed.GetKey()] == "" {
			return nil, errcode.Invalid(errcode.CodeProperty, "The data element %s needs the property %s: %s", key, needed.GetKey(), needed.GetDescription())
		}
	}
	return c, nil
}

// column returns the column that a filter, a grouping or a sort key names, by alias or by key. A column that is
// not selected is read but not shown.
func (p *plan) column(path, key string, alias *string, q *query.Query, known *catalogue.Elements) (*Column, error) {
	for _, c := range p.Columns {
		if c.Key == key && (alias == nil || c.Alias != nil && *c.Alias == *alias) {
			return c, nil
		}
	}
	if alias != nil {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: no column of %q has the alias %q.", path, errcode.Shorten(key), errcode.Shorten(*alias))
	}
	c, err := newColumn(key, nil, q, known)
	if err != nil {
		return nil, err
	}
	p.Columns = append(p.Columns, c)
	return c, nil
}
