package policy

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Version is the name of the field with the object's version in responses of versioned operations.
const Version = "version"

// TakesIfMatch reports whether requests on a route of the operation may have an If-Match: the route
// changes the one object of the operation. A POST without a parameter in its path creates the
// object.
func (m *Method) TakesIfMatch(verb, path string) bool {
	if !m.Versioned {
		return false
	}
	return verb == http.MethodPut || verb == http.MethodDelete || verb == http.MethodPost && strings.Contains(path, "{")
}

// VersionField returns the field with the version of a message, a number or a text, or nil.
func VersionField(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	field := d.Fields().ByName(Version)
	if field == nil || field.IsList() || field.Kind() != protoreflect.Int64Kind && field.Kind() != protoreflect.StringKind {
		return nil
	}
	return field
}

// WrappedVersion returns the version field of the message in a field of a wrapper. A wrapper is a
// message with nothing but message fields, each with a version. WrappedVersion returns nil for all
// other messages and fields.
func WrappedVersion(d protoreflect.MessageDescriptor, number protoreflect.FieldNumber) protoreflect.FieldDescriptor {
	field := d.Fields().ByNumber(number)
	if field == nil || !wrapsVersions(d) {
		return nil
	}
	return VersionField(field.Message())
}

func wrapsVersions(d protoreflect.MessageDescriptor) bool {
	fields := d.Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Message() == nil || field.Cardinality() == protoreflect.Repeated || VersionField(field.Message()) == nil {
			return false
		}
	}
	return fields.Len() > 0
}
