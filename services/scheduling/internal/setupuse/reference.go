// Package setupuse finds the entries and patterns of schedules that refer to setup of other services, such as
// pay codes.
package setupuse

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Property is the part of the names of reference fields that identifies a kind of objects, without
// underscores.
type Property string

// The kinds of objects.
const (
	PayCode  Property = "paycode"
	WorkRule Property = "workrule"
	PayRule  Property = "payrule"
)

// RefersTo searches the fields of a message for references to an object. The id of a reference takes
// precedence over its name, which may be in any case.
func RefersTo(m protoreflect.Message, to Property, id int64, name string) (found bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil || field.IsMap() {
			return true
		}
		if ref, is := asRef(field, value); is {
			found = strings.Contains(strings.ReplaceAll(string(field.Name()), "_", ""), string(to)) &&
				(ref.Id != nil && ref.GetId() == id || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), name))
			return !found
		}
		if !field.IsList() {
			found = RefersTo(value.Message(), to, id, name)
			return !found
		}
		for i := 0; i < value.List().Len() && !found; i++ {
			found = RefersTo(value.List().Get(i).Message(), to, id, name)
		}
		return !found
	})
	return found
}

func asRef(field protoreflect.FieldDescriptor, value protoreflect.Value) (*commonv1.Ref, bool) {
	if field.IsList() {
		return nil, false
	}
	ref, is := value.Message().Interface().(*commonv1.Ref)
	return ref, is
}
