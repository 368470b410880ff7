package delegation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// resolve finds the delegator and the delegate.
func (h *Handler) resolve(ctx context.Context, d *delegation, req *commonsv1.Delegation) error {
	caller := callerPrincipal(ctx)
	visible, err := h.rules.Visible(ctx)
	if err != nil {
		return err
	}
	delegator := req.GetDelegator()
	if delegator == nil {
		if caller.PersonID <= 0 {
			return fault.Invalid(CodeInvalid, "delegator: your user is not a person. Name the person who delegates.")
		}
		delegator = &commonsv1.DelegationPerson{Id: &caller.PersonID}
	}
	if d.Delegator, d.DelegatorNumber, d.DelegatorName, err = h.find(ctx, "delegator", delegator, visible); err != nil {
		return err
	}
	if d.Delegator != caller.PersonID && !administers(caller) {
		return fault.Forbidden(CodeExceeds, "delegator: you can delegate only your own access. Only users who see all employees can name another delegator.")
	}
	if d.Delegate, d.DelegateNumber, d.DelegateName, err = h.find(ctx, "delegate", req.GetDelegate(), visible); err != nil {
		return err
	}
	// Callers may delegate their own rights to others, but must not assign the rights of others
	// to themselves.
	rowvisibility.WritesForNobody(ctx)
	if refused := visible.RefuseOwn(d.Delegate); refused != nil && d.Delegator != caller.PersonID {
		return refused
	}
	if d.Delegate == d.Delegator {
		return fault.Invalid(CodeInvalid, "delegate: a person cannot delegate to themselves.")
	}
	return nil
}

// The subquery runs only once, even if the plan scans the table.
const selectPerson = `SELECT id, person_number, full_name FROM person
	WHERE tenant_id = $1 AND id = (SELECT CASE WHEN $2::bigint <> 0 THEN $2 ELSE person_by_number($1, $3) END)`

// find returns a person by id or, if the request has no id, by person number.
func (h *Handler) find(ctx context.Context, name string, who *commonsv1.DelegationPerson, visible rowvisibility.Set) (id int64, number, fullName string, err error) {
	if who.GetId() == 0 && who.GetQualifier() == "" {
		return 0, "", "", fault.Invalid(CodeInvalid, name+" needs an id, or a qualifier, which is the person number.")
	}
	err = h.pool.QueryRow(ctx, selectPerson, tenant.Of(ctx), who.GetId(), who.GetQualifier()).Scan(&id, &number, &fullName)
	switch {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return 0, "", "", fmt.Errorf("find person: %w", err)
	case err == nil && visible.Has(id):
		return id, number, fullName, nil
	case err == nil:
		authn.NoteNotVisible(ctx)
	}
	if who.GetId() != 0 {
		return 0, "", "", fault.Invalid(CodePerson, fmt.Sprintf("%s: there is no person with the id %d.", name, who.GetId()))
	}
	return 0, "", "", fault.Invalid(CodePerson, fmt.Sprintf("%s: there is no person with the person number %q.", name, who.GetQualifier()))
}
