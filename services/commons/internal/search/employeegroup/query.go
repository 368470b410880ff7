package employeegroup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/hyperfind"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

const (
	// cacheTTL is for how long the members of a hyperfind are remembered, in
	// this process. The services remember whom somebody sees as well, so a
	// change may count that much later.
	cacheTTL = 5 * time.Second
	// retryAfter is when a hyperfind that could not be evaluated is tried again.
	// One that is too slow must not run all the time.
	retryAfter = 30 * time.Second
	// queryTimeout bounds the wait for members: less than the services wait.
	queryTimeout = 8 * time.Second
	// maxQueries and maxIDs bound what is remembered; the latter is 32 MiB.
	maxQueries = 10_000
	maxIDs     = 4 << 20
)

// FinderConfig bounds what the hyperfinds of groups may cost. They have turns of
// their own, so that they wait for nobody's own queries.
func FinderConfig() query.Config {
	return query.Config{Timeout: 5 * time.Second, Concurrent: 4}
}

// Finder returns whom a stored query finds, whatever the caller may see. See
// [hyperfind.Finder.Members].
type Finder interface {
	Members(ctx context.Context, tenantID int64, query *commonv1.Ref, days civil.Range) ([]int64, error)
}

// queries returns the groups that are hyperfinds. All whose group is the same
// hyperfind share the response.
type queries struct {
	finder Finder
	found  *cache.Loader[queryDay, found]
}

// queryDay is a query on a day: what was found yesterday does not count.
type queryDay struct {
	tenant int64
	name   string
	day    civil.Date
}

// String is the key as one text.
func (q queryDay) String() string { return fmt.Sprintf("%d/%s/%s", q.tenant, q.day, q.name) }

// found is what a query found, by ascending id, or why it could not be evaluated.
type found struct {
	ids    []int64
	failed error
}

func newQueries(finder Finder, clk clock.Clock) *queries {
	return &queries{finder: finder, found: cache.NewLoader[queryDay](clk, cache.LoaderConfig[found]{
		TTL: func(f found) time.Duration {
			if f.failed != nil {
				return retryAfter
			}
			return cacheTTL
		},
		Timeout: queryTimeout,
		Config:  cache.Config[found]{Entries: maxQueries, Weight: maxIDs, WeightOf: func(f found) int { return len(f.ids) }},
	})}
}

// members returns whom the public query of a name finds on a day, by ascending
// id: nobody when there is no such query. Where it is unknown, nobody is
// shown, and the caller learns why.
func (q *queries) members(ctx context.Context, tenantID int64, name string, day civil.Date) ([]int64, error) {
	got, err := q.found.Get(ctx, queryDay{tenantID, name, day}, func(ctx context.Context) (found, error) {
		ids, err := q.finder.Members(ctx, tenantID, &commonv1.Ref{Qualifier: &name}, civil.Through(day, day))
		var refused *fault.Error
		switch {
		case fault.HasCode(err, hyperfind.CodeUnknownQuery):
			return found{}, nil
		case errors.As(err, &refused):
			return found{failed: refused}, nil
		}
		return found{ids: ids}, err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("find members of an employee group: %w", err)
	case got.failed != nil:
		return nil, fault.Unavailable(fmt.Sprintf("The hyperfind %q is the employee group of the caller, and cannot be evaluated. %s",
			name, fault.FromError(got.failed).Message), retryAfter).WithCause(got.failed)
	}
	return got.ids, nil
}
