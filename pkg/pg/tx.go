package pg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// txAttempts bounds how often a transaction is run before its conflict is
// given back to the caller.
const txAttempts = 5

// InTx runs fn in a transaction of the default isolation level (read
// committed) and commits when fn returns nil.
//
// When the database reports a serialization failure or a deadlock, the
// transaction is rolled back and run again, a bounded number of times. So fn
// must be safe to run more than once: it sets, and does not add to, what it
// captured, and does nothing that a rollback would not undo. It makes no calls
// to other services, publishes nothing and does not sleep. A TxHook in the context
// is taken along.
func InTx(ctx context.Context, pool *pgxpool.Pool, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return InTxWith(ctx, pool, pgx.TxOptions{}, fn)
}

// InTxWith is InTx with a chosen isolation level or access mode.
func InTxWith(ctx context.Context, pool *pgxpool.Pool, opts pgx.TxOptions, fn func(ctx context.Context, tx pgx.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := once(ctx, pool, opts, func(tx pgx.Tx) error { return fn(ctx, tx) })
		if err == nil || !conflict(err) {
			return err
		}
		if attempt == txAttempts {
			return fmt.Errorf("pg: transaction conflicted %d times: %w", attempt, err)
		}
		if sleep(ctx, backoff(attempt, 5*time.Millisecond, 200*time.Millisecond)) != nil {
			return err
		}
	}
}

// backoff returns how long to wait after an attempt (counted from 1): doubling
// from the first wait up to the longest, with the upper half of each wait left
// to chance so that competitors do not meet again.
func backoff(attempt int, first, longest time.Duration) time.Duration {
	wait := longest
	if attempt < 20 {
		wait = min(first<<(attempt-1), longest)
	}
	return wait/2 + rand.N(wait/2+1)
}

// sleep waits, or returns the context's error when that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
