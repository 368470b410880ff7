package hyperfind

import (
	"context"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/protofield"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Numbers of the fields that are encoded by hand.
var (
	fieldCount        = protofield.MustShort(&commonsv1.HyperfindResponse{}, "count")
	fieldResult       = protofield.MustShort(&commonsv1.HyperfindResponse{}, "result")
	resultRefs        = protofield.MustShort(&commonsv1.HyperfindResult{}, "refs")
	resultPersons     = protofield.MustShort(&commonsv1.HyperfindResult{}, "base_persons")
	refItems          = protofield.MustShort(&commonsv1.HyperfindRefList{}, "refs")
	refID             = protofield.MustShort(&commonv1.Ref{}, "id")
	refQualifier      = protofield.MustShort(&commonv1.Ref{}, "qualifier")
	personItems       = protofield.MustShort(&commonsv1.HyperfindPersonList{}, "persons")
	personID          = protofield.MustShort(&commonsv1.HyperfindPerson{}, "person_id")
	personNumber      = protofield.MustShort(&commonsv1.HyperfindPerson{}, "person_number")
	personFullName    = protofield.MustShort(&commonsv1.HyperfindPerson{}, "full_name")
	personDisplayName = protofield.MustShort(&commonsv1.HyperfindPerson{}, "display_name")
)

// chunkBytes is the approximate size of a chunk of a list. One part of a response carries a
// chunk.
const chunkBytes = 64 << 10

// chunks are the items of a list in wire format, split between items. Appending does not copy
// earlier chunks.
type chunks [][]byte

// next returns the chunk for the next item of a list.
func (p *chunks) next() *[]byte {
	if n := len(*p); n == 0 || len((*p)[n-1]) >= chunkBytes {
		*p = append(*p, make([]byte, 0, chunkBytes+1024))
	}
	return &(*p)[len(*p)-1]
}

// response collects persons in the wire format of a HyperfindResponse. Persons above the
// limit are only counted.
type response struct {
	limit, count  int
	refs, persons chunks
}

// add adds a person as a Ref and as a HyperfindPerson. Both begin with an id and a number.
func (a *response) add(id int64, number, name []byte) {
	if a.count++; a.count > a.limit {
		a.refs, a.persons = nil, nil
		return
	}
	size := 1 + protowire.SizeVarint(uint64(id)) + 1 + protowire.SizeBytes(len(number))
	ref := a.refs.next()
	*ref = appendNamed(appendLength(*ref, refItems, size), refID, refQualifier, id, number)
	person := a.persons.next()
	*person = appendLength(*person, personItems, size+2*(1+protowire.SizeBytes(len(name))))
	*person = appendNamed(*person, personID, personNumber, id, number)
	*person = protowire.AppendBytes(protowire.AppendTag(*person, personFullName, protowire.BytesType), name)
	*person = protowire.AppendBytes(protowire.AppendTag(*person, personDisplayName, protowire.BytesType), name)
}

func appendLength(dst []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.BytesType), uint64(size))
}

func appendNamed(dst []byte, idField, numberField protowire.Number, id int64, number []byte) []byte {
	dst = protowire.AppendVarint(protowire.AppendTag(dst, idField, protowire.VarintType), uint64(id))
	return protowire.AppendBytes(protowire.AppendTag(dst, numberField, protowire.BytesType), number)
}

// message returns the collected persons. If the caller requested parts, it sends them in
// parts and returns the last one. The message carries its fields as bytes.
func (a *response) message(ctx context.Context) (*commonsv1.HyperfindResponse, error) {
	fields := protowire.AppendVarint(protowire.AppendTag(nil, fieldCount, protowire.VarintType), uint64(a.count))
	for _, list := range []struct {
		field protowire.Number
		chunks
	}{{resultRefs, a.refs}, {resultPersons, a.persons}} {
		if len(list.chunks) == 0 {
			list.chunks = chunks{nil} // The list is present even if it is empty.
		}
		for _, piece := range list.chunks {
			// Each chunk is a separate HyperfindResult. The decoder merges them.
			size := 1 + protowire.SizeBytes(len(piece))
			fields = appendLength(fields, fieldResult, size)
			fields = append(appendLength(fields, list.field, len(piece)), piece...)
			if len(fields) < chunkBytes || !parts.Requested(ctx) {
				continue
			}
			var err error
			if fields, err = parts.Send(ctx, fields); err != nil {
				return nil, err
			}
		}
	}
	out := &commonsv1.HyperfindResponse{}
	out.ProtoReflect().SetUnknown(fields)
	return out, nil
}
