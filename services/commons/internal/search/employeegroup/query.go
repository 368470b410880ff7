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
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/hyperfind"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

const (
	// cacheTTL is the time for which the members of a hyperfind are cached in this process. The
	// other services cache visible persons as well, so a change can take effect later by their
	// cache time, too.
	cacheTTL = 5 * time.Second
	// retryAfter is the delay before a failed hyperfind is evaluated again, so that a slow one
	// does not run all the time.
	retryAfter = 30 * time.Second
	// queryTimeout limits the wait for members. It is shorter than the timeout of the calling
	// services.
	queryTimeout = 8 * time.Second
	// maxQueries and maxIDs limit the size of the cache; maxIDs amounts to 32 MiB.
	maxQueries = 10_000
	maxIDs     = 4 << 20
)

// FinderConfig limits the cost of hyperfinds of groups. They have separate turns, so that
// they do not wait for the queries of users.
func FinderConfig() query.Config {
	return query.Config{Timeout: 5 * time.Second, Concurrent: 4}
}

// Finder returns the persons of a stored query, independent of the caller's access. See
// [hyperfind.Finder.Members].
type Finder interface {
	Members(ctx context.Context, query *commonv1.Ref, days civil.Range) ([]int64, error)
}

// queries evaluates the groups that are hyperfinds. Callers with the same hyperfind as group
// share the result.
type queries struct {
	finder Finder
	found  *cache.Loader[queryDay, found]
}

// queryDay is a query on a day, because the result can differ from day to day.
type queryDay struct {
	tenant int64
	name   string
	day    civil.Date
}

// String returns the key as text.
func (q queryDay) String() string { return fmt.Sprintf("%d/%s/%s", q.tenant, q.day, q.name) }

// found is the result of a query: the ids in ascending order, or the error of the evaluation.
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

// members returns the persons of the public query with a name on a day, by ascending id. The
// list is empty if the query does not exist. If the evaluation fails, members returns an
// error with the reason instead of persons.
func (q *queries) members(ctx context.Context, name string, day civil.Date) ([]int64, error) {
	got, err := q.found.Get(ctx, queryDay{tenant.Of(ctx), name, day}, func(ctx context.Context) (found, error) {
		ids, err := q.finder.Members(ctx, &commonv1.Ref{Qualifier: &name}, civil.Through(day, day))
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
