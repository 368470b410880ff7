// Package undo undoes the changes of propagations through the owners of the changed data.
package undo

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// The permissions for the changes that can be undone.
const (
	permissionTerm            = "timekeeping.employment_term.write"
	permissionTermPattern     = "scheduling.employment_term_schedule_pattern.write"
	permissionEmployeePattern = "scheduling.employee_schedule_pattern.write"
)

// Undoer undoes changes of one kind, as [propagation.Undo] says.
type Undoer interface {
	Undo(ctx context.Context, target *propagation.Undoable, remaining bool, reason string) (int64, []*schedulingv1.LaterDecision, error)
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
func (u Undoers) Undo(ctx context.Context, target *propagation.Undoable, remaining bool, reason string) (int64, []*schedulingv1.LaterDecision, error) {
	undoer, permission := u.choose(target)
	if p, ok := authn.From(ctx); ok && !p.IsService() && !p.Has(permission) {
		return 0, nil, authn.NeedsPermission(permission, "", "")
	}
	return undoer.Undo(ctx, target, remaining, reason)
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
