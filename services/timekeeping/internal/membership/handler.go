package membership

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Handler serves EmploymentTermAssignmentService. The interceptors in front of
// it see to it that the context has a tenant.
type Handler struct {
	timekeepingv1.UnsafeEmploymentTermAssignmentServiceServer
	pool    *pg.Pool
	persons *person.Directory
	// wake tells the relay that there are events to publish.
	wake func()
}

// New makes a Handler; wake is called after a commit that may have left events
// in the outbox.
func New(pool *pg.Pool, persons *person.Directory, wake func()) *Handler {
	return &Handler{pool: pool, persons: persons, wake: wake}
}

// GetEmploymentTermAssignments answers the assignments of the person with the
// id in the path.
func (h *Handler) GetEmploymentTermAssignments(ctx context.Context, req *timekeepingv1.GetEmploymentTermAssignmentsRequest) (*timekeepingv1.PersonEmploymentTerms, error) {
	out, err := h.one(ctx, person.Key{ID: req.GetPersonId()})
	if fault.HasCode(err, person.CodeUnknown) {
		return nil, fault.NotFound(person.CodeUnknown, fault.FromError(err).Message)
	}
	return out, err
}

// FindEmploymentTermAssignments answers the assignments of the person with a
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
	return wire(who, have[who.ID]), nil
}

// MultiReadEmploymentTermAssignments answers the assignments of the persons
// asked for, in that order. Unknown persons fail by themselves.
func (h *Handler) MultiReadEmploymentTermAssignments(ctx context.Context, req *timekeepingv1.MultiReadEmploymentTermAssignmentsRequest) (*timekeepingv1.PersonEmploymentTermsList, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := readCriterion(req.GetWhere().GetEmployees())
	if err != nil {
		return nil, err
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
	for _, key := range keys {
		if who, ok := found[key]; ok {
			out.Succeed(nil, wire(who, have[who.ID]))
		} else {
			out.Fail(&timekeepingv1.PersonEmploymentTerms{PersonIdentity: identity(key)}, key.Unknown())
		}
	}
	return answer(ctx, out)
}

// readCriterion answers the persons that a criterion names.
func readCriterion(c *timekeepingv1.EmployeeCriterion) ([]person.Key, error) {
	if len(c.GetValues()) == 0 {
		return nil, fault.Invalid(CodeValues, "where.employees.values is empty.")
	}
	keys := make([]person.Key, 0, len(c.GetValues()))
	for _, value := range c.GetValues() {
		switch strings.ToLower(c.GetKey()) {
		case "personid":
			id, err := strconv.ParseInt(value, 10, 64)
			if err != nil || id <= 0 {
				return nil, fault.Invalid(CodeValues, fmt.Sprintf("where.employees.values: %q is not the id of a person.", value))
			}
			keys = append(keys, person.Key{ID: id})
		case "personnumber":
			if value == "" {
				return nil, fault.Invalid(CodeValues, "where.employees.values has an empty value.")
			}
			keys = append(keys, person.Key{Number: value})
		default:
			return nil, fault.Invalid(CodeKey, fmt.Sprintf("where.employees.key %q is neither personid nor personnumber.", c.GetKey()))
		}
	}
	return keys, nil
}

// answer gives the outcome of an operation on several persons.
func answer(ctx context.Context, out *bulk.Outcome[*timekeepingv1.PersonEmploymentTerms, *timekeepingv1.PersonEmploymentTerms]) (*timekeepingv1.PersonEmploymentTermsList, error) {
	done, failure, err := rpc.SettledAs(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &timekeepingv1.PersonEmploymentTermsList{Persons: done, Failure: failure}, err
}

func identity(key person.Key) *timekeepingv1.EmployeeIdentity {
	if key.ID != 0 {
		return &timekeepingv1.EmployeeIdentity{PersonKey: proto.Int64(key.ID)}
	}
	return &timekeepingv1.EmployeeIdentity{PersonNumber: proto.String(key.Number)}
}

// wire is the answer for one person.
func wire(who person.Person, assignments []*timekeepingv1.EmploymentTermAssignment) *timekeepingv1.PersonEmploymentTerms {
	return &timekeepingv1.PersonEmploymentTerms{
		PersonIdentity: &timekeepingv1.EmployeeIdentity{PersonKey: &who.ID, PersonNumber: &who.Number},
		Assignments:    assignments,
	}
}
