package setupref

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Fields are the fields of a message, also in nested messages, that refer to objects whose former names are
// kept. They find references in an encoded message without decoding it.
type Fields struct {
	// refers reports that the field itself is such a reference or a transfer string.
	refers bool
	nested map[protowire.Number]*Fields
}

// FieldsOf returns the fields of the messages of a type.
func FieldsOf(m proto.Message) *Fields {
	return newFields(m.ProtoReflect().Descriptor(), map[protoreflect.FullName]bool{})
}

// newFields leaves out messages inside of messages of the same type.
func newFields(d protoreflect.MessageDescriptor, outer map[protoreflect.FullName]bool) *Fields {
	out := &Fields{nested: map[protowire.Number]*Fields{}}
	if outer[d.FullName()] {
		return out
	}
	outer[d.FullName()] = true
	defer delete(outer, d.FullName())
	ref := (*commonv1.Ref)(nil).ProtoReflect().Descriptor().FullName()
	for i := range d.Fields().Len() {
		field := d.Fields().Get(i)
		switch {
		case field.Name() == transferField:
			out.nested[field.Number()] = &Fields{refers: true}
		case field.Message() == nil || field.IsMap():
		case field.Message().FullName() == ref:
			if fieldKind(fieldName(field)) != "" {
				out.nested[field.Number()] = &Fields{refers: true}
			}
		default:
			if inner := newFields(field.Message(), outer); len(inner.nested) > 0 {
				out.nested[field.Number()] = inner
			}
		}
	}
	return out
}

// In reports whether an encoded message has one of the fields.
func (f *Fields) In(body []byte) bool {
	for len(body) > 0 {
		number, wire, n := protowire.ConsumeTag(body)
		if n < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, wire, body[n:])
		if size < 0 {
			return false
		}
		if inner := f.nested[number]; inner != nil {
			value, _ := protowire.ConsumeBytes(body[n:])
			if inner.refers || inner.In(value) {
				return true
			}
		}
		body = body[n+size:]
	}
	return false
}

// fieldName returns the name of a field without underscores.
func fieldName(field protoreflect.FieldDescriptor) string {
	return strings.ReplaceAll(string(field.Name()), "_", "")
}
