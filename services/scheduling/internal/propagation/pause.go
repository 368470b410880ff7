package propagation

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// LockWindow serializes the transactions that change which batches of a tenant wait or are
// requested. Acquire it after the locks of employees, and before rows of propagations that are
// divided into batches.
const LockWindow advisory.Lock = "propagation window"

// CodePause (409): the propagation is finished, or it is paused already, or it is to be resumed and
// is not paused. Read its state.
const CodePause = "WRL-30544"

const (
	// The planner locks the row before the window. So this runs without the window.
	pauseAccepted = `
UPDATE propagation SET state = 'PAUSED', paused_at = clock_timestamp(), paused_by = $3, pause_reason = $4
WHERE tenant_id = $1 AND id = $2 AND state = 'ACCEPTED' AND applied_by IS NULL
RETURNING id`

	// Propagations with the same batches are paused and resumed together.
	pauseStarted = `
UPDATE propagation p SET state = 'PAUSED', paused_at = clock_timestamp(), paused_by = $3, pause_reason = $4
FROM propagation r
WHERE p.tenant_id = $1 AND p.state IN ('RUNNING', 'FAILED') AND r.tenant_id = $1 AND r.id = $2 AND r.state IN ('RUNNING', 'FAILED')
    AND coalesce(p.applied_by, p.id) = coalesce(r.applied_by, r.id)
RETURNING coalesce(p.applied_by, p.id)`

	pauseBatches = `
UPDATE propagation_batch SET state = 'PAUSED'
WHERE tenant_id = $1 AND propagation_id = $2 AND state IN ('WAITING', 'REQUESTED', 'RETRYING')`

	resumePaused = `
UPDATE propagation p SET state = CASE WHEN p.applied_by IS NULL THEN 'ACCEPTED' ELSE 'RUNNING' END, error = '',
    moved_at = clock_timestamp(), reminders = 0, paused_at = NULL, paused_by = '', pause_reason = ''
FROM propagation r
WHERE p.tenant_id = $1 AND p.state = 'PAUSED' AND r.tenant_id = $1 AND r.id = $2 AND r.state = 'PAUSED'
    AND coalesce(p.applied_by, p.id) = coalesce(r.applied_by, r.id)
RETURNING coalesce(p.applied_by, p.id)`

	// They get new turns: with their old ones, all of them would pass the batches of other changes.
	resumeBatches = `
UPDATE propagation_batch b SET state = 'WAITING', turn = u.turn
FROM (
    SELECT batch, row_number() OVER (ORDER BY turn, batch)
        + (SELECT coalesce(max(turn), 0) FROM propagation_batch WHERE tenant_id = $1 AND state = 'REQUESTED') AS turn
    FROM propagation_batch WHERE tenant_id = $1 AND propagation_id = $2 AND state IN ('PAUSED', 'FAILED')
) AS u
WHERE b.tenant_id = $1 AND b.propagation_id = $2 AND b.batch = u.batch`
)

// PausePropagation stops a propagation, and returns it. Batches that a worker has begun are
// completed.
func (h *Handler) PausePropagation(ctx context.Context, req *schedulingv1.PausePropagationRequest) (*schedulingv1.Propagation, error) {
	if err := h.requireUnfinished(ctx, req.GetId(), StatePaused, "The propagation is already paused."); err != nil {
		return nil, err
	}
	args := []any{tenant.Of(ctx), req.GetId(), callerName(ctx), req.GetReason()}
	paused := false
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		ids, err := pg.Collect(ctx, tx, pgx.RowTo[int64], pauseAccepted, args...)
		paused = len(ids) > 0
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("propagation: pause: %w", err)
	}
	if !paused {
		if err := h.changeGroup(ctx, req.GetId(), pauseBatches, pauseStarted, args...); err != nil {
			return nil, err
		}
	}
	return h.read(ctx, req.GetId())
}

// ResumePropagation continues a paused propagation, and returns it.
func (h *Handler) ResumePropagation(ctx context.Context, req *schedulingv1.ResumePropagationRequest) (*schedulingv1.Propagation, error) {
	if err := h.requireUnfinished(ctx, req.GetId(), "", ""); err != nil {
		return nil, err
	}
	if err := h.changeGroup(ctx, req.GetId(), resumeBatches, resumePaused, tenant.Of(ctx), req.GetId()); err != nil {
		return nil, err
	}
	return h.read(ctx, req.GetId())
}

// requireUnfinished returns an error for a propagation that does not exist, is finished, or is in
// the refused state.
func (h *Handler) requireUnfinished(ctx context.Context, id int64, refused, message string) error {
	found, err := h.read(ctx, id)
	switch {
	case err != nil:
		return err
	case found.State == StateFinished:
		return fault.Conflict(CodePause, "The propagation is finished.")
	case found.State == refused:
		return fault.Conflict(CodePause, message)
	default:
		return nil
	}
}

// changeGroup changes the state of a propagation, of those with the same batches, and of the
// batches. The planner then requests the tenant's next batches.
func (h *Handler) changeGroup(ctx context.Context, id int64, changeBatches, change string, args ...any) error {
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := LockWindow.Wait(ctx, tx); err != nil {
			return err
		}
		appliedBy, err := pg.Collect(ctx, tx, pgx.RowTo[int64], change, args...)
		if err != nil {
			return err
		}
		if len(appliedBy) == 0 {
			return fault.Conflict(CodePause, "The state of the propagation does not allow this. Read it again.")
		}
		if _, err := tx.Exec(ctx, changeBatches, tenant.Of(ctx), appliedBy[0]); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, &schedulingv1.PropagationRequested{PropagationId: appliedBy[0]})
	})
	if err != nil {
		return fmt.Errorf("propagation: change the state of %d: %w", id, err)
	}
	return nil
}

// callerName returns the user, or the client of a call without one.
func callerName(ctx context.Context) string {
	p, ok := authn.From(ctx)
	if !ok {
		return ""
	}
	return cmp.Or(p.Subject, p.Client, p.Service)
}
