package wire

import (
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
