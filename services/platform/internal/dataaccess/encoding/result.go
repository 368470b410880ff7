package encoding

import (
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/table"
)

// Result contains the data for all pages of a request. It is immutable after Prepare.
type Result struct {
	View   query.View
	Label  query.LabelForm
	Week   civil.Range // a week of the tenant, for labels; empty if the periods are not weeks
	Rows   []*datav1.DataRow
	Bounds []int32
	Table  *table.Table
	// Read contains all columns that were read. The first ones are shown.
	Read  []*table.Column
	Shown int

	Digest      [32]byte
	MetadataKey string
	ReadAt      time.Time
	Expires     time.Time
	Bytes       int
}

// Position returns the place of a node of rows in the order of pages by cursor.
func (r *Result) Position(node int32) query.Position {
	if !r.View.Series {
		return query.Position{ID: r.Rows[node].GetId()}
	}
	periods := int32(len(r.Bounds) - 1)
	return query.Position{ID: r.Rows[node/periods].GetId(), Day: r.Bounds[node%periods]}
}

// NoneReadable reports whether none of the shown elements could be read.
func (r *Result) NoneReadable() bool {
	shown := r.Table.Columns
	if r.Table.Groups == nil {
		shown = shown[:r.Shown]
	}
	for _, c := range shown {
		if c.Failed == "" {
			return false
		}
	}
	return true
}

// Errors returns the elements that could not be read, with the reasons.
func (r *Result) Errors() []*platformv1.DataError {
	var detail []*platformv1.DataErrorDetail
	seen := map[string]bool{}
	for _, c := range r.Read {
		if c.Failed != "" && !seen[c.Key] {
			seen[c.Key] = true
			detail = append(detail, &platformv1.DataErrorDetail{DataElement: &platformv1.DataElementName{Key: c.Key}, Message: c.Failed})
		}
	}
	if detail == nil {
		return nil
	}
	return []*platformv1.DataError{{
		Code: errcode.CodeProvider, Message: "Some data could not be retrieved. The details name the data elements and the reasons.", Detail: detail,
	}}
}

// Prepare computes what all pages of the result share. Call it once, when the result is complete.
func (r *Result) Prepare() {
	for _, c := range slices.Concat(r.Read, r.Table.Columns) {
		c.Head = attributeHead(c)
	}
	r.Bytes = r.size()
}

// size estimates the memory of the result, in bytes.
func (r *Result) size() int {
	n := 1024 + 64*len(r.Rows)
	tables := []*table.Table{r.Table}
	if r.Table.Rows != nil {
		tables = append(tables, r.Table.Rows)
	}
	for _, t := range tables {
		n += 4 * len(t.Nodes)
		for _, g := range t.Groups {
			n += 32 + 4*len(g.Members)
		}
		for _, c := range t.Columns {
			n += len(c.Present) + 16*len(c.Texts) + 8*len(c.Numbers) + 8*len(c.Integers)
			if c.Kind == dataelement.String {
				for _, text := range c.Texts {
					n += len(text)
				}
			}
		}
	}
	return n
}
