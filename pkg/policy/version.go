package policy

import (
	"net/http"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Version is the name of the field that counts the versions of what a versioned
// operation is about, where its response has such a field.
const Version = "version"

// TakesIfMatch reports whether requests on a route of the operation are held to an If-Match:
// the route changes the one object whose version the operation is about. A POST without a
// parameter in its path creates the object.
func (m *Method) TakesIfMatch(verb, path string) bool {
	if !m.Versioned {
		return false
	}
	return verb == http.MethodPut || verb == http.MethodDelete || verb == http.MethodPost && strings.Contains(path, "{")
}

// VersionField returns the field of a message with its version, a number or a text, or
// nil when it has none.
func VersionField(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	field := d.Fields().ByName(Version)
	if field == nil || field.IsList() || field.Kind() != protoreflect.Int64Kind && field.Kind() != protoreflect.StringKind {
		return nil
	}
	return field
}

// WrappedVersion returns the field with the version of what a message holds under a
// field of its own: of a message that is nothing but a wrapper of one of several
// things, each with a version. It returns nil for every other message and field.
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
