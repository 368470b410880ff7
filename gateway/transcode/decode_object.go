package transcode

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// mapObject reads an object as a map, with the property names as keys.
func (d *decoder) mapObject(f *field) *problem {
	switch d.peek() {
	case '{':
	case '[':
		return problemf(fault.CodeStructure, "is a list, but an object is expected")
	default:
		return d.notExpected("an object")
	}
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxDepth {
		return problemf(fault.CodeStructure, "nests more than %d levels deep", maxDepth)
	}
	keys := map[string]struct{}{}
	return d.object(func(d *decoder, name []byte) *problem {
		if _, ok := keys[string(name)]; ok {
			return d.recoverAt(d.pos, len(d.out), repeatedProperty().in(shortenBytes(name)))
		}
		keys[string(name)] = struct{}{}
		pos, mark, known, label := d.pos, len(d.out), len(d.problems), shortenBytes(name)
		bad := d.mapEntry(f, name)
		d.name(known, label)
		if bad != nil {
			return d.recoverAt(pos, mark, bad.in(label))
		}
		return nil
	})
}

func (d *decoder) mapEntry(f *field, name []byte) *problem {
	if bad := d.weigh(f.message.weight); bad != nil {
		return bad
	}
	start := len(d.out)
	d.out = protowire.AppendTag(d.out, f.number, protowire.BytesType)
	mark := d.openLength()
	key := f.entry.key
	d.out = protowire.AppendTag(d.out, key.number, key.wire)
	if key.kind == protoreflect.StringKind {
		d.out = protowire.AppendBytes(d.out, name)
	} else {
		bits, bad := key.fromText(name)
		if bad != nil {
			return bad
		}
		d.out = appendBits(d.out, key.wire, bits)
	}
	if d.peek() == 'n' && !f.entry.value.nullable() {
		d.out = d.out[:start]
		return d.null()
	}
	if bad := d.element(f.entry.value); bad != nil {
		return bad
	}
	d.closeLength(mark)
	return nil
}

// fieldSet is a set of the positions of properties that an object has had so far. It allocates nothing for
// message types with up to 64 fields.
type fieldSet struct {
	first uint64
	rest  []uint64
}

// add adds a position, and reports whether it is new.
func (s *fieldSet) add(position int) bool {
	bits, bit := &s.first, uint64(1)<<(position%64)
	if word := position/64 - 1; word >= 0 {
		for len(s.rest) <= word {
			s.rest = append(s.rest, 0)
		}
		bits = &s.rest[word]
	}
	if *bits&bit != 0 {
		return false
	}
	*bits |= bit
	return true
}

// repeatedProperty returns the problem of a property that occurs twice in an object.
func repeatedProperty() *problem {
	return problemf(fault.CodeValue, "occurs more than once in an object")
}
