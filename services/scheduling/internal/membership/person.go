package membership

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// CodeUnknown (400; 404 on a path with an id): there is no such person, or the caller may not see
// them. Name a person by an id or a person number that exists.
const CodeUnknown = "WCO-101263"

// personKey identifies a person by id, or by person number if the id is 0.
type personKey struct {
	id     int64
	number string
}

// unknown returns the error for a key without a person.
func (k personKey) notFound() *fault.Error {
	if k.id != 0 {
		return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the id %d.", k.id))
	}
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no person with the person number %q.", k.number))
}

func (k personKey) ref() *commonv1.Ref {
	if k.id != 0 {
		return &commonv1.Ref{Id: proto.Int64(k.id)}
	}
	return &commonv1.Ref{Qualifier: proto.String(k.number)}
}

// findPersons returns the persons of the keys. For each other key it returns an error: the person
// does not exist or is not visible, or is the caller and may not write their own record. Do not
// call it in a transaction.
func (h *Handler) findPersons(ctx context.Context, keys []personKey) (found map[personKey]projection.Employee, missing map[personKey]*fault.Error, err error) {
	refs := make([]*commonv1.Ref, len(keys))
	for i, k := range keys {
		refs[i] = k.ref()
	}
	employees, denied, err := h.persons.EachEmployee(ctx, refs)
	if err != nil {
		return nil, nil, err
	}
	found, missing = make(map[personKey]projection.Employee, len(keys)), map[personKey]*fault.Error{}
	for i, k := range keys {
		switch {
		case denied[i] == nil:
			found[k] = employees[i]
		case denied[i].Code == fault.CodeOwnRecord:
			missing[k] = denied[i]
		default:
			missing[k] = k.notFound()
		}
	}
	return found, missing, nil
}
