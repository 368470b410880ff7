package wire

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Of returns the encoded bytes of a message, from its unknown fields, its known fields, or both.
func Of(m proto.Message) ([]byte, error) {
	wire := []byte(m.ProtoReflect().GetUnknown())
	if proto.Size(m) == len(wire) {
		return wire, nil
	}
	return proto.Marshal(m)
}

// LastVarint returns the last value of a varint field in the bytes of a message, or 0.
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

// LastText returns the last value of a length-delimited field in the bytes of a message, or nil.
func LastText(fields []byte, field protoreflect.FieldDescriptor) (value []byte) {
	for number, text := range Texts(fields) {
		if number == field.Number() {
			value = text
		}
	}
	return value
}

// Texts yields the length-delimited fields in the bytes of a message.
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

// Each calls do for each field in the bytes of a message: with its number, its type, and its value as it is on the
// wire. It stops at the first error.
func Each(fields []byte, do func(protowire.Number, protowire.Type, []byte) error) error {
	for len(fields) > 0 {
		number, kind, n := protowire.ConsumeTag(fields)
		if n < 0 {
			return protowire.ParseError(n)
		}
		fields = fields[n:]
		size := protowire.ConsumeFieldValue(number, kind, fields)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := do(number, kind, fields[:size]); err != nil {
			return err
		}
		fields = fields[size:]
	}
	return nil
}
