// Package protofield looks up the numbers of fields by name, for code that reads or writes the
// bytes of messages itself. So only the contracts contain the numbers.
package protofield

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MustNumber returns the number of the field of m with a name. It panics if there is none. Use it
// for package variables: if a contract loses the field, the program does not start.
func MustNumber(m proto.Message, name protoreflect.Name) protowire.Number {
	number, ok := Number(m, name)
	if !ok {
		panic(fmt.Sprintf("protofield: %s has no field %q", m.ProtoReflect().Descriptor().FullName(), name))
	}
	return number
}

// MustShort is MustNumber for code that relies on one-byte tags: it also panics for numbers above
// 15.
func MustShort(m proto.Message, name protoreflect.Name) protowire.Number {
	number := MustNumber(m, name)
	if protowire.SizeTag(number) != 1 {
		panic(fmt.Sprintf("protofield: the tag of %s.%s has more than one byte", m.ProtoReflect().Descriptor().FullName(), name))
	}
	return number
}

// MustShare returns the number that fields of several messages share. It panics if the numbers
// differ.
func MustShare(numbers ...protowire.Number) protowire.Number {
	for _, number := range numbers {
		if number != numbers[0] {
			panic(fmt.Sprintf("protofield: fields that must share a number have %d", numbers))
		}
	}
	return numbers[0]
}

// Number returns the number of the field of m with a name, and whether it exists.
func Number(m proto.Message, name protoreflect.Name) (protowire.Number, bool) {
	field := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if field == nil {
		return 0, false
	}
	return field.Number(), true
}
