// Package lines writes responses as lines of JSON (application/x-ndjson): one line for each item of their lists, and a
// last line with everything else. Put together, the lines are the JSON of the response.
package lines

import (
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// ContentType is the media type of lines.
const ContentType = "application/x-ndjson"

// Form describes the lines of one type of responses. It is immutable and safe for concurrent use.
type Form struct {
	plan *transcode.Plan
	// bare means that the JSON is an array. It has no last line, because the array has nothing but its items.
	bare   bool
	fields map[protowire.Number]*part
	// failure is the number of the field that replaces the response if it is present, or 0.
	failure protowire.Number
}

// part is a field whose items become lines: a list, or an object with lists.
type part struct {
	number protowire.Number
	// items is the type of the items of a list; nil for an object.
	items *transcode.Plan
	// begin and end enclose the JSON of an item.
	begin, end []byte
	// fields are the lists of an object.
	fields map[protowire.Number]*part
	// bare means that the JSON of the object is its list alone. failure is the number of the field that would replace
	// the list, or 0.
	bare    bool
	failure protowire.Number
}

var (
	forms   sync.Map // protoreflect.MessageDescriptor -> *Form
	failure = (*commonv1.ErrorBody)(nil).ProtoReflect().Descriptor()
)

// For returns the form of a type of responses.
func For(desc protoreflect.MessageDescriptor) *Form {
	if f, ok := forms.Load(desc); ok {
		return f.(*Form)
	}
	f, _ := forms.LoadOrStore(desc, newForm(desc))
	return f.(*Form)
}

// Has reports whether responses of a type have items that become lines.
func Has(desc protoreflect.MessageDescriptor) bool {
	return len(For(desc).fields) > 0 && options(desc).GetEmptyLists() == ""
}

func newForm(desc protoreflect.MessageDescriptor) *Form {
	f := &Form{plan: transcode.For(desc), fields: map[protowire.Number]*part{}, failure: failureNumber(desc)}
	if list := bareList(desc); list != nil {
		f.bare = true
		f.fields[list.Number()] = newList(list, nil, nil)
		return f
	}
	for i := range desc.Fields().Len() {
		switch fd := desc.Fields().Get(i); {
		case fd.Number() == f.failure:
		case isList(fd):
			f.fields[fd.Number()] = newList(fd, appendKey([]byte("{"), fd, '['), []byte("]}"))
		default:
			if object := newObject(fd); len(object.fields) > 0 {
				f.fields[fd.Number()] = object
			}
		}
	}
	return f
}

func newList(fd protoreflect.FieldDescriptor, begin, end []byte) *part {
	return &part{number: fd.Number(), items: transcode.For(fd.Message()), begin: begin, end: end}
}

// newObject returns the part of an object that is directly in a response. It has no lists if its JSON is not the plain
// form of its fields.
func newObject(fd protoreflect.FieldDescriptor) *part {
	object := &part{number: fd.Number(), fields: map[protowire.Number]*part{}}
	desc := fd.Message()
	if desc == nil || fd.IsMap() || fd.IsList() || fd.ContainingOneof() != nil && !fd.ContainingOneof().IsSynthetic() ||
		desc.ParentFile().Package() == "google.protobuf" || options(desc).GetEmptyLists() != "" {
		return object
	}
	begin := appendKey([]byte("{"), fd, 0)
	if list := bareList(desc); list != nil {
		object.bare, object.failure = true, failureNumber(desc)
		object.fields[list.Number()] = newList(list, append(begin, '['), []byte("]}"))
		return object
	}
	if options(desc).GetBareArray() != "" || options(desc).GetFailure() != "" {
		return object
	}
	for i := range desc.Fields().Len() {
		if inner := desc.Fields().Get(i); isList(inner) {
			object.fields[inner.Number()] = newList(inner, appendKey(append(begin[:len(begin):len(begin)], '{'), inner, '['), []byte("]}}"))
		}
	}
	return object
}

// bareList returns the list of objects that is the whole JSON of a message, or nil.
func bareList(desc protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	if fd := desc.Fields().ByName(protoreflect.Name(options(desc).GetBareArray())); fd != nil && isList(fd) {
		return fd
	}
	return nil
}

// failureNumber returns the number of the field whose JSON replaces a message if it is present, or 0.
func failureNumber(desc protoreflect.MessageDescriptor) protowire.Number {
	if fd := desc.Fields().ByName(protoreflect.Name(options(desc).GetFailure())); fd != nil {
		return fd.Number()
	}
	return 0
}

// isList reports whether a field is a list of objects. Lists of plain values are short, and stay together.
func isList(fd protoreflect.FieldDescriptor) bool { return fd.IsList() && fd.Message() != nil }

// appendKey appends the name of a property, and the bracket that opens its value.
func appendKey(dst []byte, fd protoreflect.FieldDescriptor, bracket byte) []byte {
	dst = append(jsontext.AppendString(dst, fd.JSONName()), ':')
	if bracket != 0 {
		dst = append(dst, bracket)
	}
	return dst
}

func options(desc protoreflect.MessageDescriptor) *optionsv1.Message {
	opts, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	return opts
}
