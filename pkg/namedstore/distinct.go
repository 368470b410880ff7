package namedstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
)

// Distinct refuses a resource with a text in a property that another resource, which has not the
// id, has there; "" is no text. Those who store texts take turns by the lock.
func (s *Store[T]) Distinct(ctx context.Context, tx pgx.Tx, tenantID, id int64, lock advisory.Lock, property string, resource T, of func(T) string) error {
	text := of(resource)
	if text == "" {
		return nil
	}
	if err := lock.Wait(ctx, tx, tenantID); err != nil {
		return err
	}
	all, err := s.All(ctx, tx, tenantID)
	if err != nil {
		return err
	}
	for _, other := range all {
		if of(other) == text && other.GetId() != id {
			return fault.Invalid(s.kind.Taken, fmt.Sprintf("The %s %q has the %s %q already.", s.kind.What, other.GetName(), property, text))
		}
	}
	return nil
}
