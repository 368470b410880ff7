package propagation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// The reasons why a propagation skipped days of an employee.
const (
	// ReasonLocked: the days are locked.
	ReasonLocked = "LOCKED_DAYS"
	// ReasonDetached: entries of the days were changed or deleted by hand.
	ReasonDetached = "CUT_LOOSE_ENTRIES"
)

// MaxSkippedRanges is the largest number of ranges of skipped days that are stored for an employee
// and a reason.
const MaxSkippedRanges = 100

// Handler serves PropagationService.
type Handler struct {
	schedulingv1.UnsafePropagationServiceServer
	pool    *pg.Pool
	visible Visible
	undo    Undos
	log     *slog.Logger
	// waiting is the number of requests that wait for the end of a propagation.
	waiting atomic.Int64
}

// Undos are the dependencies of undos.
type Undos struct {
	Undo Undo
	// Previews finds the previews that undos apply.
	Previews proposal.Previews
}

var _ schedulingv1.PropagationServiceServer = (*Handler)(nil)

// NewHandler returns the PropagationService on a database. It lists only employees that the caller
// may see.
func NewHandler(pool *pg.Pool, visible Visible, undo Undos, log *slog.Logger) *Handler {
	return &Handler{pool: pool, visible: visible, undo: undo, log: log}
}

const columns = `id, cause, state, employees_total, employees_done, spans_written, skipped_locked, skipped_cut_loose,
    accepted_at, started_at, finished_at, error, request_ids, coalesce(applied_by, 0),
    employees_changed, coalesce(planner_id, 0), coalesce(planner_name, ''), employment_term_ids, assignment_ids,
    undoes_propagation_id, reason, paused_at, paused_by, pause_reason, ` + undoColumns

const selectPropagation = `SELECT ` + columns + ` FROM propagation p WHERE tenant_id = $1 AND id = $2`

// GetPropagation returns a propagation of the caller's tenant, or the error 404.
func (h *Handler) GetPropagation(ctx context.Context, req *schedulingv1.GetPropagationRequest) (*schedulingv1.Propagation, error) {
	return h.read(ctx, req.GetId())
}

// errUnknown is the error for an id without a propagation.
func errUnknown() error {
	return fault.NotFound(fault.CodeNotFound, "There is no propagation with this id.")
}

func (h *Handler) read(ctx context.Context, id int64) (*schedulingv1.Propagation, error) {
	rows, err := h.pool.Query(ctx, selectPropagation, tenant.Of(ctx), id)
	if err != nil {
		return nil, fmt.Errorf("propagation: read: %w", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanPropagation)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errUnknown()
	}
	if err != nil {
		return nil, fmt.Errorf("propagation: read: %w", err)
	}
	list := []propagationRow{found}
	for _, add := range []func(context.Context, []propagationRow) error{h.addFailures, h.addNames, h.addFindings, h.addPersons} {
		if err := add(ctx, list); err != nil {
			return nil, err
		}
	}
	return found.Propagation, nil
}

// propagationRow is a propagation in the form for callers. appliedBy is the propagation with its
// batches; 0 if there are none yet.
type propagationRow struct {
	*schedulingv1.Propagation
	appliedBy int64
	// terms and assignments are the ids that addNames names.
	terms, assignments []int64
}

// scanPropagation scans the columns of a propagation.
func scanPropagation(row pgx.CollectableRow) (propagationRow, error) {
	response := propagationRow{Propagation: &schedulingv1.Propagation{}}
	var total, done, spans, locked, detached, changed, plannerID int64
	var planner string
	var accepted time.Time
	var started, finished, paused *time.Time
	var undo undoState
	err := row.Scan(&response.Id, &response.Cause, &response.State, &total, &done, &spans, &locked, &detached,
		&accepted, &started, &finished, &response.Error, &response.RequestIds, &response.appliedBy,
		&changed, &plannerID, &planner, &response.terms, &response.assignments,
		&response.UndoesPropagationId, &response.Reason, &paused, &response.PausedBy, &response.PauseReason,
		&undo.state, &undo.by)
	if err != nil {
		return propagationRow{}, err
	}
	response.Undo = undo.message(accepted)
	if response.PausedAt = instant(paused); response.State != StatePaused {
		response.PausedAt, response.PausedBy, response.PauseReason = "", "", "" // Another change has finished it.
	}
	response.AcceptedAt, response.StartedAt, response.FinishedAt = instant(&accepted), instant(started), instant(finished)
	if started != nil {
		response.EmployeesTotal, response.EmployeesDone, response.SpansWritten = &total, &done, &spans
		response.EmployeesChanged = &changed
	}
	if planner != "" {
		response.Planner = newRef(plannerID, planner)
	}
	response.Skipped = appendSkipped(response.Skipped, ReasonLocked, locked)
	response.Skipped = appendSkipped(response.Skipped, ReasonDetached, detached)
	return response, nil
}

func appendSkipped(list []*schedulingv1.SkippedDays, reason string, employees int64) []*schedulingv1.SkippedDays {
	if employees == 0 {
		return list
	}
	return append(list, &schedulingv1.SkippedDays{Reason: reason, Employees: employees})
}

func instant(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
