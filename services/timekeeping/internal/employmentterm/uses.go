package employmentterm

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Property is what terms refer to: the ref fields whose names contain it.
type Property string

// What terms refer to.
const (
	PayCode  Property = "pay_code"
	WorkRule Property = "work_rule"
	PayRule  Property = "pay_rule"
)

// Using returns the name of a term that refers to what has an id and a name, or
// "" when none does.
func Using(ctx context.Context, db pg.Querier, tenantID int64, property Property, id int64, name string) (string, error) {
	terms, err := collect(ctx, db, `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 ORDER BY id`, tenantID)
	if err != nil {
		return "", err
	}
	for _, t := range terms {
		if uses(t.term.ProtoReflect(), property, id, name) {
			return t.term.GetName(), nil
		}
	}
	return "", nil
}

// uses walks the fields of a term. The id of a ref wins.
func uses(m protoreflect.Message, property Property, id int64, name string) (found bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if ref, is := refOf(field, value); is {
			found = strings.Contains(string(field.Name()), string(property)) &&
				(ref.Id != nil && ref.GetId() == id || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), name))
			return !found
		}
		if !field.IsList() {
			found = uses(value.Message(), property, id, name)
			return !found
		}
		for i := 0; i < value.List().Len() && !found; i++ {
			found = uses(value.List().Get(i).Message(), property, id, name)
		}
		return !found
	})
	return found
}

func refOf(field protoreflect.FieldDescriptor, value protoreflect.Value) (*commonv1.Ref, bool) {
	if field.IsList() {
		return nil, false
	}
	ref, is := value.Message().Interface().(*commonv1.Ref)
	return ref, is
}
