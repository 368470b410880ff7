// Package undo undoes the changes of propagations through the owners of the changed data.
package undo

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// The permissions for undos, and for the changes that can be undone.
const (
	permissionUndo            = "scheduling.propagation.write"
	permissionTerm            = "timekeeping.employment_term.write"
	permissionTermPattern     = "scheduling.employment_term_schedule_pattern.write"
	permissionEmployeePattern = "scheduling.employee_schedule_pattern.write"
)

// ownRecordAction is the action of an undo on the caller's own record.
const ownRecordAction = "scheduling.schedule_pattern"

// Undoer undoes changes of one kind, as [propagation.Undo] says.
type Undoer interface {
	Undo(ctx context.Context, request *propagation.UndoRequest) (int64, []*schedulingv1.LaterDecision, error)
	// ProposeUndo returns the decision of Undo. It is not called in a transaction.
	ProposeUndo(ctx context.Context, request *propagation.UndoRequest) (proposal.Decide, error)
}

// Undoers undo the changes of propagations. All fields are required.
type Undoers struct {
	// Terms undoes changes of allowsInheritance.
	Terms Undoer
	// TermPatterns and EmployeePatterns undo changes of the assignments of terms and employees.
	TermPatterns, EmployeePatterns Undoer
}

// Undo undoes the change of a propagation, as [propagation.Undo] says. The caller needs the
// permission for such a change.
func (u Undoers) Undo(ctx context.Context, request *propagation.UndoRequest) (int64, []*schedulingv1.LaterDecision, error) {
	undoer, permission := u.choose(request.Target)
	if err := checkPermissions(ctx, permission); err != nil {
		return 0, nil, err
	}
	return undoer.Undo(ctx, request)
}

// Propose returns the decision of Undo for an operation that previews it. The caller needs the
// permissions for the undo, and must be permitted to undo changes of the own record.
func (u Undoers) Propose(ctx context.Context, request *propagation.UndoRequest) (proposal.Decide, error) {
	undoer, permission := u.choose(request.Target)
	if err := checkPermissions(ctx, permissionUndo, permission); err != nil {
		return nil, err
	}
	if p, ok := authn.From(ctx); ok && !p.IsService() {
		ctx = authn.WithOwnRecord(ctx, p, []string{ownRecordAction})
	}
	return undoer.ProposeUndo(ctx, request)
}

// checkPermissions returns an error if the caller is a user without one of the permissions.
func checkPermissions(ctx context.Context, permissions ...string) error {
	p, ok := authn.From(ctx)
	if !ok || p.IsService() {
		return nil
	}
	for _, permission := range permissions {
		if !p.Has(permission) {
			return authn.NeedsPermission(permission, "", "")
		}
	}
	return nil
}

// choose returns the undoer of a change, and the permission for such a change.
func (u Undoers) choose(target *propagation.Undoable) (Undoer, string) {
	switch {
	case target.AllowsInheritance != nil:
		return u.Terms, permissionTerm
	case len(target.TermIDs) > 0:
		return u.TermPatterns, permissionTermPattern
	default:
		return u.EmployeePatterns, permissionEmployeePattern
	}
}
