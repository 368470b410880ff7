package propagation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

const (
	// CodeBuiltOn (409): later decisions build on the change of the propagation, so that it cannot
	// be undone as a whole. details.errors lists them. Undo the later decisions first, or send the
	// mode REMAINING.
	CodeBuiltOn = "WRL-30540"
	// CodeNotUndoable (409): the change of the propagation cannot be undone: its cause is no change
	// of patterns or inheritance, it is not finished, or it was undone before. Do what the message
	// says.
	CodeNotUndoable = "WRL-30541"
	// CodeTooOld (410): the propagation is older than 30 days, so that it cannot be undone. Make a
	// new change.
	CodeTooOld = "WRL-30542"
	// CodeOwnersHidden (403): the change concerns employees whom the caller does not see, so that
	// the caller cannot undo it. Ask a user who sees them.
	CodeOwnersHidden = "WRL-30543"
)

// The states of the undo of a propagation.
const (
	undoPossible = "POSSIBLE"
	undoBlocked  = "BLOCKED"
	undoDone     = "DONE"
	undoExpired  = "EXPIRED"
	undoNever    = "NEVER"
)

// undoFor is the time after the acceptance of a propagation in which it can be undone. undoColumns
// repeats it.
const undoFor = 30 * 24 * time.Hour

// undoColumns are the state of the undo of the propagation p, and the propagation that undid it.
//
// A later decision builds on the change if an assignment that it made has other content now, or is
// gone, or if a later version of an override is above an assignment of the change. A change back to
// the same content does not: so changes can be undone one after the other, the newest first.
const undoColumns = `CASE
        WHEN (SELECT u.id FROM propagation u WHERE u.tenant_id = p.tenant_id AND u.undoes_propagation_id = p.id) IS NOT NULL THEN 'DONE'
        WHEN p.cause NOT IN ('PATTERN', 'INHERITANCE', 'UNDO') OR p.allows_inheritance IS NULL
            AND NOT EXISTS (SELECT FROM pattern_assignment a WHERE a.tenant_id = p.tenant_id AND a.propagation_id = p.id)
            AND NOT EXISTS (SELECT FROM pattern_assignment a WHERE a.tenant_id = p.tenant_id AND a.ended_by = p.id) THEN 'NEVER'
        WHEN p.accepted_at < now() - interval '30 days' THEN 'EXPIRED'
        WHEN p.state NOT IN ('FINISHED', 'FAILED')
            OR p.allows_inheritance IS NOT NULL AND NOT EXISTS (
                SELECT FROM employment_term t WHERE t.tenant_id = p.tenant_id AND t.id = ANY(p.employment_term_ids)
                    AND t.allows_inheritance = p.allows_inheritance)
            OR EXISTS (
                SELECT FROM pattern_assignment a WHERE a.tenant_id = p.tenant_id AND a.propagation_id = p.id AND NOT EXISTS (
                    SELECT FROM pattern_assignment n WHERE n.tenant_id = a.tenant_id AND n.id = a.id AND n.believed_until = 'infinity'
                        AND (n.from_date, n.to_date, n.pattern_id, n.anchor, n.start_date_offset, n.override, n.seq, n.lane)
                          = (a.from_date, a.to_date, a.pattern_id, a.anchor, a.start_date_offset, a.override, a.seq, a.lane)))
            OR EXISTS (
                SELECT FROM pattern_assignment a JOIN pattern_assignment o ON o.tenant_id = a.tenant_id
                    AND (o.employment_term_id = a.employment_term_id OR o.employee_id = a.employee_id)
                WHERE a.tenant_id = p.tenant_id AND (a.propagation_id = p.id OR a.ended_by = p.id)
                    AND o.believed_until = 'infinity' AND o.override AND o.propagation_id > p.id AND o.seq > a.seq
                    AND o.from_date < a.to_date AND o.to_date > a.from_date
                    AND NOT EXISTS (SELECT FROM pattern_assignment s WHERE s.tenant_id = o.tenant_id AND s.id = o.id
                        AND (s.propagation_id = p.id OR s.ended_by = p.id))) THEN 'BLOCKED'
        ELSE 'POSSIBLE'
    END,
    (SELECT u.id FROM propagation u WHERE u.tenant_id = p.tenant_id AND u.undoes_propagation_id = p.id) AS undone_by`

// undoState is the state of the undo of a propagation.
type undoState struct {
	state string
	// by is the propagation that undid it.
	by *int64
}

func (s undoState) message(accepted time.Time) *schedulingv1.PropagationUndo {
	m := &schedulingv1.PropagationUndo{State: s.state, PropagationId: s.by}
	if s.state != undoDone && s.state != undoNever {
		until := accepted.Add(undoFor)
		m.Until = instant(&until)
	}
	return m
}

// Undoable is a propagation whose change can be undone, at least in part.
type Undoable struct {
	ID int64
	// TermIDs and EmployeeIDs are the owners of the changed assignments. One of the lists is empty.
	TermIDs, EmployeeIDs []int64
	// AllowsInheritance is the value that the change gave to its term; nil for changes of
	// assignments.
	AllowsInheritance *bool
	// AcceptedAt is the time of acceptance. Spans that the change replaced were believed until
	// then, or longer.
	AcceptedAt time.Time
}

// Owners returns the owners of the changed assignments.
func (u *Undoable) Owners() []int64 {
	return append(slices.Clone(u.TermIDs), u.EmployeeIDs...)
}

// UndoRequest asks for the undo of the change of a propagation.
type UndoRequest struct {
	Target *Undoable
	// Remaining undoes the rest of the change if later decisions build on it. Otherwise a later
	// decision is the error of [BuiltOn].
	Remaining bool
	// Reason is the reason for the undo, for readers of its propagation.
	Reason string
	// Preview is the preview that the caller applies; nil for an undo without a preview.
	Preview proposal.Preview
}

// Undo undoes the change of a propagation, and returns the propagation that applies the undo and the
// later decisions that build on the change.
type Undo func(ctx context.Context, request *UndoRequest) (int64, []*schedulingv1.LaterDecision, error)

const selectUndoable = `
SELECT p.id, p.cause, p.state, p.employment_term_ids, p.employee_ids, p.allows_inheritance, p.accepted_at, ` + undoColumns + `
FROM propagation p WHERE p.tenant_id = $1 AND p.id = $2`

// ReadUndoable reads a propagation to undo. It returns the error for one that does not exist, or
// that cannot be undone; the latter is returned together with the propagation. Call it again under
// the locks of the owners: others may have undone it.
func ReadUndoable(ctx context.Context, db pg.Querier, id int64) (*Undoable, error) {
	u := &Undoable{}
	var cause, state string
	var undo undoState
	err := db.QueryRow(ctx, selectUndoable, tenant.Of(ctx), id).Scan(
		&u.ID, &cause, &state, &u.TermIDs, &u.EmployeeIDs, &u.AllowsInheritance, &u.AcceptedAt, &undo.state, &undo.by)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, errUnknown()
	}
	if err != nil {
		return nil, fmt.Errorf("propagation: read for an undo: %w", err)
	}
	switch {
	case undo.state == undoDone:
		return u, fault.Conflict(CodeNotUndoable, fmt.Sprintf("The propagation was undone before, by the propagation %d. To redo the change, undo that one.", *undo.by))
	case undo.state == undoNever:
		return u, fault.Conflict(CodeNotUndoable, neverUndone(Cause(cause)))
	case undo.state == undoExpired:
		return u, fault.New(CodeTooOld, http.StatusGone, "The propagation is older than 30 days, so that it cannot be undone. Make a new change.")
	case state != StateFinished && state != StateFailed:
		return u, fault.Conflict(CodeNotUndoable, fmt.Sprintf("The propagation is %s. Undo it when it is finished.", state))
	}
	return u, nil
}

// neverUndone returns the message for a change that cannot be undone.
func neverUndone(cause Cause) string {
	switch cause {
	case CauseMembership:
		return "Changes of the employees on a term, or of their employment, cannot be undone here. Change the employment terms of the persons instead."
	case CauseUnlocking:
		return "Unlocked days cannot be locked again by an undo: lock them."
	default:
		return messageNothing
	}
}

const messageNothing = "Nothing of the change is left that can be undone: its employment term or its assignments are deleted, or an older release made the change."

// NothingLeft returns the error for a change if nothing of it is left.
func NothingLeft() error { return fault.Conflict(CodeNotUndoable, messageNothing) }

// maxLaterDecisions limits the later decisions in a response.
const maxLaterDecisions = 100

// BuiltOn returns the error for later decisions that build on a change. advice says what to do.
func BuiltOn(later []*schedulingv1.LaterDecision, advice string) error {
	details := &commonv1.ErrorDetails{}
	for _, d := range LimitDecisions(later) {
		details.Errors = append(details.Errors, &commonv1.ErrorBody{ErrorCode: CodeBuiltOn, Message: d.GetMessage()})
	}
	return fault.Conflict(CodeBuiltOn, fmt.Sprintf("%d later decisions build on the change; details.errors lists them. %s", len(later), advice)).WithDetails(details)
}

// OwnersHidden returns the error for a change of employees whom the caller does not see.
func OwnersHidden() error {
	return fault.Forbidden(CodeOwnersHidden, "The change concerns employees whom you do not see. Ask a user who sees them.")
}

// RefuseUndo returns the error for an undo that is not made: later decisions build on the change and
// the request does not ask for the rest, or no part of the change is left to undo.
func (r *UndoRequest) RefuseUndo(later []*schedulingv1.LaterDecision, isEmpty bool) error {
	switch {
	case len(later) > 0 && !r.Remaining:
		return BuiltOn(later, "Undo them first, or send the mode REMAINING to undo the rest.")
	case isEmpty && len(later) > 0:
		return BuiltOn(later, "Nothing else of the change is left to undo.")
	case isEmpty:
		return NothingLeft()
	}
	return nil
}

// LimitDecisions returns the later decisions that a response lists.
func LimitDecisions(later []*schedulingv1.LaterDecision) []*schedulingv1.LaterDecision {
	return later[:min(len(later), maxLaterDecisions)]
}

// The modes of an undo.
const (
	modeStrict    = "STRICT"
	modeRemaining = "REMAINING"
)

// CheckMode returns the mode of an undo in upper case, and reports whether it undoes the rest of a
// change. The default is STRICT.
func CheckMode(path, text string) (mode string, remaining bool, err error) {
	switch mode = strings.ToUpper(text); mode {
	case "":
		return modeStrict, false, nil
	case modeStrict, modeRemaining:
		return mode, mode == modeRemaining, nil
	default:
		return "", false, invalid(fmt.Sprintf("%s: %.40q is not STRICT or REMAINING.", path, text))
	}
}

// UndoPropagation undoes the change of a propagation, and returns the propagation of the undo, with the
// later decisions that build on the change.
func (h *Handler) UndoPropagation(ctx context.Context, req *schedulingv1.UndoPropagationRequest) (*schedulingv1.Propagation, error) {
	mode, remaining, err := CheckMode("mode", req.GetBody().GetMode())
	if err != nil {
		return nil, err
	}
	preview, err := h.undo.Previews.Find(req.PreviewId, &schedulingv1.PreviewedUndo{PropagationId: &req.Id, Mode: mode})
	if err != nil {
		return nil, err
	}
	target, err := ReadUndoable(ctx, h.pool, req.GetId())
	if err != nil && (target == nil || preview == nil) { // Otherwise an undo by the same preview is the first reason to refuse.
		return nil, err
	}
	id, later, err := h.undo.Undo(ctx, &UndoRequest{Target: target, Remaining: remaining, Reason: req.GetBody().GetReason(), Preview: preview})
	if err != nil {
		return nil, err
	}
	h.await(ctx, id, func() error { return nil })
	response, err := h.read(ctx, id)
	if err != nil {
		return nil, err
	}
	response.LaterDecisions = LimitDecisions(later)
	return response, SetLocation(ctx, id)
}
