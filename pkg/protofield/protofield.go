// Package protofield finds the numbers of fields by their names, for code that reads or
// writes the bytes of messages itself. Contracts are the one place that has the numbers.
package protofield

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MustNumber returns the number of the field of m that has a name. It panics when there is
// none, so it belongs into variables of packages: a contract that no longer has the field
// keeps the program from starting.
func MustNumber(m proto.Message, name protoreflect.Name) protowire.Number {
	number, ok := Number(m, name)
	if !ok {
		panic(fmt.Sprintf("protofield: %s has no field %q", m.ProtoReflect().Descriptor().FullName(), name))
	}
	return number
}

// MustShort is MustNumber for code that counts on tags of one byte: it panics for numbers
// above 15, too.
func MustShort(m proto.Message, name protoreflect.Name) protowire.Number {
	number := MustNumber(m, name)
	if protowire.SizeTag(number) != 1 {
		panic(fmt.Sprintf("protofield: the tag of %s.%s has more than one byte", m.ProtoReflect().Descriptor().FullName(), name))
	}
	return number
}

// Number returns the number of the field of m that has a name, and whether there is one.
func Number(m proto.Message, name protoreflect.Name) (protowire.Number, bool) {
	field := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if field == nil {
		return 0, false
	}
	return field.Number(), true
}
