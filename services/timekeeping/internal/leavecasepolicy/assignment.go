package leavecasepolicy

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Assignments serves LeaveProfileAssignmentService.
type Assignments struct {
	timekeepingv1.UnsafeLeaveProfileAssignmentServiceServer
	pool    *pg.Pool
	persons *person.Directory
}

// NewAssignments returns the leave profiles of employees in the database of the pool.
func NewAssignments(pool *pg.Pool, persons *person.Directory) *Assignments {
	return &Assignments{pool: pool, persons: persons}
}

// who finds a person. The caller supplies the error for unknown persons, which determines the
// status.
func (h *Assignments) who(ctx context.Context, key person.Key, unknown func(code, message string) *fault.Error) (person.Person, error) {
	if key == (person.Key{}) {
		return person.Person{}, fault.Invalid(leavepolicy.CodeMissing, "person_number is missing.")
	}
	found, err := h.persons.Find(ctx, []person.Key{key})
	if err != nil {
		return person.Person{}, err
	}
	who, ok := found[key]
	if !ok {
		return person.Person{}, unknown(person.CodeUnknown, key.Unknown().Message)
	}
	if who.Refused != nil {
		return person.Person{}, who.Refused
	}
	return who, nil
}

func (h *Assignments) read(ctx context.Context, key person.Key, unknown func(code, message string) *fault.Error) (*timekeepingv1.LeaveProfileAssignment, error) {
	who, err := h.who(ctx, key, unknown)
	if err != nil {
		return nil, err
	}
	profile, err := leavepolicy.AssignedTo(ctx, h.pool, who.ID)
	if err != nil {
		return nil, err
	}
	return newAssignment(who, profile), nil
}

func newAssignment(who person.Person, profile *timekeepingv1.LeaveProfile) *timekeepingv1.LeaveProfileAssignment {
	return &timekeepingv1.LeaveProfileAssignment{
		PersonIdentity:    &commonsv1.PersonIdentity{PersonKey: &who.ID, PersonNumber: &who.Number},
		AssignmentProfile: profile.GetName(),
	}
}

// FindLeaveProfileAssignment returns the leave profile of the person with a person number.
func (h *Assignments) FindLeaveProfileAssignment(ctx context.Context, req *timekeepingv1.FindLeaveProfileAssignmentRequest) (*timekeepingv1.LeaveProfileAssignment, error) {
	return h.read(ctx, person.Key{Number: req.GetPersonNumber()}, fault.Invalid)
}

// GetLeaveProfileAssignment returns the leave profile of a person, or 404 if the person does not
// exist.
func (h *Assignments) GetLeaveProfileAssignment(ctx context.Context, req *timekeepingv1.GetLeaveProfileAssignmentRequest) (*timekeepingv1.LeaveProfileAssignment, error) {
	return h.read(ctx, person.Key{ID: req.GetPersonId()}, fault.NotFound)
}

// identifyPerson returns the key of the person that an identity names, in one of the ways that commons
// supports.
func (h *Assignments) identifyPerson(ctx context.Context, id *commonsv1.PersonIdentity) (person.Key, error) {
	if id == nil {
		id = &commonsv1.PersonIdentity{}
	}
	found, err := h.persons.Identify(ctx, &commonsv1.IdentifyPersonsRequest{Identities: []*commonsv1.PersonIdentity{id}})
	if err != nil {
		return person.Key{}, err
	}
	if len(found) != 1 {
		return person.Key{}, fmt.Errorf("commons identified %d persons of 1", len(found))
	}
	if failed := found[0].GetError(); failed != nil {
		return person.Key{}, fault.Invalid(failed.GetErrorCode(), failed.GetMessage())
	}
	return person.Key{ID: found[0].GetPersonId()}, nil
}

// UpdateLeaveProfileAssignment gives a person a leave profile.
func (h *Assignments) UpdateLeaveProfileAssignment(ctx context.Context, req *timekeepingv1.LeaveProfileAssignment) (*timekeepingv1.LeaveProfileAssignment, error) {
	if req.GetAssignmentProfile() == "" {
		return nil, fault.Invalid(leavepolicy.CodeMissing, "assignmentProfile is missing.")
	}
	key, err := h.identifyPerson(ctx, req.GetPersonIdentity())
	if err != nil {
		return nil, err
	}
	who, err := h.who(ctx, key, fault.Invalid)
	if err != nil {
		return nil, err
	}
	var profile *timekeepingv1.LeaveProfile
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if profile, err = leavepolicy.ProfileNamed(ctx, tx, req.GetAssignmentProfile()); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO leave_profile_assignment (tenant_id, employee_id, leave_profile_id) VALUES ($1, $2, $3)
			ON CONFLICT (tenant_id, employee_id) DO UPDATE SET leave_profile_id = excluded.leave_profile_id`, tenant.Of(ctx), who.ID, profile.GetId())
		if err != nil {
			return fmt.Errorf("store the leave profile of an employee: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newAssignment(who, profile), nil
}

// DeleteLeaveProfileAssignment removes the leave profile from a person.
func (h *Assignments) DeleteLeaveProfileAssignment(ctx context.Context, req *timekeepingv1.DeleteLeaveProfileAssignmentRequest) (*emptypb.Empty, error) {
	who, err := h.who(ctx, person.Key{Number: req.GetPersonNumber()}, fault.Invalid)
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM leave_profile_assignment WHERE tenant_id = $1 AND employee_id = $2`, tenant.Of(ctx), who.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}
