package namedstore

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// New is a resource that a caller wants stored.
type New[T Named] struct {
	// Input is the resource as the caller sent it.
	Input T
	// Stored is what is to be stored.
	Stored T
	// Err says why it is not stored, or is nil.
	Err error
}

// Create stores new resources and returns the outcome of each. Without partial
// either all are stored or none, and the first error is returned.
func (s *Store[T]) Create(ctx context.Context, pool *pg.Pool, tenantID int64, list []New[T], partial bool) (*bulk.Outcome[T, T], error) {
	if err := firstError(list); err != nil && !partial {
		return nil, err
	}
	var outcome *bulk.Outcome[T, T]
	err := pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		good := make([]T, 0, len(list))
		for _, n := range list {
			if n.Err == nil {
				good = append(good, n.Stored)
			}
		}
		stored, errs, err := s.Insert(ctx, tx, tenantID, good)
		if err != nil {
			return err
		}
		outcome = &bulk.Outcome[T, T]{}
		for _, n := range list {
			err := n.Err
			var success T
			if err == nil {
				success, err = stored[0], errs[0]
				stored, errs = stored[1:], errs[1:]
			}
			if err == nil {
				outcome.Succeed(n.Input, success)
			} else if partial {
				outcome.Fail(n.Input, fault.FromError(err))
			} else {
				return err
			}
		}
		return nil
	})
	return outcome, err
}

// CreateOne stores one new resource.
func (s *Store[T]) CreateOne(ctx context.Context, pool *pg.Pool, tenantID int64, resource T) (T, error) {
	outcome, err := s.Create(ctx, pool, tenantID, []New[T]{{Input: resource, Stored: resource}}, false)
	if err != nil {
		var none T
		return none, err
	}
	return outcome.Successes()[0], nil
}

func firstError[T Named](list []New[T]) error {
	for _, n := range list {
		if n.Err != nil {
			return n.Err
		}
	}
	return nil
}
