// Package encoding writes results of information access as encoded messages.
package encoding

import (
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/protofield"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/table"
)

// Numbers of fields that are written as bytes. A large response has as many attributes as a thousand rows have
// columns, so building messages would be too slow.
var (
	responseData = protofield.MustShort(&platformv1.MultiReadDataResponse{}, "data")

	nodeKey        = protofield.MustShort(&platformv1.DataNode{}, "key")
	nodeCoreKey    = protofield.MustShort(&platformv1.DataNode{}, "core_entity_key")
	nodeAttributes = protofield.MustShort(&platformv1.DataNode{}, "attributes")
	nodeChildren   = protofield.MustShort(&platformv1.DataNode{}, "children")
	nodeSummaries  = protofield.MustShort(&platformv1.DataNode{}, "summary_list_display")
	nodeRootEntity = protofield.MustShort(&platformv1.DataNode{}, "root_entity")
	nodeCustom     = protofield.MustShort(&platformv1.DataNode{}, "custom_properties")

	nodeItems      = protofield.MustShort(&platformv1.DataNodes{}, "nodes")
	attributeItems = protofield.MustShort(&platformv1.DataAttributes{}, "attributes")

	attributeKey   = protofield.MustShort(&platformv1.DataAttribute{}, "key")
	attributeAlias = protofield.MustShort(&platformv1.DataAttribute{}, "alias")
	attributeRaw   = protofield.MustShort(&platformv1.DataAttribute{}, "raw_value")
	attributeValue = protofield.MustShort(&platformv1.DataAttribute{}, "value")
)

// maxResponseBytes bounds the nodes of a response: the limit for responses of services, minus a reserve for the
// other fields.
var maxResponseBytes = client.DefaultSizes().MaxResponse - 1<<20

// Writer appends nodes in encoded form.
type Writer struct {
	*Result
	Grid bool
	// Totals means that the root and the groups have the totals of their rows.
	Totals bool
	// Send sends a part of the response; nil if the caller does not accept parts.
	Send func(fields []byte) (next []byte, err error)
	// Buffers for parts whose lengths are not yet known: a node, its attributes, its keys, and a value in its
	// two forms.
	scratch, list, key, core, ref, id, raw, value []byte
}

// chunkBytes is the approximate number of bytes in a part.
const chunkBytes = 64 << 10

// Root appends the field data of the response: the nodes of a page and the totals. If the caller accepts parts,
// it sends a few nodes at a time; the parts merge.
func (w *Writer) Root(dst []byte, page []int32) ([]byte, error) {
	if w.NoneReadable() {
		return appendLength(dst, responseData, 0), nil
	}
	key, err := proto.Marshal(&structpb.Struct{Fields: map[string]*structpb.Value{"ROOT": structpb.NewStringValue("-1")}})
	if err != nil {
		return nil, err
	}
	summaries := &platformv1.DataSummaries{}
	if w.Totals {
		summaries.Summaries = w.shownTotals()
	}
	summary, err := proto.Marshal(summaries)
	if err != nil {
		return nil, err
	}
	body := appendLength(appendBytes(nil, nodeKey, key), nodeCoreKey, 0)
	body = appendLength(body, nodeAttributes, 0)
	dst = appendBytes(dst, responseData, appendLength(body, nodeChildren, 0))
	if dst, err = w.appendChildren(dst, page); err != nil {
		return nil, err
	}
	body = appendBytes(body[:0], nodeSummaries, summary)
	body = appendBytes(body, nodeRootEntity, "ROOT")
	return appendBytes(dst, responseData, appendLength(body, nodeCustom, 0)), nil
}

// appendChildren appends the nodes of a page, and sends parts if there are many.
func (w *Writer) appendChildren(dst []byte, page []int32) ([]byte, error) {
	var nodes []byte
	var err error
	for i, node := range page {
		if nodes, err = w.appendChild(nodes, w.Table, node); err != nil {
			return nil, err
		}
		if len(nodes) < chunkBytes && i < len(page)-1 {
			continue
		}
		dst = appendBytes(appendLength(dst, responseData, fieldSize(len(nodes))), nodeChildren, nodes)
		nodes = nodes[:0]
		if w.Send == nil {
			continue
		}
		if dst, err = w.Send(dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// CheckSize refuses a response that exceeds the limit of the edge, before anything is sent. It first estimates
// the size from the longest values of the columns, and encodes the nodes only if that is inconclusive.
func (w *Writer) CheckSize(page []int32) error {
	if w.Table.Groups == nil && int64(len(page))*w.maxNode() <= int64(maxResponseBytes) {
		return nil
	}
	var node []byte
	var err error
	size := 0
	for _, n := range page {
		if node, err = w.appendChild(node[:0], w.Table, n); err != nil {
			return err
		}
		size += len(node)
	}
	if size <= maxResponseBytes {
		return nil
	}
	return fault.TooLarge(fault.CodeTooLarge, fmt.Sprintf("The response would have %d bytes, more than the allowed %d. "+
		"Ask for one page of it (index and count, or after and count), or for fewer rows, days or data elements.", size, maxResponseBytes))
}

// appendChild appends a node to a list of children.
func (w *Writer) appendChild(dst []byte, t *table.Table, node int32) ([]byte, error) {
	totals, err := w.groupTotals(t, node)
	if err != nil {
		return nil, err
	}
	var members []byte
	if t.Groups != nil && !w.Grid {
		for _, member := range t.Groups[node].Members {
			if members, err = w.appendChild(members, t.Rows, member); err != nil {
				return nil, err
			}
		}
	}
	body := w.scratch[:0]
	var entity string
	if t.Groups != nil {
		body, entity = w.groupKey(body, node), "GROUP"
	} else {
		body, entity = w.rowKey(body, node)
	}
	body = w.attributes(body, t, node)
	body = appendBytes(body, nodeChildren, members)
	body = appendBytes(body, nodeSummaries, totals)
	body = appendBytes(body, nodeRootEntity, entity)
	body = appendLength(body, nodeCustom, 0)
	w.scratch = body
	return appendBytes(dst, nodeItems, body), nil
}

// rowKey appends the keys of the row and the period of a node.
func (w *Writer) rowKey(dst []byte, node int32) ([]byte, string) {
	periods := int32(len(w.Bounds) - 1)
	if !w.View.Series {
		periods = 1
	}
	row := w.Rows[node/periods]
	w.id = strconv.AppendInt(w.id[:0], row.GetId(), 10)
	entity, core := "PEOPLE", "EMP"
	if !w.View.OfEmployees() {
		entity, core = "LOCATION", "ORG"
	}
	w.key = appendTextEntry(w.key[:0], entity, w.id)
	w.core = w.refEntry(w.core[:0], core, w.id, row.GetQualifier())
	if w.View.Series {
		at := node % periods
		days := civil.Range{From: civil.Date(w.Bounds[at]), To: civil.Date(w.Bounds[at+1])}
		w.id = days.From.Append(w.id[:0])
		w.key = appendTextEntry(w.key, "DAY", w.id)
		w.core = w.refEntry(w.core, "DAY", w.id, w.Label.Label(days, w.Week))
	}
	return appendBytes(appendBytes(dst, nodeKey, w.key), nodeCoreKey, w.core), entity
}

// groupKey appends the key of a group: its number.
func (w *Writer) groupKey(dst []byte, node int32) []byte {
	w.key = appendTextEntry(w.key[:0], "GROUP", strconv.Itoa(int(node)))
	return appendLength(appendBytes(dst, nodeKey, w.key), nodeCoreKey, 0)
}

// refEntry appends a Struct entry with a reference {id, qualifier}.
func (w *Writer) refEntry(dst []byte, name string, id []byte, qualifier string) []byte {
	w.ref = appendTextEntry(w.ref[:0], "id", id)
	if qualifier != "" {
		w.ref = appendTextEntry(w.ref, "qualifier", qualifier)
	}
	return appendTree(dst, name, w.ref)
}

// attributeHead returns the leading bytes of the attributes of a column: its key and its alias.
func attributeHead(c *table.Column) []byte {
	head := appendBytes(nil, attributeKey, c.Key)
	if c.Alias != nil {
		head = appendBytes(head, attributeAlias, *c.Alias)
	}
	return head
}

// attributes appends the values of a node.
func (w *Writer) attributes(dst []byte, t *table.Table, node int32) []byte {
	columns := t.Columns
	if t.Groups == nil {
		columns = columns[:w.Shown]
	}
	list := w.list[:0]
	for _, c := range columns {
		size, cell := len(c.Head), t.Cell(c, node)
		present := c.Failed == "" && c.Present[cell]
		if present && c.Kind == dataelement.String {
			text := c.Texts[cell] // identical in both forms
			list = append(appendLength(list, attributeItems, size+2*fieldSize(len(text))), c.Head...)
			list = appendBytes(appendBytes(list, attributeRaw, text), attributeValue, text)
			continue
		}
		if present {
			w.raw, w.value = c.AppendRaw(w.raw[:0], cell), c.AppendValue(w.value[:0], cell)
			size += fieldSize(len(w.raw)) + fieldSize(len(w.value))
		}
		list = append(appendLength(list, attributeItems, size), c.Head...)
		if present {
			list = appendBytes(appendBytes(list, attributeRaw, w.raw), attributeValue, w.value)
		}
	}
	w.list = list
	return appendBytes(dst, nodeAttributes, list)
}

// shownTotals returns the totals of the shown columns over all rows, and of the other columns of the
// groups over the groups.
func (w *Writer) shownTotals() []*platformv1.DataSummary {
	if w.Table.Groups == nil {
		return w.Table.Totals(w.Table.Nodes, w.Table.Columns[:w.Shown])
	}
	shown := w.Table.Rows.Columns[:w.Shown]
	rest := slices.DeleteFunc(slices.Clone(w.Table.Columns), func(c *table.Column) bool {
		return slices.ContainsFunc(shown, func(s *table.Column) bool { return s.Key == c.Key })
	})
	return append(w.Table.Rows.Totals(w.Table.Rows.Nodes, shown), w.Table.Totals(w.Table.Nodes, rest)...)
}

// groupTotals returns the encoded totals of the rows of a group, or nothing.
func (w *Writer) groupTotals(t *table.Table, node int32) ([]byte, error) {
	if !w.Totals || t.Groups == nil {
		return nil, nil
	}
	return proto.Marshal(&platformv1.DataSummaries{Summaries: t.Rows.Totals(t.Groups[node].Members, t.Rows.Columns[:w.Shown])})
}
