package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

// noPropagation is the id of the propagation of a change that has none.
const noPropagation = 0

// Apply updates the spans of locked employees to all committed changes, and publishes the
// differences. Pending propagations of these changes then find nothing left to do. The transaction
// must be able to read changes that were committed while it waited for the lock.
func Apply(ctx context.Context, tx pgx.Tx, employeeIDs []int64) error {
	_, err := apply(ctx, tx, noPropagation, sortedUnique(employeeIDs))
	return err
}

// appliedAtOnce is the largest number of employees of a change that is applied in its own
// transaction. It equals the limit of one request.
const appliedAtOnce = 100

// Finish applies a change of locked employees in the transaction of the change, and stores a
// finished propagation, so that callers read their change in the schedule at once. If there are too
// many employees, or one of them cannot be updated, Finish starts a propagation instead. An error
// of one employee does not stop the others there. It returns the id of the propagation.
func Finish(ctx context.Context, tx pgx.Tx, cause propagation.Cause, employeeIDs []int64) (int64, error) {
	request := propagation.Request{Cause: cause, EmployeeIDs: sortedUnique(employeeIDs)}
	if len(request.EmployeeIDs) > appliedAtOnce {
		return propagation.Start(ctx, tx, request)
	}
	id, err := finish(ctx, tx, request)
	if err == nil || ctx.Err() != nil {
		return id, err
	}
	return propagation.Start(ctx, tx, request)
}

// finish applies the change within a savepoint, so that an error leaves nothing behind.
func finish(ctx context.Context, tx pgx.Tx, request propagation.Request) (id int64, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		if id, err = propagation.Insert(ctx, tx, request); err != nil {
			return err
		}
		changes, err := apply(ctx, tx, id, request.EmployeeIDs)
		if err != nil {
			return err
		}
		if err := errors.Join(changes.Failures...); err != nil {
			return err
		}
		return propagation.Finish(ctx, tx, id, propagation.Progress{
			Employees: len(request.EmployeeIDs), Spans: len(changes.AddedEmployees()), Locked: len(changes.Locked), Detached: len(changes.Detached),
			Changed: len(changes.ChangedEmployees()),
		})
	})
	return id, err
}

// apply updates the spans of employees, and returns the changes.
func apply(ctx context.Context, tx pgx.Tx, propagationID int64, employees []int64) (*Changes, error) {
	var state State
	var changes Changes
	var series SeriesBlock
	if err := tx.QueryRow(ctx, scheduleevent.NextRevision).Scan(&state.Revision); err != nil {
		return nil, fmt.Errorf("propagation: number a change: %w", err)
	}
	if err := state.Load(ctx, tx, employees); err != nil {
		return nil, err
	}
	takeSeries := func(count int32) (int64, error) { return series.Take(ctx, tx, count) }
	if err := changes.Compute(&state, employees, takeSeries); err != nil {
		return nil, err
	}
	shifts, err := changes.UpdateHidden(ctx, tx)
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	changes.QueueSpans(batch, tenant.Of(ctx), propagationID)
	events := append(changes.Events(propagationID, state.Revision), shifts.Events(state.Revision)...)
	if err := outbox.Queue(ctx, tx, batch, events...); err != nil {
		return nil, fmt.Errorf("propagation: publish changes: %w", err)
	}
	if propagationID != noPropagation {
		if err := changes.FindWarnings(ctx, tx); err != nil {
			return nil, err
		}
		if err := changes.QueueFindings(batch, tenant.Of(ctx), propagationID, employees); err != nil {
			return nil, err
		}
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("propagation: write: %w", err)
	}
	return &changes, nil
}

// ascending returns the distinct ids in ascending order.
func sortedUnique(ids []int64) []int64 {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
