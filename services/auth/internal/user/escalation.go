package user

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// refuseEscalation keeps callers from giving others more than they may do
// themselves, and from taking over, by a new password, the account of somebody
// who may do more. A service that works for nobody in particular may do all.
func (h *Handler) refuseEscalation(ctx context.Context, tenantID int64, users []*authv1.User) error {
	caller, ok := authn.From(ctx)
	if !ok || caller.IsService() {
		return nil
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.GetAccessProfile()
	}
	_, persons := columns(users)
	concerned, err := profile.Concerned(ctx, h.pool, tenantID, names, persons)
	if err != nil || len(concerned) == 0 {
		return err
	}
	held, err := profile.OfCaller(ctx, h.pool, caller)
	if err != nil {
		return err
	}
	for _, p := range concerned {
		beyond := profile.Beyond(p.Grants, held)
		// The token may say less than the caller's profile.
		if beyond == "" {
			beyond = profile.Beyond(profile.Expand(p.Grants, h.permissions), caller.Permissions)
		}
		if beyond != "" {
			return fault.Forbidden(fault.CodeNoAccess, fmt.Sprintf(
				"The access profile %q permits %s, which you may not do yourself.", p.Name, beyond))
		}
	}
	return nil
}
