package membership

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Handler serves EmploymentTermAssignmentService. The interceptors in front of
// it see to it that the context has a tenant.
type Handler struct {
	timekeepingv1.UnsafeEmploymentTermAssignmentServiceServer
	pool    *pg.Pool
	persons *person.Directory
	// wake notifies the relay that there are events to publish.
	wake func()
}

// New makes a Handler; wake is called after a commit that may have left events
// in the outbox.
func New(pool *pg.Pool, persons *person.Directory, wake func()) *Handler {
	return &Handler{pool: pool, persons: persons, wake: wake}
}

// GetEmploymentTermAssignments returns the assignments of the person with the
// id in the path.
func (h *Handler) GetEmploymentTermAssignments(ctx context.Context, req *timekeepingv1.GetEmploymentTermAssignmentsRequest) (*timekeepingv1.PersonEmploymentTerms, error) {
	out, err := h.one(ctx, person.Key{ID: req.GetPersonId()})
	if fault.HasCode(err, person.CodeUnknown) {
		return nil, fault.NotFound(person.CodeUnknown, fault.FromError(err).Message)
	}
	return out, err
}

// FindEmploymentTermAssignments returns the assignments of the person with a
// person number.
func (h *Handler) FindEmploymentTermAssignments(ctx context.Context, req *timekeepingv1.FindEmploymentTermAssignmentsRequest) (*timekeepingv1.PersonEmploymentTerms, error) {
	if req.GetPersonNumber() == "" {
		return nil, fault.Invalid(CodeNoIdentity, "Name the person by the parameter person_number.")
	}
	return h.one(ctx, person.Key{Number: req.GetPersonNumber()})
}

func (h *Handler) one(ctx context.Context, key person.Key) (*timekeepingv1.PersonEmploymentTerms, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	found, err := h.persons.Find(ctx, tenantID, []person.Key{key})
	if err != nil {
		return nil, err
	}
	who, ok := found[key]
	if !ok {
		return nil, key.Unknown()
	}
	have, err := readAssignments(ctx, h.pool, tenantID, []int64{who.ID})
	if err != nil {
		return nil, err
	}
	return toProto(who, have[who.ID]), nil
}

// MultiReadEmploymentTermAssignments returns the assignments of the persons
// asked for, in that order. Unknown persons fail by themselves.
func (h *Handler) MultiReadEmploymentTermAssignments(ctx context.Context, req *timekeepingv1.MultiReadEmploymentTermAssignmentsRequest) (*timekeepingv1.PersonEmploymentTermsList, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := h.criterion(ctx, req.GetWhere())
	if err != nil {
		return nil, err
	}
	keys := make([]person.Key, 0, len(asked))
	for _, a := range asked {
		if a.err == nil {
			keys = append(keys, a.key)
		}
	}
	found, err := h.persons.Find(ctx, tenantID, keys)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, 0, len(found))
	for _, who := range found {
		ids = append(ids, who.ID)
	}
	have, err := readAssignments(ctx, h.pool, tenantID, ids)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*timekeepingv1.PersonEmploymentTerms, *timekeepingv1.PersonEmploymentTerms]{}
	for _, a := range asked {
		who, ok := found[a.key]
		switch {
		case a.err != nil:
			out.Fail(&timekeepingv1.PersonEmploymentTerms{PersonIdentity: a.identity}, a.err)
		case !ok:
			out.Fail(&timekeepingv1.PersonEmploymentTerms{PersonIdentity: a.identity}, a.key.Unknown())
		default:
			out.Succeed(nil, toProto(who, have[who.ID]))
		}
	}
	return response(ctx, out)
}

// response gives the outcome of an operation on several persons.
func response(ctx context.Context, out *bulk.Outcome[*timekeepingv1.PersonEmploymentTerms, *timekeepingv1.PersonEmploymentTerms]) (*timekeepingv1.PersonEmploymentTermsList, error) {
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &timekeepingv1.PersonEmploymentTermsList{Persons: done, Failure: failure}, err
}

// toProto is the response for one person.
func toProto(who person.Person, assignments []*timekeepingv1.EmploymentTermAssignment) *timekeepingv1.PersonEmploymentTerms {
	return &timekeepingv1.PersonEmploymentTerms{
		PersonIdentity: &commonsv1.PersonIdentity{PersonKey: &who.ID, PersonNumber: &who.Number},
		Assignments:    assignments,
	}
}
