package policy

import "google.golang.org/protobuf/reflect/protoreflect"

// Version is the name of the field that counts the versions of what a versioned
// operation is about: in its response, and in the body of its request, or in the
// request when that has none.
const Version = "version"

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
