package dataaccess

import (
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// result is what a request found, ready for any page of it. It is never changed
// after it was made.
type result struct {
	view   view
	label  labelForm
	rows   []*datav1.DataRow
	bounds []int32
	table  *table
	// read are all columns that were read; the first of them are shown.
	read  []*column
	shown int

	digest      [32]byte
	metadataKey string
	readAt      time.Time
	expires     time.Time
	bytes       int
}

// nothing reports whether no element that is shown could be read.
func (r *result) nothing() bool {
	shown := r.table.columns
	if r.table.groups == nil {
		shown = shown[:r.shown]
	}
	for _, c := range shown {
		if c.failed == "" {
			return false
		}
	}
	return true
}

// errorsOf names the elements that could not be read, with the reason of each.
func (r *result) errorsOf() []*platformv1.DataError {
	var detail []*platformv1.DataErrorDetail
	seen := map[string]bool{}
	for _, c := range r.read {
		if c.failed != "" && !seen[c.key] {
			seen[c.key] = true
			detail = append(detail, &platformv1.DataErrorDetail{DataElement: &platformv1.DataElementName{Key: c.key}, Message: c.failed})
		}
	}
	if detail == nil {
		return nil
	}
	return []*platformv1.DataError{{
		Code: CodeProvider, Message: "Some data could not be retrieved. The details name the data elements and the reasons.", Detail: detail,
	}}
}

// prepare makes what all pages of the result have in common. It is called once, when
// the result is complete.
func (r *result) prepare() {
	for _, c := range slices.Concat(r.read, r.table.columns) {
		c.head = headOf(c)
	}
	r.bytes = r.size()
}

// size estimates how many bytes the result takes in memory.
func (r *result) size() int {
	n := 1024 + 64*len(r.rows)
	tables := []*table{r.table}
	if r.table.rows != nil {
		tables = append(tables, r.table.rows)
	}
	for _, t := range tables {
		n += 4 * len(t.nodes)
		for _, g := range t.groups {
			n += 32 + 4*len(g.members)
		}
		for _, c := range t.columns {
			n += len(c.there) + 16*len(c.texts) + 8*len(c.numbers) + 8*len(c.integers)
			if c.kind == dataelement.String {
				for _, text := range c.texts {
					n += len(text)
				}
			}
		}
	}
	return n
}
