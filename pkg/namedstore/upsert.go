package namedstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Upsert replaces the resources that are known, by id or else by name, and creates the
// others. Without partial either all are stored or none, and the first error is
// returned.
func (r *Resource[T]) Upsert(ctx context.Context, list []T, partial bool) (*bulk.Outcome[T, T], error) {
	tenantID := tenant.Of(ctx)
	var outcome *bulk.Outcome[T, T]
	err := pg.InTx(ctx, r.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		outcome, err = bulk.Run(list, partial, func(_ int, given T) (stored T, err error) {
			// What fails is undone alone, where the others are to stay.
			err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
				stored, err = r.upsertOne(ctx, tx, tenantID, given)
				return err
			})
			return stored, err
		})
		return err
	})
	return outcome, err
}

func (r *Resource[T]) upsertOne(ctx context.Context, tx pgx.Tx, tenantID int64, given T) (T, error) {
	if id := given.GetId(); id != 0 {
		return r.updateIn(ctx, tx, tenantID, id, given)
	}
	// Whoever creates one of the same name at the same time is waited for, and then
	// replaced.
	for tried := false; ; tried = true {
		known, err := r.Store.Find(ctx, tx, tenantID, nil, []string{given.GetName()})
		if err == nil && len(known) > 0 {
			return r.updateIn(ctx, tx, tenantID, known[0].GetId(), given)
		}
		var stored T
		var taken error
		if err == nil {
			stored, taken, err = r.insertIn(ctx, tx, tenantID, given)
		}
		if err != nil || taken == nil {
			return stored, err
		}
		if tried {
			return stored, taken
		}
	}
}
