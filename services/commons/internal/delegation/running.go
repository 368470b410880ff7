// Package delegation stores delegations, which give a person the access of another person for
// a time.
package delegation

import (
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// Running finds the active delegations. It asks auth for the delegators' permissions each
// time, so that their present permissions count. A delegator who may not log in delegates
// nothing.
type Running struct {
	pool  *pg.Pool
	users authv1.UserServiceClient
	clock clock.Clock
	zone  *time.Location
}

var _ rowvisibility.Delegations = (*Running)(nil)

// NewRunning returns a Running over the pool's database. Delegations start and end at
// midnight in the zone.
func NewRunning(pool *pg.Pool, users authv1.UserServiceClient, clk clock.Clock, zone *time.Location) *Running {
	return &Running{pool: pool, users: users, clock: clk, zone: zone}
}

func (r *Running) today(ctx context.Context) civil.Date {
	return civil.FromTime(clock.OfTenant(ctx, r.clock.Now()).In(r.zone))
}

// Running returns the active delegations to a principal.
func (r *Running) Running(ctx context.Context, p *authn.Principal) ([]rowvisibility.Delegation, error) {
	return r.to(ctx, p.PersonID)
}

func (r *Running) to(ctx context.Context, personID int64) ([]rowvisibility.Delegation, error) {
	found, err := running(ctx, r.pool, personID, r.today(ctx))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	rights, err := r.rights(ctx, found)
	if err != nil {
		return nil, err
	}
	out := make([]rowvisibility.Delegation, 0, len(rights))
	for _, rights := range rights {
		rows, known := rowvisibility.ParseScope(rights.GetRowScope())
		if !known || !rights.GetKnown() {
			continue
		}
		out = append(out, rowvisibility.Delegation{Delegator: rights.GetPersonId(), Rows: rows, Permissions: rights.GetPermissions()})
	}
	return out, nil
}

// rights returns the permissions that the delegators can give now. It leaves out delegators
// who may not log in.
func (r *Running) rights(ctx context.Context, given []delegation) ([]*authv1.UserRights, error) {
	req := &authv1.ListUserRightsRequest{}
	for _, d := range given {
		req.Queries = append(req.Queries, &authv1.UserRightsQuery{PersonId: d.Delegator, AccessProfile: d.Role})
	}
	response, err := r.users.ListUserRights(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("ask what delegators may do: %w", err)
	}
	return response.GetRights(), nil
}
