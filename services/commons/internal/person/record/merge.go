package record

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// mergeKeys are the key properties of lists whose sent elements change the existing ones.
// Other lists are replaced.
var mergeKeys = map[protoreflect.Name]protoreflect.Name{
	"telephone_numbers":           "contact_type_name",
	"postal_addresses":            "contact_type_name",
	"person_license_types":        "license_type_name",
	"person_authentication_types": "authentication_type_name",
	"expected_hours_list":         "time_period_type_name",
}

// mergeMessage copies the set fields of one message to another. Unset fields stay as they
// are, because an empty text cannot be distinguished from one that was not sent.
func mergeMessage(to, from protoreflect.Message) {
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsList():
			mergeList(to, field, value.List())
		case field.Message() != nil && field.Message().ParentFile().Package() != "google.protobuf":
			mergeMessage(to.Mutable(field).Message(), value.Message())
		case field.Message() != nil:
			to.Set(field, protoreflect.ValueOfMessage(proto.Clone(value.Message().Interface()).ProtoReflect()))
		default:
			to.Set(field, value)
		}
		return true
	})
}

func mergeList(to protoreflect.Message, field protoreflect.FieldDescriptor, fresh protoreflect.List) {
	list := to.Mutable(field).List()
	name, keyed := mergeKeys[field.Name()]
	if !keyed {
		list.Truncate(0)
		for i := range fresh.Len() {
			list.Append(protoreflect.ValueOfMessage(proto.Clone(fresh.Get(i).Message().Interface()).ProtoReflect()))
		}
		return
	}
	key := field.Message().Fields().ByName(name)
	for i := range fresh.Len() {
		mergeMessage(elementWith(list, key, fresh.Get(i).Message().Get(key).String()), fresh.Get(i).Message())
	}
}

// elementWith returns the element of a list that has a key, compared without case. It adds
// the element if it does not exist.
func elementWith(list protoreflect.List, key protoreflect.FieldDescriptor, value string) protoreflect.Message {
	for i := range list.Len() {
		if m := list.Get(i).Message(); strings.EqualFold(m.Get(key).String(), value) {
			return m
		}
	}
	return list.AppendMutable().Message()
}
