// Package employeegroup knows whom managers may see: their employee groups.
package employeegroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Groups finds employee groups. A person's group is named by the
// managerEmployeeGroupName of their personAccessAssignments that holds today,
// in the tenants' time zone. See [Named] for what names there are. Who has no
// such name has no group.
type Groups struct {
	pool    *pgxpool.Pool
	queries *queries
	clock   clock.Clock
	zone    *time.Location
}

var _ rowvisibility.Source = (*Groups)(nil)

// New makes Groups over the persons in the pool's database. The finder answers
// the groups that are hyperfinds. The zone says which day it is.
func New(pool *pgxpool.Pool, finder Finder, clk clock.Clock, zone *time.Location) *Groups {
	return &Groups{pool: pool, queries: newQueries(finder, clk), clock: clk, zone: zone}
}

// Of answers the group of a person today; the zero Group when they have none.
func (g *Groups) Of(ctx context.Context, tenantID, personID int64) (Group, error) {
	today := g.today()
	var name *string
	var body []byte
	err := g.pool.QueryRow(ctx, `SELECT p.body, a.manager_employee_group_name FROM person p
		LEFT JOIN person_access_assignment a ON a.tenant_id = p.tenant_id AND a.person_id = p.id
		     AND a.from_date <= $3 AND a.to_date > $3
		WHERE p.tenant_id = $1 AND p.id = $2`, tenantID, personID, today.Time()).Scan(&body, &name)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Group{}, nil
	case err != nil:
		return Group{}, fmt.Errorf("read employee group: %w", err)
	case name != nil:
		return Named(*name), nil
	}
	// Persons who have not been written since the table is there have their
	// assignments in the body.
	p := &commonsv1.Person{}
	if err := proto.Unmarshal(body, p); err != nil {
		return Group{}, fmt.Errorf("decode person %d: %w", personID, err)
	}
	return groupOn(p.GetPersonInformation().GetPersonAccessAssignments(), today), nil
}

func (g *Groups) today() civil.Date { return civil.FromTime(g.clock.Now().In(g.zone)) }

// groupOn answers the group that assignments give on a day. Their first day is
// included, their last excluded; a date that is not there bounds nothing.
func groupOn(assignments []*commonsv1.PersonAccessAssignment, day civil.Date) Group {
	found := Group{}
	for _, a := range assignments {
		from, err := civil.ParseDate(a.GetEffectiveDate())
		if a.GetEffectiveDate() != "" && (err != nil || from > day) {
			continue
		}
		to, err := civil.ParseDate(a.GetExpirationDate())
		if a.GetExpirationDate() != "" && (err != nil || to <= day) {
			continue
		}
		if group := Named(a.GetManagerEmployeeGroupName()); group != (Group{}) {
			found = group
		}
	}
	return found
}

// Persons answers the members of a principal's group, whom the principal then
// sees.
func (g *Groups) Persons(ctx context.Context, p *authn.Principal) ([]int64, error) {
	if rowvisibility.Scope(p.Rows) != rowvisibility.Group {
		return nil, nil
	}
	return g.members(ctx, p.Tenant, p.PersonID, 0, nil)
}

// members answers the members of a person's group behind an id, by ascending
// id, at most limit of them unless it is nil.
func (g *Groups) members(ctx context.Context, tenantID, personID, after int64, limit *int) ([]int64, error) {
	group, err := g.Of(ctx, tenantID, personID)
	switch {
	case err != nil || group == Group{}:
		return nil, err
	case group.query != "":
		ids, err := g.queries.members(ctx, tenantID, group.query, g.today())
		return page(ids, after, limit), err
	}
	// "0" is the character after "/": between the two is everything below the
	// path, which an index by bytes finds.
	found, err := g.pool.Query(ctx, `SELECT DISTINCT person_id FROM primary_labor_account
		WHERE tenant_id = $1 AND from_date <= $2 AND to_date > $2 AND person_id > $6
		  AND (organization_path = $3 OR (organization_path ~>=~ $4 AND organization_path ~<~ $5))
		ORDER BY person_id LIMIT $7`,
		tenantID, g.today().Time(), group.path, group.path+"/", group.path+"0", after, limit)
	if err != nil {
		return nil, fmt.Errorf("read members of an employee group: %w", err)
	}
	ids, err := pgx.CollectRows(found, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read members of an employee group: %w", err)
	}
	return ids, nil
}

// page answers a part of ascending ids: those behind one, at most limit of them.
func page(ids []int64, after int64, limit *int) []int64 {
	first, _ := slices.BinarySearch(ids, after+1)
	ids = ids[first:]
	if limit != nil && len(ids) > *limit {
		ids = ids[:*limit]
	}
	return ids
}
