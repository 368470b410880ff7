package patternassignment

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Options are options of a change.
type Options struct {
	// Partial makes the valid changes if others fail. Otherwise all are made, or none.
	Partial bool
	// Preview is the preview that the caller applies; nil for a change without a preview.
	Preview Preview
}

// Preview makes sure that a change does what its caller has seen before.
type Preview interface {
	// Check returns an error if the change must not be made any more. It is called once the
	// transaction holds the locks of the owners, and before it writes.
	Check(ctx context.Context, tx pgx.Tx) error
	// Record records that the transaction makes the change, and which propagation applies it; 0 for
	// a change without effect.
	Record(ctx context.Context, tx pgx.Tx, propagationID int64) error
}

func (o Options) check(ctx context.Context, tx pgx.Tx) error {
	if o.Preview == nil {
		return nil
	}
	return o.Preview.Check(ctx, tx)
}

func (o Options) record(ctx context.Context, tx pgx.Tx, propagationID int64) error {
	if o.Preview == nil {
		return nil
	}
	return o.Preview.Record(ctx, tx, propagationID)
}
