package membership

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// CodeUnknown (400; 404 on a path with an id): there is no such person, or the caller may
// not see them. Name a person by an id or a person number that exists.
const CodeUnknown = "WCO-101263"

// personKey names a person: by id, or by person number when the id is 0.
type personKey struct {
	id     int64
	number string
}

// unknown is the error for a key that names nobody.
func (k personKey) unknown() *fault.Error {
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

// findPersons returns the persons that the keys name, and for each other key why there is
// none: nobody whom the caller may see, or the caller, whose own record the operation may
// not write. It has no place in a transaction.
func (h *Handler) findPersons(ctx context.Context, keys []personKey) (found map[personKey]projection.Employee, missing map[personKey]*fault.Error, err error) {
	refs := make([]*commonv1.Ref, len(keys))
	for i, k := range keys {
		refs[i] = k.ref()
	}
	employees, refused, err := h.persons.EachEmployee(ctx, refs)
	if err != nil {
		return nil, nil, err
	}
	found, missing = make(map[personKey]projection.Employee, len(keys)), map[personKey]*fault.Error{}
	for i, k := range keys {
		switch {
		case refused[i] == nil:
			found[k] = employees[i]
		case refused[i].Code == fault.CodeOwnRecord:
			missing[k] = refused[i]
		default:
			missing[k] = k.unknown()
		}
	}
	return found, missing, nil
}
