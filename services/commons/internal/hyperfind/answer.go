package hyperfind

import (
	"google.golang.org/protobuf/encoding/protowire"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// answer collects persons as the wire bytes of a HyperfindAnswer. Those above
// the limit are only counted.
type answer struct {
	limit, count  int
	refs, persons []byte
}

// add adds a person: a Ref, {id = 1, qualifier = 2}, and a HyperfindPerson,
// {person_id = 1, person_number = 2, full_name = 3, display_name = 4}.
func (a *answer) add(id int64, number, name []byte) {
	if a.count++; a.count > a.limit {
		a.refs, a.persons = nil, nil
		return
	}
	size := 1 + protowire.SizeVarint(uint64(id)) + 1 + protowire.SizeBytes(len(number))
	a.refs = appendLength(a.refs, 1, size)
	a.refs = appendNamed(a.refs, id, number)
	a.persons = appendLength(a.persons, 1, size+2*(1+protowire.SizeBytes(len(name))))
	a.persons = appendNamed(a.persons, id, number)
	a.persons = protowire.AppendBytes(protowire.AppendTag(a.persons, 3, protowire.BytesType), name)
	a.persons = protowire.AppendBytes(protowire.AppendTag(a.persons, 4, protowire.BytesType), name)
}

func appendLength(dst []byte, field protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.BytesType), uint64(size))
}

func appendNamed(dst []byte, id int64, number []byte) []byte {
	dst = protowire.AppendVarint(protowire.AppendTag(dst, 1, protowire.VarintType), uint64(id))
	return protowire.AppendBytes(protowire.AppendTag(dst, 2, protowire.BytesType), number)
}

// message answers the collected persons. It carries its fields as bytes.
func (a *answer) message() *commonsv1.HyperfindAnswer {
	size := 2 + protowire.SizeBytes(len(a.refs)) + protowire.SizeBytes(len(a.persons))
	fields := make([]byte, 0, size+2*protowire.SizeVarint(uint64(size))+8)
	fields = protowire.AppendVarint(protowire.AppendTag(fields, 1, protowire.VarintType), uint64(a.count))
	fields = appendLength(fields, 2, size)
	fields = append(appendLength(fields, 1, len(a.refs)), a.refs...)
	fields = append(appendLength(fields, 2, len(a.persons)), a.persons...)
	out := &commonsv1.HyperfindAnswer{}
	out.ProtoReflect().SetUnknown(fields)
	return out
}
