package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// Apply brings employees, who are locked, up to date with all that was committed, and
// publishes what that changes. Propagations of these changes that are on their way find
// nothing left to do. The transaction reads what was committed while it waited for the lock.
func Apply(ctx context.Context, tx pgx.Tx, tenantID int64, employeeIDs []int64) error {
	employees := slices.Clone(employeeIDs)
	slices.Sort(employees)
	employees = slices.Compact(employees)
	var state State
	var changes Changes
	var series SeriesBlock
	if err := tx.QueryRow(ctx, scheduleevent.NextRevision).Scan(&state.Revision); err != nil {
		return fmt.Errorf("propagation: number a change: %w", err)
	}
	if err := state.Load(ctx, tx, tenantID, employees); err != nil {
		return err
	}
	take := func(count int32) (int64, error) { return series.Take(ctx, tx, count) }
	if err := changes.Compute(&state, employees, take); err != nil {
		return err
	}
	shifts, err := changes.UpdateHidden(ctx, tx, tenantID)
	if err != nil {
		return err
	}
	const ofNone = 0 // No propagation wrote the spans.
	batch := &pgx.Batch{}
	changes.QueueSpans(batch, tenantID, ofNone)
	events := append(changes.Events(ofNone, state.Revision), shifts.Events(state.Revision)...)
	if err := outbox.Queue(ctx, batch, tenantID, events...); err != nil {
		return fmt.Errorf("propagation: publish changes: %w", err)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: write: %w", err)
	}
	return nil
}
