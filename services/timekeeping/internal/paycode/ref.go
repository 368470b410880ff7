package paycode

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Refs are the references to pay codes that others store. They name a pay code by its
// id, and by the name that it has now.
type Refs struct{ store *Store }

// NewRefs returns Refs.
func NewRefs() Refs { return Refs{NewStore()} }

// Resolve returns the pay code that a ref at a path of the request names, gives the ref
// its id and name, and keeps the pay code from being deleted until tx ends. An unknown one
// is an error of the request.
func (r Refs) Resolve(ctx context.Context, tx pgx.Tx, tenantID int64, path string, ref *commonv1.Ref) (*timekeepingv1.PayCode, error) {
	found, err := r.store.Read(ctx, tx, tenantID, path, []*commonv1.Ref{ref})
	if err != nil {
		return nil, err
	}
	id := found[0].GetId()
	err = tx.QueryRow(ctx, `SELECT id FROM pay_code WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE`, tenantID, id).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("The pay code (%s) does not exist any more.", path))
	}
	if err != nil {
		return nil, err
	}
	ref.Id, ref.Qualifier = &id, proto.String(found[0].GetName())
	ref.Name, ref.LocalizedQualifier = nil, nil
	return found[0], nil
}

// SetNames gives refs that were resolved before the names that their pay codes have now.
// The tenant is that of the context.
func (r Refs) SetNames(ctx context.Context, db pg.Querier, refs ...*commonv1.Ref) error {
	return r.store.SetNames(ctx, db, refs...)
}

// UserIn returns how a message calls the first thing of a store that refers to a pay code,
// or "" when none does. What is what messages call such things.
func UserIn[T namedstore.Named](
	ctx context.Context, tx pgx.Tx, tenantID int64, store *namedstore.Store[T], what string, refs func(T) []*commonv1.Ref, p *timekeepingv1.PayCode,
) (string, error) {
	all, err := store.All(ctx, tx, tenantID)
	if err != nil {
		return "", err
	}
	for _, thing := range all {
		for _, ref := range refs(thing) {
			if ref.GetId() == p.GetId() {
				return fmt.Sprintf("The %s %q", what, thing.GetName()), nil
			}
		}
	}
	return "", nil
}
