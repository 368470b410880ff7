package membership

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

// Directory finds persons. It may call commons, so do not use it in a transaction.
type Directory interface {
	// EachEmployee returns the employee of each reference, or at the same position the reason why
	// the caller cannot use it.
	EachEmployee(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, []*fault.Error, error)
	// Identify asks commons for persons that are identified by more than an id or a person number.
	Identify(ctx context.Context, req *commonsv1.IdentifyPersonsRequest) ([]*commonsv1.IdentifiedPerson, error)
}

// Handler serves EmploymentTermAssignmentService. Interceptors ensure that the context has a
// tenant.
type Handler struct {
	schedulingv1.UnsafeEmploymentTermAssignmentServiceServer
	pool    *pg.Pool
	persons Directory
}

// New returns a Handler.
func New(pool *pg.Pool, persons Directory) *Handler {
	return &Handler{pool: pool, persons: persons}
}

// GetEmploymentTermAssignments returns the assignments of the person with the id in the path.
func (h *Handler) GetEmploymentTermAssignments(ctx context.Context, req *schedulingv1.GetEmploymentTermAssignmentsRequest) (*schedulingv1.PersonEmploymentTerms, error) {
	out, err := h.readOne(ctx, personKey{id: req.GetPersonId()})
	if fault.HasCode(err, CodeUnknown) {
		return nil, fault.NotFound(CodeUnknown, fault.FromError(err).Message)
	}
	return out, err
}

// FindEmploymentTermAssignments returns the assignments of the person with a person number.
func (h *Handler) FindEmploymentTermAssignments(ctx context.Context, req *schedulingv1.FindEmploymentTermAssignmentsRequest) (*schedulingv1.PersonEmploymentTerms, error) {
	if req.GetPersonNumber() == "" {
		return nil, fault.Invalid(CodeNoIdentity, "Name the person by the parameter person_number.")
	}
	return h.readOne(ctx, personKey{number: req.GetPersonNumber()})
}

func (h *Handler) readOne(ctx context.Context, key personKey) (*schedulingv1.PersonEmploymentTerms, error) {
	found, missing, err := h.findPersons(ctx, []personKey{key})
	if err != nil {
		return nil, err
	}
	if missingErr := missing[key]; missingErr != nil {
		return nil, missingErr
	}
	person := found[key]
	assignments, err := readAssignments(ctx, h.pool, []int64{person.ID})
	if err != nil {
		return nil, err
	}
	return toProto(person, assignments[person.ID]), nil
}

// MultiReadEmploymentTermAssignments returns the assignments of the requested persons, in the order
// of the request. Unknown persons fail independently.
func (h *Handler) MultiReadEmploymentTermAssignments(ctx context.Context, req *schedulingv1.MultiReadEmploymentTermAssignmentsRequest) (*schedulingv1.PersonEmploymentTermsList, error) {
	requested, err := h.criterion(ctx, req.GetWhere())
	if err != nil {
		return nil, err
	}
	keys := make([]personKey, 0, len(requested))
	for _, a := range requested {
		if a.err == nil {
			keys = append(keys, a.key)
		}
	}
	found, missing, err := h.findPersons(ctx, keys)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(found))
	for _, person := range found {
		ids = append(ids, person.ID)
	}
	assignments, err := readAssignments(ctx, h.pool, ids)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*schedulingv1.PersonEmploymentTerms, *schedulingv1.PersonEmploymentTerms]{}
	for _, a := range requested {
		person := found[a.key]
		switch missingErr := missing[a.key]; {
		case a.err != nil:
			out.Fail(&schedulingv1.PersonEmploymentTerms{PersonIdentity: a.identity}, a.err)
		case missingErr != nil:
			out.Fail(&schedulingv1.PersonEmploymentTerms{PersonIdentity: a.identity}, missingErr)
		default:
			out.Succeed(nil, toProto(person, assignments[person.ID]))
		}
	}
	return response(ctx, out)
}

// response returns the response of an operation on several persons.
func response(ctx context.Context, out *bulk.Outcome[*schedulingv1.PersonEmploymentTerms, *schedulingv1.PersonEmploymentTerms]) (*schedulingv1.PersonEmploymentTermsList, error) {
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // the code of operations on persons
	return &schedulingv1.PersonEmploymentTermsList{Persons: done, Failure: failure}, err
}

// toProto returns the response for one person.
func toProto(person projection.Employee, assignments []*schedulingv1.EmploymentTermAssignment) *schedulingv1.PersonEmploymentTerms {
	return &schedulingv1.PersonEmploymentTerms{
		PersonIdentity: &commonsv1.PersonIdentity{PersonKey: &person.ID, PersonNumber: &person.PersonNumber},
		Assignments:    assignments,
	}
}
