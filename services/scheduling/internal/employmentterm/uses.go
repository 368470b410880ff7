package employmentterm

import (
	"context"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// property is the part of the names of reference fields that identifies a kind of objects.
type property string

// properties are the kinds of objects that terms refer to.
var properties = map[schedulingv1.EmploymentTermProperty]property{
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_CODE:  "pay_code",
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_WORK_RULE: "work_rule",
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_RULE:  "pay_rule",
}

// FindEmploymentTermUse returns the name of a term that refers to an object of another service, or
// "".
func (h *Handler) FindEmploymentTermUse(ctx context.Context, req *schedulingv1.FindEmploymentTermUseRequest) (*schedulingv1.FindEmploymentTermUseResponse, error) {
	tenantID := tenant.Of(ctx)
	kind, ok := properties[req.GetProperty()]
	if !ok {
		return nil, fault.Invalid(fault.CodeBadRequest, "property is missing, or unknown.")
	}
	terms, err := collect(ctx, h.pool, `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 ORDER BY id`, tenantID)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		if refersTo(t.term.ProtoReflect(), kind, req.GetId(), req.GetName()) {
			return &schedulingv1.FindEmploymentTermUseResponse{EmploymentTerm: t.term.GetName()}, nil
		}
	}
	return &schedulingv1.FindEmploymentTermUseResponse{}, nil
}

// refersTo searches the fields of a term for references. The id of a reference takes precedence.
func refersTo(m protoreflect.Message, kind property, id int64, name string) (found bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if ref, is := asRef(field, value); is {
			found = strings.Contains(string(field.Name()), string(kind)) &&
				(ref.Id != nil && ref.GetId() == id || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), name))
			return !found
		}
		if !field.IsList() {
			found = refersTo(value.Message(), kind, id, name)
			return !found
		}
		for i := 0; i < value.List().Len() && !found; i++ {
			found = refersTo(value.List().Get(i).Message(), kind, id, name)
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
