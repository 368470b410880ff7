package newhire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
)

// HirePerson creates the person of a hire. A repeated request with the same key returns the person that
// the first one created. The person, its assignment to an employment term and the key are stored together.
func (n *Handler) HirePerson(ctx context.Context, req *commonsv1.HirePersonRequest) (*commonsv1.HirePersonResponse, error) {
	if id, err := n.findHired(ctx, req.GetKey()); err != nil || id > 0 {
		return &commonsv1.HirePersonResponse{PersonId: id}, err
	}
	id, err := n.hire(ctx, req)
	if err == nil {
		return &commonsv1.HirePersonResponse{PersonId: id}, nil
	}
	// A concurrent request with the same key may have stored the person.
	if id, findErr := n.findHired(ctx, req.GetKey()); findErr != nil || id > 0 {
		return &commonsv1.HirePersonResponse{PersonId: id}, findErr
	}
	return nil, err
}

func (n *Handler) hire(ctx context.Context, req *commonsv1.HirePersonRequest) (int64, error) {
	in := req.GetEmployee()
	places, err := n.workplaces(ctx, []*commonsv1.NewHire{in})
	if err != nil {
		return 0, err
	}
	kept, err := readHire(in, places[0])
	if err != nil {
		return 0, err
	}
	kept.Key = req.GetKey()
	person := convertPerson(in, in.GetHireDate())
	if req.GetEmploymentTerm() != "" {
		person.JobAssignment.EmploymentTermAssignments = []*commonsv1.TermAssignment{{Name: req.GetEmploymentTerm()}}
	}
	items, err := n.writer.WriteWith(ctx, []*commonsv1.Person{person}, writer.Create, writer.Related{Hires: []*store.NewHire{kept}})
	if err != nil {
		return 0, err
	}
	return items[0].ID, items[0].Err
}

// findHired returns the id of the person that a hire created, or 0.
func (n *Handler) findHired(ctx context.Context, key string) (id int64, err error) {
	err = n.pool.QueryRow(ctx, `SELECT person_id FROM hire_key WHERE tenant_id = $1 AND key = $2::uuid`, tenant.Of(ctx), key).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the person of a hire: %w", err)
	}
	return id, nil
}
