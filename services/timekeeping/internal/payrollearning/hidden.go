package payrollearning

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// derivedID returns the id to store an earning under, if an earning that the caller may not see
// already has its refId.
func derivedID(ctx context.Context, ref uuid.UUID) uuid.UUID {
	user := ""
	if p, ok := authn.From(ctx); ok {
		user = p.Subject
	}
	return uuid.NewSHA1(ref, []byte(user))
}

// insertAll inserts earnings by refId, as insert does. Earnings that the caller may not see do not
// block a refId.
func insertAll(ctx context.Context, tx pgx.Tx, list []earning, visible rowvisibility.Set) (map[uuid.UUID]bool, error) {
	stored, err := insert(ctx, tx, list)
	if err != nil || len(stored) == len(list) {
		return stored, err
	}
	var refs []uuid.UUID
	for _, e := range list {
		if !stored[e.ID] {
			refs = append(refs, e.ID)
		}
	}
	hidden, err := hiddenRefs(ctx, tx, refs, visible)
	if err != nil {
		return nil, err
	}
	var again []earning
	byDerived := map[uuid.UUID]uuid.UUID{}
	for _, e := range list {
		if hidden[e.ID] {
			ref := e.ID
			e.ID = derivedID(ctx, ref)
			byDerived[e.ID] = ref
			again = append(again, e)
		}
	}
	if len(again) == 0 {
		return stored, nil
	}
	beside, err := insert(ctx, tx, again)
	for id := range beside {
		stored[byDerived[id]] = true
	}
	return stored, err
}

// hiddenRefs returns the refIds that belong to earnings which the caller may not see.
func hiddenRefs(ctx context.Context, tx pgx.Tx, refs []uuid.UUID, visible rowvisibility.Set) (map[uuid.UUID]bool, error) {
	hidden := map[uuid.UUID]bool{}
	var ref uuid.UUID
	var employee int64
	err := pg.ForEach(ctx, tx, []any{&ref, &employee}, func() error {
		hidden[ref] = !visible.Has(employee)
		return nil
	}, `SELECT ref_id, employee_id FROM payroll_earning WHERE tenant_id = $1 AND ref_id = ANY($2)`, tenant.Of(ctx), refs)
	if err != nil {
		return nil, fmt.Errorf("find earnings: %w", err)
	}
	return hidden, nil
}
