package hyperfind

import (
	"context"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// pieceBytes is how large a piece of a list is, about: what one part of an
// answer carries.
const pieceBytes = 64 << 10

// pieces are the items of a list as wire bytes, cut between items. Nothing that
// was written is copied when there is more.
type pieces [][]byte

// next returns the piece that the next item of a list goes to.
func (p *pieces) next() *[]byte {
	if n := len(*p); n == 0 || len((*p)[n-1]) >= pieceBytes {
		*p = append(*p, make([]byte, 0, pieceBytes+1024))
	}
	return &(*p)[len(*p)-1]
}

// answer collects persons as the wire bytes of a HyperfindAnswer. Those above
// the limit are only counted.
type answer struct {
	limit, count  int
	refs, persons pieces
}

// add adds a person: a Ref, {id = 1, qualifier = 2}, and a HyperfindPerson,
// {person_id = 1, person_number = 2, full_name = 3, display_name = 4}.
func (a *answer) add(id int64, number, name []byte) {
	if a.count++; a.count > a.limit {
		a.refs, a.persons = nil, nil
		return
	}
	size := 1 + protowire.SizeVarint(uint64(id)) + 1 + protowire.SizeBytes(len(number))
	ref := a.refs.next()
	*ref = appendNamed(appendLength(*ref, 1, size), id, number)
	person := a.persons.next()
	*person = appendNamed(appendLength(*person, 1, size+2*(1+protowire.SizeBytes(len(name)))), id, number)
	*person = protowire.AppendBytes(protowire.AppendTag(*person, 3, protowire.BytesType), name)
	*person = protowire.AppendBytes(protowire.AppendTag(*person, 4, protowire.BytesType), name)
}

func appendLength(dst []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.BytesType), uint64(size))
}

func appendNamed(dst []byte, id int64, number []byte) []byte {
	dst = protowire.AppendVarint(protowire.AppendTag(dst, 1, protowire.VarintType), uint64(id))
	return protowire.AppendBytes(protowire.AppendTag(dst, 2, protowire.BytesType), number)
}

// message returns the collected persons, or the last of them when the caller
// takes the others in parts. It carries its fields as bytes.
func (a *answer) message(ctx context.Context) (*commonsv1.HyperfindAnswer, error) {
	fields := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(a.count))
	for i, list := range []pieces{a.refs, a.persons} {
		if len(list) == 0 {
			list = pieces{nil} // Empty, and there all the same.
		}
		for _, piece := range list {
			// A HyperfindResult with some of a list: all of them merge.
			size := 1 + protowire.SizeBytes(len(piece))
			fields = appendLength(fields, 2, size)
			fields = append(appendLength(fields, protowire.Number(i+1), len(piece)), piece...)
			if len(fields) < pieceBytes || !parts.Requested(ctx) {
				continue
			}
			var err error
			if fields, err = parts.Send(ctx, fields); err != nil {
				return nil, err
			}
		}
	}
	out := &commonsv1.HyperfindAnswer{}
	out.ProtoReflect().SetUnknown(fields)
	return out, nil
}
