package rowvisibility

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// FromCommons returns the Rules of a service that asks commons for employee groups and delegations.
func FromCommons(clk clock.Clock, commons grpc.ClientConnInterface, log *slog.Logger) *Rules {
	return New(clk, NewGroups(commonsv1.NewEmployeeGroupServiceClient(commons))).
		WithDelegations(remoteDelegations{commonsv1.NewDelegationServiceClient(commons)}, log)
}

// remoteDelegations asks commons, which owns delegations.
type remoteDelegations struct {
	client commonsv1.DelegationServiceClient
}

// Running returns the active delegations to a principal.
func (d remoteDelegations) Running(ctx context.Context, p *authn.Principal) ([]Delegation, error) {
	response, err := d.client.ListRunningDelegations(ctx, &commonsv1.ListRunningDelegationsRequest{PersonId: p.PersonID})
	if err != nil {
		return nil, err
	}
	out := make([]Delegation, 0, len(response.GetDelegations()))
	for _, d := range response.GetDelegations() {
		rows, known := ParseScope(d.GetRowScope())
		if !known {
			rows = Own
		}
		out = append(out, Delegation{Delegator: d.GetDelegatorId(), Rows: rows, Permissions: d.GetPermissions()})
	}
	return out, nil
}
