// Package setupref finds the references to setup, such as pay codes and tag definitions, in the messages of
// schedules, and shows the present names of renamed objects.
package setupref

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
	PayCode       Property = "paycode"
	WorkRule      Property = "workrule"
	PayRule       Property = "payrule"
	TagDefinition Property = "tagdefinition"
)

// transferField is the name of fields with transfer strings.
const transferField = "transfer_string"

// RefersTo searches the fields of a message for references to an object. The id of a reference takes
// precedence over its name, which may be in any case. Transfer strings name work rules, too.
func RefersTo(m protoreflect.Message, to Property, id int64, name string) (found bool) {
	visit(m, func(field string, ref *commonv1.Ref) bool {
		found = strings.Contains(field, string(to)) &&
			(ref.Id != nil && ref.GetId() == id || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), name))
		return !found
	}, func(transfer string, _ func(string)) bool {
		found = to == WorkRule && strings.EqualFold(transferredRule(transfer), name)
		return !found
	})
	return found
}

// visit calls onRef for each reference in a message, with the name of its field without underscores, and
// onTransfer for each transfer string, with a function that replaces it. It ends when a function returns
// false, and reports whether none did.
func visit(m protoreflect.Message, onRef func(field string, ref *commonv1.Ref) bool, onTransfer func(transfer string, replace func(string)) bool) (all bool) {
	all = true
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Name() == transferField:
			all = onTransfer(value.String(), func(shown string) { m.Set(field, protoreflect.ValueOfString(shown)) })
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := 0; i < value.List().Len() && all; i++ {
				all = visit(value.List().Get(i).Message(), onRef, onTransfer)
			}
		default:
			if ref, is := value.Message().Interface().(*commonv1.Ref); is {
				all = onRef(fieldName(field), ref)
			} else {
				all = visit(value.Message(), onRef, onTransfer)
			}
		}
		return all
	})
	return all
}

// transferredRule returns the work rule of a transfer string, such as "Store/Baker;Nights", or "".
func transferredRule(transfer string) string {
	_, rest, _ := strings.Cut(transfer, ";")
	rule, _, _ := strings.Cut(rest, ";")
	return strings.TrimSpace(rule)
}
