package dataelement

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

// CodeLimit (413): a request exceeds the limit of a provider.
const CodeLimit = "WRL-60401"

// maxCells bounds the values of one response: elements * rows * periods. Even with the longest
// texts, they fit into the memory of one request.
const maxCells = 250_000

// Property is a required parameter of an element.
type Property struct{ Key, Doc string }

// At holds the arguments of an element.
type At struct {
	// Days is the period. Values as of a day are read on its last day.
	Days civil.Range
	// Properties are the element's properties, by key.
	Properties map[string]string
}

// Last returns the last day of the period.
func (a At) Last() civil.Date { return a.Days.To - 1 }

// Entry is the complete description of an element. R is the type of a provider's rows.
type Entry[R any] struct {
	Key, Label, Doc string
	Type            Type
	Categories      []string
	Properties      []Property
	// Series means that the value depends on the period; otherwise a row has one value for all
	// requested days.
	Series bool
	// Wage means that the value is a wage, or derived from one: callers who may not read wages do
	// not get it.
	Wage bool
	// Needs is the data that must be loaded, in bits that the provider defines.
	Needs uint64
	// Value returns the value for a row.
	Value func(row *R, at At) Value
}

// Table is a provider of elements. Its fields must not change after its first use.
type Table[R any] struct {
	// Name is the name of the provider.
	Name string
	// Permission is the permission that callers need to read its elements.
	Permission string
	Kind       datav1.RowKind
	Entries    []Entry[R]
	// MaxRowDays bounds one request: rows multiplied by days.
	MaxRowDays int64
	// Load returns the rows with the ids, in their order, with nil for unknown rows. needs is the
	// union of the elements' Needs.
	Load func(ctx context.Context, ids []int64, days civil.Range, needs uint64) ([]*R, error)
	// LoadPeriods replaces Load if the loaded data depends on the periods.
	LoadPeriods func(ctx context.Context, ids []int64, periods []civil.Range, needs uint64) ([]*R, error)
}

// Describe returns the description of the provider.
func (t *Table[R]) Describe() *datav1.DataProvider {
	out := &datav1.DataProvider{Name: t.Name, Permission: t.Permission, RowKind: t.Kind}
	for i := range t.Entries {
		e := &t.Entries[i]
		element := &datav1.DataElement{
			Key: e.Key, Label: e.Label, Description: e.Doc, Type: e.Type, Categories: e.Categories, Series: e.Series,
		}
		for _, p := range e.Properties {
			element.Properties = append(element.Properties, &datav1.DataElementProperty{Key: p.Key, Description: p.Doc})
		}
		out.Elements = append(out.Elements, element)
	}
	return out
}

// Read reads elements, in the requested order.
func (t *Table[R]) Read(ctx context.Context, req *datav1.ReadDataElementsRequest) ([]*datav1.DataColumn, error) {
	periods, err := parsePeriods(req.GetBounds())
	if err != nil {
		return nil, err
	}
	entries, needs, err := t.selectEntries(req.GetElements())
	if err != nil {
		return nil, err
	}
	days := civil.Range{From: periods[0].From, To: periods[len(periods)-1].To}
	if err := t.checkLimits(int64(len(req.GetRowIds())), int64(days.Days()), countCells(entries, len(req.GetRowIds()), len(periods))); err != nil {
		return nil, err
	}
	wages := seesWages(ctx)
	var rows []*R
	if t.LoadPeriods != nil {
		rows, err = t.LoadPeriods(ctx, req.GetRowIds(), periods, needs)
	} else {
		rows, err = t.Load(ctx, req.GetRowIds(), days, needs)
	}
	if err != nil {
		return nil, err
	}
	out := make([]*datav1.DataColumn, len(entries))
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e.Wage && !wages {
			out[i] = e.column(make([]*R, len(rows)), periods, days, nil)
			continue
		}
		out[i] = e.column(rows, periods, days, req.GetElements()[i].GetProperties())
	}
	return out, nil
}

// seesWages reports whether the caller may read wages.
func seesWages(ctx context.Context) bool {
	p, ok := authn.From(ctx)
	return ok && (p.IsService() || p.Has(policy.WagesRead))
}

func (t *Table[R]) selectEntries(asked []*datav1.DataSelection) ([]*Entry[R], uint64, error) {
	byKey := make(map[string]*Entry[R], len(t.Entries))
	for i := range t.Entries {
		byKey[t.Entries[i].Key] = &t.Entries[i]
	}
	var needs uint64
	out := make([]*Entry[R], len(asked))
	for i, s := range asked {
		e, known := byKey[s.GetKey()]
		if !known {
			return nil, 0, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%s has no element %.100q.", t.Name, s.GetKey()))
		}
		out[i] = e
		needs |= e.Needs
	}
	return out, needs, nil
}

func (t *Table[R]) checkLimits(rows, days, cells int64) error {
	if rows*days > t.MaxRowDays {
		return OverLimit(t.Name, rowNoun(t.Kind)+" * days", rows*days, t.MaxRowDays)
	}
	if cells > maxCells {
		return OverLimit(t.Name, "values", cells, maxCells)
	}
	return nil
}

// OverLimit returns the fault for a request that exceeds a provider's limit.
func OverLimit(provider, quantity string, actual, limit int64) error {
	return fault.TooLarge(CodeLimit, fmt.Sprintf(
		"The service limit of the data provider %s is exceeded: %s: %d, allowed: %d. Split the request into several.",
		provider, quantity, actual, limit)).WithLimits(actual, limit)
}

func rowNoun(kind datav1.RowKind) string {
	if kind == datav1.RowKind_ROW_KIND_LOCATION {
		return "locations"
	}
	return "employees"
}

// countCells counts the values of a response.
func countCells[R any](entries []*Entry[R], rows, periods int) int64 {
	var n int64
	for _, e := range entries {
		if e.Series {
			n += int64(rows) * int64(periods)
		} else {
			n += int64(rows)
		}
	}
	return n
}

func parsePeriods(bounds []int32) ([]civil.Range, error) {
	if len(bounds) < 2 {
		return nil, fault.Invalid(fault.CodeBadRequest, "bounds needs at least two days.")
	}
	out := make([]civil.Range, len(bounds)-1)
	for i := range out {
		out[i] = civil.Range{From: civil.Date(bounds[i]), To: civil.Date(bounds[i+1])}
		if out[i].Empty() {
			return nil, fault.Invalid(fault.CodeBadRequest, "bounds must ascend.")
		}
	}
	return out, nil
}

// column evaluates the element for rows. It drops a value of another type than the element's.
func (e *Entry[R]) column(rows []*R, periods []civil.Range, days civil.Range, properties map[string]string) *datav1.DataColumn {
	if !e.Series {
		periods = []civil.Range{days}
	}
	c := column{out: &datav1.DataColumn{}}
	for _, row := range rows {
		for _, period := range periods {
			var v Value
			if row != nil {
				v = e.Value(row, At{Days: period, Properties: properties})
			}
			if v.kind != e.Type {
				v = Value{}
			}
			c.add(v)
		}
	}
	return c.out
}
