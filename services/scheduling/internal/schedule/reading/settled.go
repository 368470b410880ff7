package reading

import (
	"context"
	"fmt"
	"time"
)

// SettledTime returns the latest instant with a complete history. Changes that are not committed
// yet get a later instant. Reads as of this instant or an earlier one always return the same.
func (r *Reader) SettledTime(ctx context.Context) (at time.Time, err error) {
	if err := r.pool.QueryRow(ctx, "SELECT settled_time()").Scan(&at); err != nil {
		return at, fmt.Errorf("schedule: settle: %w", err)
	}
	return at, nil
}

// SettledUntil returns the latest settled instant that includes all changes committed before the
// database clock showed the given time; zero means all changes. It also returns the current
// database clock. The instant can be later than the given time if the clock once ran ahead, because
// changes keep their order and continue from the last instant.
func (r *Reader) SettledUntil(ctx context.Context, given time.Time) (at, now time.Time, err error) {
	var until *time.Time
	if !given.IsZero() {
		until = &given
	}
	if err := r.pool.QueryRow(ctx, "SELECT instant, shown FROM settled_until($1)", until).Scan(&at, &now); err != nil {
		return at, now, fmt.Errorf("schedule: settle: %w", err)
	}
	return at, now, nil
}

// Instant is a past time of the database clock as an instant of the history.
type Instant struct {
	// At is the instant that includes all changes committed before the clock showed the time, and no
	// later ones. It is later than the time if the clock was ahead once.
	At time.Time
	// Settled reports that no such change can still be committed. It is false for times of the future.
	Settled bool
	// Now is the current database clock.
	Now time.Time
}

// Settle returns the instant of a time. Once it is settled, Settle returns the same instant every
// time, unless the clock is set back before the time.
func (r *Reader) Settle(ctx context.Context, given time.Time) (found Instant, err error) {
	if err := r.pool.QueryRow(ctx, "SELECT instant, shown, settled FROM settled_at($1)", given).Scan(&found.At, &found.Now, &found.Settled); err != nil {
		return found, fmt.Errorf("schedule: settle: %w", err)
	}
	return found, nil
}
