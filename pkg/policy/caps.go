package policy

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Code that decodes a body into a message need not build list items that a limit rejects anyway. It
// keeps as many items of a list as a limit allows, drops the others, and records their number in
// the message. Limits count the dropped items too, so that the error is the same as for the
// complete list. The edge does this while it transcodes.

// moreField is the field that records dropped items. It uses the largest field number, so that it
// does not collide with the fields of a message.
const moreField = protowire.MaxValidNumber

// Caps returns, for the fields of a message type that hold lists or messages with lists, the
// largest number of items that any limit allows. A missing field has no limit of its own.
func Caps(desc protoreflect.MessageDescriptor) (map[protoreflect.FieldNumber]int64, error) {
	limits, err := messageLimits(desc)
	if err != nil {
		return nil, err
	}
	caps := map[protoreflect.FieldNumber]int64{}
	for _, l := range limits {
		for _, field := range l.counted {
			if most, ok := caps[field.Number()]; !ok || l.max < most {
				caps[field.Number()] = l.max
			}
		}
	}
	return caps, nil
}

// AppendMore records in the wire bytes of a message how many items of a list were dropped.
func AppendMore(dst []byte, list protoreflect.FieldNumber, items int64) []byte {
	said := protowire.AppendVarint(nil, uint64(list))
	said = protowire.AppendVarint(said, uint64(items))
	dst = protowire.AppendTag(dst, moreField, protowire.BytesType)
	return protowire.AppendBytes(dst, said)
}

// AppendIncomplete records in the wire bytes of a body that lists in it lack items.
func AppendIncomplete(dst []byte) []byte { return AppendMore(dst, 0, 0) }

// droppedItems returns the number of dropped items of a list.
func droppedItems(m protoreflect.Message, list protoreflect.FieldNumber) int64 {
	var items int64
	readDropped(m.GetUnknown(), func(of protoreflect.FieldNumber, n int64) {
		if of == list {
			items += n
		}
	})
	return items
}

// readDropped reads the records of AppendMore. It ignores other unknown fields, and malformed
// bytes.
func readDropped(unknown []byte, each func(list protoreflect.FieldNumber, items int64)) {
	for len(unknown) > 0 {
		number, wire, n := protowire.ConsumeTag(unknown)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, wire, unknown[n:])
		if size < 0 {
			return
		}
		if number == moreField && wire == protowire.BytesType {
			said, _ := protowire.ConsumeBytes(unknown[n:])
			list, k := protowire.ConsumeVarint(said)
			if items, j := protowire.ConsumeVarint(said[max(k, 0):]); k > 0 && j > 0 {
				each(protoreflect.FieldNumber(list), int64(items))
			}
		}
		unknown = unknown[n+size:]
	}
}

// incomplete reports whether the body of a request lacks dropped items.
func (m *Method) incomplete(req protoreflect.Message) bool {
	said := false
	note := func(protoreflect.FieldNumber, int64) { said = true }
	readDropped(req.GetUnknown(), note)
	if m.bodyField != nil && req.Has(m.bodyField) {
		readDropped(req.Get(m.bodyField).Message().GetUnknown(), note)
	}
	return said
}

// CheckLimits returns a fault for the first limit that the request exceeds. It always rejects a
// request with dropped items: another version with other limits may have dropped them.
func (m *Method) CheckLimits(req proto.Message) error {
	if err := m.limits.check(req, m.body); err != nil {
		return err
	}
	if m.incomplete(req.ProtoReflect()) {
		return fault.TooLarge(fault.CodeTooLarge, "The request has more items than are accepted. Split it into several requests.")
	}
	return nil
}
