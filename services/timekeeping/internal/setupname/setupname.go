// Package setupname keeps the names of pay rules, work rules, accrual profiles and pay codes, which
// data of other services refers to by name. A renamed object keeps its former names, so that pay does not
// change; commons writes the new name into the data of persons, and schedules show the new name. A name
// that data still uses cannot be given to another object, and an object that data uses cannot be deleted.
package setupname

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/domain/personreference"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Kind is a kind of objects that other services name, by the table of its objects.
type Kind string

// The kinds of objects.
const (
	PayRule        Kind = "pay_rule"
	WorkRule       Kind = "work_rule"
	AccrualProfile Kind = "accrual_profile"
	PayCode        Kind = "pay_code"
)

// terms are the kinds in calls of scheduling.
var terms = map[Kind]schedulingv1.EmploymentTermProperty{
	PayRule:  schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_RULE,
	WorkRule: schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_WORK_RULE,
	PayCode:  schedulingv1.EmploymentTermProperty_EMPLOYMENT_TERM_PROPERTY_PAY_CODE,
}

// Terms finds employment terms and schedules of scheduling that refer to objects of this service.
type Terms interface {
	FindEmploymentTermUse(ctx context.Context, req *schedulingv1.FindEmploymentTermUseRequest, opts ...grpc.CallOption) (*schedulingv1.FindEmploymentTermUseResponse, error)
}

// Names keeps the former names of objects, and finds their users.
type Names struct {
	pool    *pg.Pool
	terms   Terms
	persons *personreference.Follower
}

// New returns Names in the database of the pool.
func New(pool *pg.Pool, terms Terms, persons personreference.Client, log *slog.Logger) *Names {
	kinds := slices.SortedFunc(maps.Values(references), func(a, b *personreference.Kind) int { return cmp.Compare(a.Reference, b.Reference) })
	return &Names{pool: pool, terms: terms, persons: personreference.New(pool, persons, log, kinds...)}
}

// Run lets persons follow the names that requests could not complete, until ctx ends.
func (n *Names) Run(ctx context.Context) error { return n.persons.Run(ctx) }

// Resource serves the operations of a kind whose names other services use.
type Resource[T setup.NumberedMessage] struct {
	setup.Resource[T]
	names *Names
	kind  Kind
}

// NewResource adds the rules of names to a resource. The hooks of the resource run first. It uses the pool
// of the names.
func NewResource[T setup.NumberedMessage](names *Names, r setup.Resource[T]) *Resource[T] {
	out := &Resource[T]{Resource: r, names: names, kind: Kind(r.Kind.Table)}
	out.Pool = names.pool
	out.Check = func(ctx context.Context, tx pgx.Tx, id int64, resource T) error {
		if r.Check != nil {
			if err := r.Check(ctx, tx, id, resource); err != nil {
				return err
			}
		}
		return out.keepFormer(ctx, tx, id, resource.GetName())
	}
	out.AfterStore = func(ctx context.Context, tx pgx.Tx, sent, stored T) error {
		if r.AfterStore != nil {
			if err := r.AfterStore(ctx, tx, sent, stored); err != nil {
				return err
			}
		}
		if err := out.checkFree(ctx, tx, stored); err != nil {
			return err
		}
		return out.publishStored(ctx, tx, stored.GetId())
	}
	out.BeforeDelete = func(ctx context.Context, resource T) error {
		if r.BeforeDelete != nil {
			if err := r.BeforeDelete(ctx, resource); err != nil {
				return err
			}
		}
		return out.checkNoUser(ctx, resource)
	}
	out.AfterDelete = func(ctx context.Context, tx pgx.Tx, deleted T, version int64) error {
		if r.AfterDelete != nil {
			if err := r.AfterDelete(ctx, tx, deleted, version); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, deleteFormer, tenant.Of(ctx), out.kind, deleted.GetId()); err != nil {
			return fmt.Errorf("delete the former names of %s %d: %w", r.Kind.What, deleted.GetId(), err)
		}
		return out.publishDeleted(ctx, tx, deleted.GetId(), version)
	}
	return out
}

// Create stores a new object. Its name must not be a former name that data still uses.
func (r *Resource[T]) Create(ctx context.Context, sent T) (out T, err error) {
	if err := r.freeName(ctx, 0, sent.GetName()); err != nil {
		return out, err
	}
	return r.Resource.Create(ctx, sent)
}

// Update replaces an object, and lets the data of persons follow a new name. The response does not fail
// if commons is away: the data follows later, and until then the former name is understood.
func (r *Resource[T]) Update(ctx context.Context, id int64, sent T) (out T, err error) {
	if err := r.freeName(ctx, id, sent.GetName()); err != nil {
		return out, err
	}
	if out, err = r.Resource.Update(ctx, id, sent); err != nil {
		return out, err
	}
	if reference, ok := references[r.kind]; ok {
		r.names.persons.Follow(ctx, reference, id)
	}
	return out, nil
}

const (
	findFormer   = `SELECT resource_id FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND name_key = lower($3) AND resource_id <> $4`
	forgetFormer = `DELETE FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND name_key = lower($3) AND resource_id = $4`
	deleteFormer = `DELETE FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND resource_id = $3`
	listFormer   = `SELECT name FROM setup_former_name WHERE tenant_id = $1 AND kind = $2 AND resource_id = $3 ORDER BY name_key`

	keepFormer = `
INSERT INTO setup_former_name (tenant_id, kind, name, resource_id, followed) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, kind, name_key) DO UPDATE SET name = excluded.name, resource_id = excluded.resource_id, followed = excluded.followed, changed_at = excluded.changed_at`

	released pg.Unaudited = "nothing uses the former name, which the request gives to another object"
)

// freeName makes the former name of another object free, or returns an error if data still uses it.
func (r *Resource[T]) freeName(ctx context.Context, id int64, name string) error {
	if r.Kind.CheckName(r.Kind.Path, name) != nil {
		return nil // The validation returns the error.
	}
	other, err := r.formerOwner(ctx, r.Pool, id, name)
	if err != nil || other == 0 {
		return err
	}
	resource, err := r.Kind.Get(ctx, r.Pool, other)
	if err != nil {
		return err
	}
	if r.kind == PayCode { // Schedules refer to pay codes by their names, too.
		return fault.Invalid(r.Kind.Taken, fmt.Sprintf(
			"%q is a former name of the pay code %q, and schedules may refer to it by this name. Choose another name.", name, resource.GetName())).WithMembers("name")
	}
	user, err := r.names.findUser(ctx, r.kind, 0, []string{name})
	if err != nil {
		return err
	}
	if user != "" {
		return r.formerNameError(user, resource)
	}
	if _, err := released.Exec(ctx, r.Pool, forgetFormer, tenant.Of(ctx), r.kind, name, other); err != nil {
		return fmt.Errorf("free a former name of %s %d: %w", r.Kind.What, other, err)
	}
	return nil
}

// formerOwner returns the id of another object than the given one with a former name, or 0.
func (r *Resource[T]) formerOwner(ctx context.Context, db pg.Querier, id int64, name string) (other int64, err error) {
	err = db.QueryRow(ctx, findFormer, tenant.Of(ctx), r.kind, name, id).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("find the owner of a former name: %w", err)
	}
	return other, nil
}

func (r *Resource[T]) formerNameError(user string, owner T) error {
	return fault.Invalid(r.Kind.Taken, fmt.Sprintf(
		"%s refers to the %s %q by this former name. Change that first, or choose another name.", user, r.Kind.What, owner.GetName())).WithMembers("name")
}

// keepFormer keeps the stored name of an object that gets another name.
func (r *Resource[T]) keepFormer(ctx context.Context, tx pgx.Tx, id int64, name string) error {
	if id == 0 {
		return nil
	}
	stored, err := r.Kind.GetForUpdate(ctx, tx, id)
	if err != nil || stored.GetName() == name {
		return err
	}
	_, err = tx.Exec(ctx, forgetFormer, tenant.Of(ctx), r.kind, name, id)
	if err == nil {
		_, inPersons := references[r.kind]
		_, err = tx.Exec(ctx, keepFormer, tenant.Of(ctx), r.kind, stored.GetName(), id, !inPersons)
	}
	if err != nil {
		return fmt.Errorf("keep the former name of %s %d: %w", r.Kind.What, id, err)
	}
	return nil
}

// checkFree returns an error if the name of a stored object became a former name of another one after
// freeName. The unique index of the names makes both transactions take turns.
func (r *Resource[T]) checkFree(ctx context.Context, tx pgx.Tx, stored T) error {
	other, err := r.formerOwner(ctx, tx, stored.GetId(), stored.GetName())
	if err != nil || other == 0 {
		return err
	}
	return fault.Invalid(r.Kind.Taken, fmt.Sprintf("%q has just become a former name of another %s. Choose another name.", stored.GetName(), r.Kind.What)).WithMembers("name")
}

// checkNoUser returns an error if data of other services refers to an object, by its id or by a name that
// it has or had.
func (r *Resource[T]) checkNoUser(ctx context.Context, resource T) error {
	former, err := pg.Collect(ctx, r.Pool, pgx.RowTo[string], listFormer, tenant.Of(ctx), r.kind, resource.GetId())
	if err != nil {
		return fmt.Errorf("read the former names of %s %d: %w", r.Kind.What, resource.GetId(), err)
	}
	user, err := r.names.findUser(ctx, r.kind, resource.GetId(), append(former, resource.GetName()))
	if err != nil || user == "" {
		return err
	}
	return r.Kind.InUseError(user, resource)
}

// findUser returns data of other services that refers to an object by its id or by one of its names, as
// the subject of a message; without any it returns "". Without an id, names count only.
func (n *Names) findUser(ctx context.Context, kind Kind, id int64, names []string) (string, error) {
	if property, ok := terms[kind]; ok {
		for _, name := range names {
			found, err := n.terms.FindEmploymentTermUse(ctx, &schedulingv1.FindEmploymentTermUseRequest{Property: property, Id: id, Name: name})
			if err != nil {
				return "", fmt.Errorf("find employment terms of %s %d: %w", kind, id, err)
			}
			if found.GetEmploymentTerm() != "" {
				return fmt.Sprintf("The employment term %q", found.GetEmploymentTerm()), nil
			}
			if found.GetScheduleUse() != "" {
				return found.GetScheduleUse(), nil
			}
		}
	}
	reference, ok := references[kind]
	if !ok {
		return "", nil
	}
	return n.persons.FindUser(ctx, reference, names)
}

// Former returns the ids of the objects of a kind by their former names, which are in lower case.
// Present names take precedence.
func Former(ctx context.Context, tx pgx.Tx, kind Kind) (map[string]int64, error) {
	out := map[string]int64{}
	var name string
	var id int64
	if err := pg.ForEach(ctx, tx, []any{&name, &id}, func() error {
		out[name] = id
		return nil
	}, `SELECT name_key, resource_id FROM setup_former_name WHERE tenant_id = $1 AND kind = $2`, tenant.Of(ctx), kind); err != nil {
		return nil, fmt.Errorf("read former names of %s: %w", kind, err)
	}
	return out, nil
}
