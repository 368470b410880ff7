// Package entitytag reads the versions of objects for the ETag of responses.
package entitytag

import (
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// Version returns the version in the bytes of a message with the descriptor, or "". The version is a field of the
// message, or of the message that it wraps.
func Version(fields []byte, desc protoreflect.MessageDescriptor) string {
	if field := policy.VersionField(desc); field != nil {
		return fieldVersion(fields, field)
	}
	for number, inner := range wire.Texts(fields) {
		if field := policy.WrappedVersion(desc, number); field != nil {
			return fieldVersion(inner, field)
		}
	}
	return ""
}

func fieldVersion(fields []byte, field protoreflect.FieldDescriptor) string {
	if field.Kind() == protoreflect.StringKind {
		return string(wire.LastText(fields, field))
	}
	if version := wire.LastVarint(fields, field); version != 0 {
		return strconv.FormatUint(version, 10)
	}
	return ""
}
