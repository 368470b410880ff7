package propagation

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Cause is the kind of change that a propagation applies.
type Cause string

// The causes of propagations.
const (
	// CausePattern is a change of pattern assignments.
	CausePattern Cause = "PATTERN"
	// CauseInheritance is a term that starts or stops passing on its patterns.
	CauseInheritance Cause = "INHERITANCE"
	// CauseMembership is a change of the employees on a term, or of their employment.
	CauseMembership Cause = "MEMBERSHIP"
	// CauseUnlocking is the unlocking of days.
	CauseUnlocking Cause = "UNLOCKING"
	// CauseUndo is the undo of another propagation.
	CauseUndo Cause = "UNDO"
)

// The states of a propagation.
const (
	// StateAccepted: stored; the employees are not determined yet.
	StateAccepted = "ACCEPTED"
	// StateRunning: the employees are determined; some are not up to date.
	StateRunning = "RUNNING"
	// StatePaused: a user stopped it; it waits until it is resumed.
	StatePaused = "PAUSED"
	// StateFinished: all employees are up to date.
	StateFinished = "FINISHED"
	// StateFailed: abandoned after repeated errors; [Replay] restarts it.
	StateFailed = "FAILED"
)

// Request is a change and the employees that it may affect: the listed employees, and all who are
// or were on one of the terms. Either list may be empty.
type Request struct {
	Cause                Cause
	TermIDs, EmployeeIDs []int64
	// AssignmentIDs are the assignments of patterns that the change creates, changes or removes.
	AssignmentIDs []int64
	// AllowsInheritance is the value that the change gave to its term, or nil.
	AllowsInheritance *bool
	// Undoes is the propagation that the change undoes, and Reason the reason. It is nil for other
	// causes than [CauseUndo].
	Undoes *Undoable
	Reason string
}

const insertPropagation = `
INSERT INTO propagation (tenant_id, cause, employment_term_ids, employee_ids, request_ids, assignment_ids, planner_id, planner_name,
    allows_inheritance, undoes_propagation_id, restores_from, reason)
VALUES ($1, $2, coalesce($3::bigint[], '{}'), coalesce($4::bigint[], '{}'), coalesce($5::text[], '{}'), coalesce($6::bigint[], '{}'),
    nullif($7::bigint, 0), nullif($8::text, ''), $9, $10, $11, $12)
RETURNING id`

// Insert stores an accepted propagation in the transaction of its change, and returns its id. It
// uses the tenant of ctx, and records the user and the ids of the requests that caused the change.
func Insert(ctx context.Context, tx pgx.Tx, req Request) (id int64, err error) {
	planner := &authn.Principal{}
	if caller, ok := authn.From(ctx); ok {
		planner = caller
	}
	var undoes *int64
	var restoresFrom *time.Time
	if req.Undoes != nil {
		undoes, restoresFrom = &req.Undoes.ID, &req.Undoes.AcceptedAt
	}
	err = tx.QueryRow(ctx, insertPropagation, tenant.Of(ctx), string(req.Cause), req.TermIDs, req.EmployeeIDs, bus.RequestIDs(ctx),
		req.AssignmentIDs, planner.PersonID, planner.Subject, req.AllowsInheritance, undoes, restoresFrom, req.Reason).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("propagation: insert: %w", err)
	}
	return id, nil
}

// Start inserts a propagation, and publishes an event that asks the propagators to apply it.
func Start(ctx context.Context, tx pgx.Tx, req Request) (int64, error) {
	id, err := Insert(ctx, tx, req)
	if err != nil {
		return 0, err
	}
	if err := outbox.Append(ctx, tx, &schedulingv1.PropagationRequested{PropagationId: id}); err != nil {
		return 0, fmt.Errorf("propagation: request: %w", err)
	}
	return id, nil
}

// Progress counts the results for the employees of a propagation.
type Progress struct {
	Employees, Spans, Locked, Detached, Changed int
}

const finishPropagation = `
UPDATE propagation SET state = 'FINISHED', applied_by = id, employees_total = $3, employees_done = $3, spans_written = $4,
    skipped_locked = $5, skipped_cut_loose = $6, employees_changed = $7, started_at = accepted_at, moved_at = clock_timestamp(), finished_at = clock_timestamp()
WHERE tenant_id = $1 AND id = $2`

// Finish marks a propagation as finished whose change the transaction has already applied.
func Finish(ctx context.Context, tx pgx.Tx, id int64, done Progress) error {
	tenantID := tenant.Of(ctx)
	if _, err := tx.Exec(ctx, finishPropagation, tenantID, id, done.Employees, done.Spans, done.Locked, done.Detached, done.Changed); err != nil {
		return fmt.Errorf("propagation: finish: %w", err)
	}
	return nil
}

// SetLocation puts the path of a started propagation into the header Content-Location of the
// response. An id of 0 means none.
func SetLocation(ctx context.Context, id int64) error {
	if id == 0 {
		return nil
	}
	return rpc.SetContentLocation(ctx, fmt.Sprintf("/v1/scheduling/propagations/%d", id))
}
