package schedulepreview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// The states of a preview.
const (
	stateReady   = "READY"
	stateStale   = "STALE"
	stateApplied = "APPLIED"
	stateExpired = "EXPIRED"
)

// CreateSchedulePreview computes the effect of a change, and stores a summary of it.
func (h *Handler) CreateSchedulePreview(ctx context.Context, req *schedulingv1.CreateSchedulePreviewRequest) (*schedulingv1.SchedulePreview, error) {
	window, err := readWindow(req.GetWindow())
	if err != nil {
		return nil, err
	}
	now := h.deps.Clock.Now()
	if err := refuseTooMany(ctx, h.deps.Pool, now); err != nil {
		return nil, err
	}
	decide, digest, err := h.propose(ctx, req)
	if err != nil {
		return nil, err
	}
	visible, err := h.deps.Visible(rowvisibility.OnAnyDay(ctx))
	if err != nil {
		return nil, err
	}
	r := &row{createdBy: caller(ctx), digest: digest, expiresAt: now.Add(keep)}
	if r.request, err = (proto.MarshalOptions{Deterministic: true}).Marshal(req); err != nil {
		return nil, fmt.Errorf("schedulepreview: encode request: %w", err)
	}
	effect, err := h.computeSettled(ctx, r, decide, window, visible)
	if err != nil {
		return nil, err
	}
	return h.store(ctx, r, effect)
}

// effect is the effect of a change on the schedules.
type effect struct {
	proposal *proposal.Proposal
	sums     totals
	warnings []*schedulingv1.ScheduleWarning
}

// settleAttempts bounds the wait for the settled instant of a change that the state includes, to about two seconds.
const settleAttempts = 15

// computeSettled computes the effect of a change on a state that includes no change after the settled
// instant of its basis. Another open transaction can hold that instant back for a moment.
func (h *Handler) computeSettled(ctx context.Context, r *row, decide proposal.Decide, window civil.Range, visible rowvisibility.Set) (*effect, error) {
	wait := backoff.Backoff{First: 5 * time.Millisecond, Max: 200 * time.Millisecond}
	for {
		e, err := h.compute(ctx, r, decide, window, visible)
		if e != nil || err != nil {
			return e, err
		}
		if wait.Attempts() == settleAttempts {
			return nil, unsettledFault()
		}
		if err := wait.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// compute computes the effect of a change on the present state. It returns nil if the state includes a
// change that has no settled instant yet: the preview would be stale at once.
func (h *Handler) compute(ctx context.Context, r *row, decide proposal.Decide, window civil.Range, visible rowvisibility.Set) (*effect, error) {
	if err := r.basis.settle(ctx, h.deps.Reader); err != nil {
		return nil, err
	}
	var e *effect
	err := pg.InSnapshot(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		e = nil
		p, err := decide(ctx, tx)
		if err != nil {
			return err
		}
		if r.basis.days = window; window.Empty() {
			r.basis.days = defaultWindow(p.Days, civil.FromTime(h.deps.Clock.Now()))
		}
		r.basis.termIDs, r.basis.employeeIDs = p.TermIDs, p.EmployeeIDs
		if err := r.basis.readInheriting(ctx, tx); err != nil {
			return err
		}
		if later, err := r.basis.findLaterChange(ctx, tx); later != nil || err != nil {
			return err
		}
		c, err := newComputation(tx, h.deps.Reader, r.basis.days, p)
		if err != nil {
			return err
		}
		employees, err := visibleEmployees(ctx, tx, p, visible, r.basis.days)
		if err != nil {
			return err
		}
		e = &effect{proposal: p}
		if err := c.computeEach(ctx, employees, e.sums.add); err != nil {
			return err
		}
		e.warnings = e.sums.listWarnings()
		var persons []*commonv1.Ref
		for _, w := range e.warnings {
			for _, p := range w.GetPersons() {
				persons = append(persons, p.GetEmployee())
			}
		}
		return addNumbers(ctx, tx, persons)
	})
	return e, err
}

// store stores a preview, and returns it with the results of the change.
func (h *Handler) store(ctx context.Context, r *row, e *effect) (*schedulingv1.SchedulePreview, error) {
	shown := &schedulingv1.SchedulePreview{
		Basis:   &schedulingv1.PreviewBasis{DateTime: formatTime(r.basis.settledAt)},
		Summary: e.sums.summary(), Skipped: e.sums.listSkipped(), Warnings: e.warnings, LaterDecisions: propagation.LimitDecisions(e.proposal.Later),
	}
	if e.proposal.OfEmployees() {
		shown.Basis.EmployeeRefs = e.proposal.Owners
	} else {
		shown.Basis.GroupRefs = e.proposal.Owners
	}
	var err error
	if r.effect, err = (proto.MarshalOptions{Deterministic: true}).Marshal(shown); err != nil {
		return nil, fmt.Errorf("schedulepreview: encode: %w", err)
	}
	if err := r.insert(ctx, h.deps.Pool, h.deps.Clock.Now()); err != nil {
		return nil, err
	}
	m, err := r.message()
	if err != nil {
		return nil, err
	}
	m.State, m.Results = stateReady, e.proposal.Results
	return m, rpc.SetContentLocation(ctx, fmt.Sprintf("/v1/scheduling/previews/%d", r.id))
}

// visibleEmployees returns the affected employees whom the caller sees on all days of the window, in
// ascending order.
func visibleEmployees(ctx context.Context, db pg.Querier, p *proposal.Proposal, visible rowvisibility.Set, days civil.Range) ([]int64, error) {
	employees, err := propagation.Affected(ctx, db, p.TermIDs, p.EmployeeIDs)
	if err != nil || visible.All() {
		return employees, err
	}
	return slices.DeleteFunc(employees, func(id int64) bool { return !visible.HasOn(id, days) }), nil
}
