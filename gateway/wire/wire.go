package wire

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Of returns the bytes of a message, which are in its unknown fields: it has
// them instead of known ones or beside them.
func Of(m proto.Message) ([]byte, error) {
	wire := []byte(m.ProtoReflect().GetUnknown())
	if proto.Size(m) == len(wire) {
		return wire, nil
	}
	return proto.Marshal(m)
}

// LastVarint returns the last value of a field in the bytes of a message, or 0.
func LastVarint(fields []byte, field protoreflect.FieldDescriptor) (value uint64) {
	for len(fields) > 0 && field != nil {
		number, kind, n := protowire.ConsumeTag(fields)
		if n < 0 {
			return 0
		}
		fields = fields[n:]
		if number == field.Number() && kind == protowire.VarintType {
			value, _ = protowire.ConsumeVarint(fields)
		}
		if n = protowire.ConsumeFieldValue(number, kind, fields); n < 0 {
			return 0
		}
		fields = fields[n:]
	}
	return value
}

// LastText returns the last value of a field in the bytes of a message, when it is a
// text or a message itself, or nil.
func LastText(fields []byte, field protoreflect.FieldDescriptor) (value []byte) {
	for number, text := range Texts(fields) {
		if number == field.Number() {
			value = text
		}
	}
	return value
}

// Texts yields the fields in the bytes of a message that are texts or messages
// themselves.
func Texts(fields []byte) iter.Seq2[protowire.Number, []byte] {
	return func(yield func(protowire.Number, []byte) bool) {
		for len(fields) > 0 {
			number, kind, tag := protowire.ConsumeTag(fields)
			if tag < 0 {
				return
			}
			n := protowire.ConsumeFieldValue(number, kind, fields[tag:])
			if n < 0 {
				return
			}
			if kind == protowire.BytesType {
				if text, _ := protowire.ConsumeBytes(fields[tag:]); !yield(number, text) {
					return
				}
			}
			fields = fields[tag+n:]
		}
	}
}
