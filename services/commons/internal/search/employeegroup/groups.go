// Package employeegroup finds the employee groups of managers, which determine the persons
// whom they may see.
package employeegroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Groups finds employee groups. The managerEmployeeGroupName of a person's
// personAccessAssignments that applies today, in the tenants' time zone, names the group. See
// [Parse] for the forms of names. A person without such a name has no group.
type Groups struct {
	pool    *pg.Pool
	queries *queries
	clock   clock.Clock
	zone    *time.Location
}

var _ rowvisibility.Source = (*Groups)(nil)

// New returns Groups of the persons in the pool's database. The finder evaluates groups that
// are hyperfinds. The zone determines the present day.
func New(pool *pg.Pool, finder Finder, clk clock.Clock, zone *time.Location) *Groups {
	return &Groups{pool: pool, queries: newQueries(finder, clk), clock: clk, zone: zone}
}

// Of returns the group of a person today, or the zero Group if the person has none.
func (g *Groups) Of(ctx context.Context, personID int64) (Group, error) {
	var name string
	err := g.pool.QueryRow(ctx, `SELECT manager_employee_group_name FROM person_access_assignment
		WHERE tenant_id = $1 AND person_id = $2 AND from_date <= $3 AND to_date > $3
		  AND coalesce(manager_employee_group_from <= $3, true) AND coalesce(manager_employee_group_to > $3, true)`,
		tenant.Of(ctx), personID, g.today(ctx)).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return Group{}, nil
	}
	if err != nil {
		return Group{}, fmt.Errorf("read employee group: %w", err)
	}
	return Parse(name), nil
}

func (g *Groups) today(ctx context.Context) civil.Date {
	return civil.FromTime(clock.OfTenant(ctx, g.clock.Now()).In(g.zone))
}

// Persons returns the members of a principal's group. The principal may see them.
func (g *Groups) Persons(ctx context.Context, p *authn.Principal) ([]int64, error) {
	if rowvisibility.Scope(p.Rows) != rowvisibility.Group {
		return nil, nil
	}
	return g.members(ctx, p.PersonID, 0, nil)
}

// members returns the members of a person's group with ids above after, in ascending order,
// and at most limit of them unless limit is nil.
func (g *Groups) members(ctx context.Context, personID, after int64, limit *int) ([]int64, error) {
	group, err := g.Of(ctx, personID)
	switch {
	case err != nil || group == Group{}:
		return nil, err
	case group.query != "":
		ids, err := g.queries.members(ctx, group.query, g.today(ctx))
		return page(ids, after, limit), err
	}
	// "0" is the character after "/". The range between the two contains all paths below the
	// path, and an index in byte order finds it.
	found, err := g.pool.Query(ctx, `SELECT DISTINCT person_id FROM primary_labor_account
		WHERE tenant_id = $1 AND from_date <= $2 AND to_date > $2 AND person_id > $6
		  AND (organization_path = $3 OR (organization_path ~>=~ $4 AND organization_path ~<~ $5))
		ORDER BY person_id LIMIT $7`,
		tenant.Of(ctx), g.today(ctx), group.path, group.path+"/", group.path+"0", after, limit)
	if err != nil {
		return nil, fmt.Errorf("read members of an employee group: %w", err)
	}
	ids, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read members of an employee group: %w", err)
	}
	return ids, nil
}

// page returns the ids above after from an ascending list, and at most limit of them.
func page(ids []int64, after int64, limit *int) []int64 {
	first, _ := slices.BinarySearch(ids, after+1)
	ids = ids[first:]
	if limit != nil && len(ids) > *limit {
		ids = ids[:*limit]
	}
	return ids
}
