package policy

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Whoever turns a body into a message need not build what a limit refuses. It keeps as
// many items of a list as may pass, leaves the others out, and says in the message how
// many they were: limits count them, so that the refusal is the same as if all were
// there. That is what the edge does while it transcodes.

// moreField is the field that says so, beside those that a message has. Its number is
// the largest that there is.
const moreField = protowire.MaxValidNumber

// Caps returns, for the fields of a message type that hold lists or are such messages
// themselves, how many items of one list may pass in any case. A field that is not there
// has no limit of its own.
func Caps(desc protoreflect.MessageDescriptor) (map[protoreflect.FieldNumber]int64, error) {
	limits, err := limitsOf(desc)
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

// AppendMore says in the wire bytes of a message that a list has more items than are
// there.
func AppendMore(dst []byte, list protoreflect.FieldNumber, items int64) []byte {
	said := protowire.AppendVarint(nil, uint64(list))
	said = protowire.AppendVarint(said, uint64(items))
	dst = protowire.AppendTag(dst, moreField, protowire.BytesType)
	return protowire.AppendBytes(dst, said)
}

// AppendIncomplete says in the wire bytes of a body that lists in it have more items
// than are there.
func AppendIncomplete(dst []byte) []byte { return AppendMore(dst, 0, 0) }

// more is how many items of a list were left out.
func more(m protoreflect.Message, list protoreflect.FieldNumber) int64 {
	var items int64
	eachMore(m.GetUnknown(), func(of protoreflect.FieldNumber, n int64) {
		if of == list {
			items += n
		}
	})
	return items
}

// eachMore reads what AppendMore wrote. Other unknown fields, and bytes that nobody
// wrote, say nothing.
func eachMore(unknown []byte, each func(list protoreflect.FieldNumber, items int64)) {
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

// incomplete reports whether the body of a request lacks items that were in it.
func (m *Method) incomplete(req protoreflect.Message) bool {
	said := false
	note := func(protoreflect.FieldNumber, int64) { said = true }
	eachMore(req.GetUnknown(), note)
	if m.bodyField != nil && req.Has(m.bodyField) {
		eachMore(req.Get(m.bodyField).Message().GetUnknown(), note)
	}
	return said
}

// CheckLimits returns a fault for the first limit that the request passes. A request
// that lacks items passes none, whatever the limits are: those of whoever left the items
// out are another version's.
func (m *Method) CheckLimits(req proto.Message) error {
	if err := m.limits.check(req, m.body); err != nil {
		return err
	}
	if m.incomplete(req.ProtoReflect()) {
		return fault.TooLarge(fault.CodeTooLarge, "The request has more items than are accepted. Split it into several requests.")
	}
	return nil
}
