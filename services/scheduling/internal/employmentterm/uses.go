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

// property is a part of the names of the ref fields that refer to objects of a kind.
type property string

// properties are the kinds of objects that terms refer to.
var properties = map[schedulingv1.EmploymentTermProperty]property{
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_CODE:  "pay_code",
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_WORK_RULE: "work_rule",
	schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_RULE:  "pay_rule",
}

// FindEmploymentTermUse returns the name of a term that refers to an object of another
// service, or "" when none does.
func (h *Handler) FindEmploymentTermUse(ctx context.Context, req *schedulingv1.FindEmploymentTermUseRequest) (*schedulingv1.FindEmploymentTermUseResponse, error) {
	tenantID := tenant.Of(ctx)
	of, known := properties[req.GetProperty()]
	if !known {
		return nil, fault.Invalid(fault.CodeBadRequest, "property is missing, or unknown.")
	}
	terms, err := collect(ctx, h.pool, `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 ORDER BY id`, tenantID)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		if uses(t.term.ProtoReflect(), of, req.GetId(), req.GetName()) {
			return &schedulingv1.FindEmploymentTermUseResponse{EmploymentTerm: t.term.GetName()}, nil
		}
	}
	return &schedulingv1.FindEmploymentTermUseResponse{}, nil
}

// uses walks the fields of a term. The id of a ref wins.
func uses(m protoreflect.Message, of property, id int64, name string) (found bool) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil {
			return true
		}
		if ref, is := refOf(field, value); is {
			found = strings.Contains(string(field.Name()), string(of)) &&
				(ref.Id != nil && ref.GetId() == id || ref.Id == nil && strings.EqualFold(ref.GetQualifier(), name))
			return !found
		}
		if !field.IsList() {
			found = uses(value.Message(), of, id, name)
			return !found
		}
		for i := 0; i < value.List().Len() && !found; i++ {
			found = uses(value.List().Get(i).Message(), of, id, name)
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
