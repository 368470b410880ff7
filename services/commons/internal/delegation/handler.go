package delegation

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Handler serves DelegationService.
type Handler struct {
	commonsv1.UnsafeDelegationServiceServer

	pool    *pg.Pool
	running *Running
	rules   *rowvisibility.Rules
}

var _ commonsv1.DelegationServiceServer = (*Handler)(nil)

// New returns a Handler. The rules limit the delegates that callers may choose.
func New(pool *pg.Pool, running *Running, rules *rowvisibility.Rules) *Handler {
	return &Handler{pool: pool, running: running, rules: rules}
}

// ListCurrentUserDelegations returns the delegations from and to the caller that have not
// ended. The list is empty for a user without a person.
func (h *Handler) ListCurrentUserDelegations(ctx context.Context, _ *commonsv1.ListCurrentUserDelegationsRequest) (*commonsv1.DelegationList, error) {
	today := h.running.today(ctx)
	found, err := involving(ctx, h.pool, callerPrincipal(ctx).PersonID, today)
	if err != nil {
		return nil, err
	}
	out := &commonsv1.DelegationList{}
	for _, d := range found {
		out.Delegations = append(out.Delegations, d.message(today))
	}
	return out, nil
}

// ListRunningDelegations returns the delegations to a person that are active now.
func (h *Handler) ListRunningDelegations(ctx context.Context, req *commonsv1.ListRunningDelegationsRequest) (*commonsv1.ListRunningDelegationsResponse, error) {
	found, err := h.running.to(ctx, req.GetPersonId())
	if err != nil {
		return nil, err
	}
	out := &commonsv1.ListRunningDelegationsResponse{}
	for _, d := range found {
		out.Delegations = append(out.Delegations, &commonsv1.RunningDelegation{
			DelegatorId: d.Delegator, RowScope: string(d.Rows), Permissions: d.Permissions,
		})
	}
	return out, nil
}

// CreateDelegation delegates the caller's access. A caller who sees all persons can also name
// another delegator.
func (h *Handler) CreateDelegation(ctx context.Context, req *commonsv1.Delegation) (*commonsv1.Delegation, error) {
	today := h.running.today(ctx)
	d, err := parse(req, today)
	if err != nil {
		return nil, err
	}
	if err := h.resolve(ctx, &d, req); err != nil {
		return nil, err
	}
	if err := h.checkRights(ctx, d); err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockPersons(ctx, tx, d.Delegator, d.Delegate); err != nil {
			return err
		}
		if err := checkOthers(ctx, tx, d, today); err != nil {
			return err
		}
		if d.ID, err = insert(ctx, tx, d, today.AddDays(-retentionDays)); err != nil {
			return err
		}
		audit.Object(ctx, d.ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return d.message(today), nil
}

// checkRights refuses a delegation that the delegator cannot give: any delegation while the
// delegator may not log in, and a role with more permissions than the delegator has. Active
// delegations are also limited to the delegator's permissions at the time of use.
func (h *Handler) checkRights(ctx context.Context, d delegation) error {
	rights, err := h.running.rights(ctx, []delegation{d})
	switch {
	case err != nil:
		return err
	case len(rights) == 0:
		return fault.Invalid(CodeNotActive, "The delegator cannot log in now, and so cannot delegate. Unlock the user account of the delegator first, or create one.")
	case !rights[0].GetKnown():
		return fault.Invalid(CodeRole, fmt.Sprintf("role: there is no function access profile %q.", d.Role))
	case !rights[0].GetWithin():
		return fault.New(CodeExceeds, http.StatusForbidden,
			fmt.Sprintf("role: the function access profile %q has permissions that the delegator lacks. Choose another profile, or none.", d.Role))
	}
	return nil
}

// DeleteDelegation ends a delegation. It returns 404 if the caller may not end it or it does
// not exist.
func (h *Handler) DeleteDelegation(ctx context.Context, req *commonsv1.DeleteDelegationRequest) (*emptypb.Empty, error) {
	caller := callerPrincipal(ctx)
	anybodys := administers(caller) && caller.Has(writePermission)
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		gone, err := remove(ctx, tx, req.GetId(), caller.PersonID, anybodys)
		if err == nil && !gone {
			err = fault.NotFound(CodeUnknown, fmt.Sprintf("There is no delegation with the id %d that you may end.", req.GetId()))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

func callerPrincipal(ctx context.Context) *authn.Principal {
	if p, ok := authn.From(ctx); ok {
		return p
	}
	return &authn.Principal{}
}
