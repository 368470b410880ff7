package hyperfind

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

// Finder finds the persons of stored queries.
type Finder struct {
	pool     *pg.Pool
	executor *query.Executor
}

// NewFinder returns a Finder of the persons in the pool's database.
func NewFinder(cfg query.Config, pool *pg.Pool) *Finder {
	return &Finder{pool: pool, executor: query.NewExecutor(cfg, pool)}
}

// Members returns the ids of the persons of a stored query on the days of a range, ascending.
// The qualifier of a query is its name. It finds only public queries, because users can have
// personal queries with the same name. Row rules do not apply. An unknown query is a fault
// with CodeUnknownQuery. A query with more than a million persons, or one that takes too
// long, is also a fault.
func (f *Finder) Members(ctx context.Context, ref *commonv1.Ref, days civil.Range) ([]int64, error) {
	q, err := find(ctx, f.pool, ref, "")
	if err != nil {
		return nil, err
	}
	root, err := parse(ctx, f.pool, q.GetConstraints(), days)
	if err != nil {
		return nil, err
	}
	var ids []int64
	err = f.executor.Run(ctx, root, days, nil, func(id int64, _, _ []byte) { ids = append(ids, id) })
	if err == nil && len(ids) == query.MaxCounted {
		err = fault.TooLarge(CodeMost, fmt.Sprintf("The query %q finds more than %d persons.", q.GetName(), query.MaxCounted-1))
	}
	return ids, err
}
