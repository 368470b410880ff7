// Package search is the read side of commons: queries over persons, employee groups that are
// queries, and the copies of other services' data that both need. The packages below it are
// internal to it. Other packages of this service import only this package, and it does not
// import packages that write persons, jobs or locations.
package search

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/employeegroup"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/hyperfind"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/projection"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

type (
	// Config limits the cost of queries.
	Config = query.Config
	// Group is an employee group: an organization path, or a stored query.
	Group = employeegroup.Group
	// Groups finds the employee groups of persons and their members.
	Groups = employeegroup.Groups
	// Periods resolves symbolic periods to days.
	Periods = hyperfind.Periods
	// GroupUsers finds and renames queries that are the employee groups of persons.
	GroupUsers = hyperfind.GroupUsers
)

// ParseGroup returns the group that a managerEmployeeGroupName names.
func ParseGroup(name string) Group { return employeegroup.Parse(name) }

// NewGroups returns the employee groups of the persons in the pool's database. The zone
// determines the present day.
func NewGroups(pool *pg.Pool, clk clock.Clock, zone *time.Location) *Groups {
	return employeegroup.New(pool, hyperfind.NewFinder(employeegroup.FinderConfig(), pool), clk, zone)
}

// Replicas returns the copies of other services' data. Each received list of memberships is
// passed to observe, in the same transaction.
func Replicas(pool *pg.Pool, observe func(context.Context, pgx.Tx, []*schedulingv1.PersonMemberships) error) []*replica.Replica {
	return projection.Copies(pool, observe)
}

// RenameConditions replaces a name, compared without case, in the conditions of stored queries on a
// property, such as PAY_RULE.
func RenameConditions(ctx context.Context, tx pgx.Tx, key, from, to string) error {
	return hyperfind.RenameConditions(ctx, tx, key, from, to)
}

// Search serves queries and employee groups.
type Search struct {
	groups   *employeegroup.Handler
	queries  *hyperfind.Handler
	profiles *hyperfind.Profiles
}

// New returns a Search over the persons in the pool's database. The rules decide which
// persons callers may see.
func New(cfg Config, pool *pg.Pool, groups *Groups, rules *rowvisibility.Rules, periods Periods, users GroupUsers) *Search {
	return &Search{
		groups:   employeegroup.NewHandler(groups),
		queries:  hyperfind.New(pool, hyperfind.NewFinder(cfg, pool), rules, periods, users),
		profiles: hyperfind.NewProfiles(pool),
	}
}

// Register adds the operations to a server.
func (s *Search) Register(server grpc.ServiceRegistrar) {
	commonsv1.RegisterEmployeeGroupServiceServer(server, s.groups)
	commonsv1.RegisterHyperfindServiceServer(server, s.queries)
	commonsv1.RegisterHyperfindProfileServiceServer(server, s.profiles)
}

// Among returns the subset of the persons that matches a stored query which the caller may
// use, on the days of a range, or today without a range.
func (s *Search) Among(ctx context.Context, query *commonv1.Ref, days *commonv1.DateRange, persons []int64) (map[int64]bool, error) {
	return s.queries.Among(ctx, query, days, persons)
}
