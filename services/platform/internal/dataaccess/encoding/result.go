package encoding

import (
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/query"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/table"
)

// Result is what a request found, ready for any page of it. It is never changed
// after it was made.
type Result struct {
	View   query.View
	Label  query.LabelForm
	Rows   []*datav1.DataRow
	Bounds []int32
	Table  *table.Table
	// Read are all columns that were read; the first of them are shown.
	Read  []*table.Column
	Shown int

	Digest      [32]byte
	MetadataKey string
	ReadAt      time.Time
	Expires     time.Time
	Bytes       int
}

// NoneReadable reports whether no element that is shown could be read.
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

// ErrorsOf names the elements that could not be read, with the reason of each.
func (r *Result) ErrorsOf() []*platformv1.DataError {
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

// Prepare makes what all pages of the result have in common. It is called once, when
// the result is complete.
func (r *Result) Prepare() {
	for _, c := range slices.Concat(r.Read, r.Table.Columns) {
		c.Head = headOf(c)
	}
	r.Bytes = r.size()
}

// size estimates how many bytes the result takes in memory.
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
			n += len(c.There) + 16*len(c.Texts) + 8*len(c.Numbers) + 8*len(c.Integers)
			if c.Kind == dataelement.String {
				for _, text := range c.Texts {
					n += len(text)
				}
			}
		}
	}
	return n
}
