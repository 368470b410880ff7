package hyperfind

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// settings are those of the transaction in which a query runs, which is a batch.
// A plan for other values can be the wrong one by far. To compile a plan takes
// longer than most queries run. What is asked for every day is in memory, where
// it costs little to jump from row to row, and a large answer is sorted there.
// A turn is one process of the database: no query takes others to help it.
const settings = `SELECT set_config('statement_timeout', $1, true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true), set_config('work_mem', '32MB', true),
	set_config('max_parallel_workers_per_gather', '0', true)`

// Config is what can be set of hyperfinds. Every field works at its zero value.
type Config struct {
	Timeout    time.Duration `name:"timeout" env:"TIMEOUT" default:"10s" help:"Time after which a query that still runs is stopped."`
	Concurrent int           `name:"concurrent" env:"CONCURRENT" default:"4" help:"Queries that run at the same time; others wait for their turn. A user has half of them at most, and a tenant all but one."`
}

// Finder executes queries.
type Finder struct {
	pool    *pgxpool.Pool
	timeout time.Duration
	// turns bounds the queries that run, so that many slow ones leave connections
	// to others, and lets no caller keep others waiting.
	turns *turns
}

// NewFinder makes a Finder over the persons in the pool's database.
func NewFinder(cfg Config, pool *pgxpool.Pool) *Finder {
	return &Finder{
		pool: pool, timeout: cmp.Or(cfg.Timeout, 10*time.Second),
		turns: newTurns(max(1, cmp.Or(cfg.Concurrent, 4))),
	}
}

// Members answers the ids of the persons whom a stored query finds on the days
// of a range, ascending. The qualifier of a query is its name; of queries of
// which each user may have their own, only public ones are found by it. Row
// rules do not apply. An unknown query is a fault with CodeUnknownQuery; one
// that finds more than a million persons, or takes too long, is one as well.
func (f *Finder) Members(ctx context.Context, tenantID int64, query *commonv1.Ref, days civil.Range) ([]int64, error) {
	ctx = tenant.With(ctx, tenantID)
	q, err := find(ctx, f.pool, tenantID, query, "")
	if err != nil {
		return nil, err
	}
	root, err := asked(q.GetConstraints(), days)
	if err != nil {
		return nil, err
	}
	var ids []int64
	err = f.run(ctx, tenantID, root, days, nil, func(id int64, _, _ []byte) { ids = append(ids, id) })
	if err == nil && len(ids) == mostCounted {
		err = fault.TooLarge(CodeMost, fmt.Sprintf("The query %q finds more than %d persons.", q.GetName(), mostCounted-1))
	}
	return ids, err
}

// run hands the persons of a query to each, by ascending id: their id, number
// and full name, which each must not keep. With visible, only those.
func (f *Finder) run(ctx context.Context, tenantID int64, root *node, days civil.Range, visible []int64, each func(id int64, number, name []byte)) error {
	giveBack, err := f.turns.take(ctx, holder{tenantID, caller(ctx)})
	if err != nil {
		return err
	}
	defer giveBack()
	sql, args := statement(tenantID, root, days, visible)
	batch := &pgx.Batch{}
	batch.Queue(settings, strconv.FormatInt(f.timeout.Milliseconds(), 10))
	batch.Queue(sql, args...)
	results := f.pool.SendBatch(ctx, batch)
	err = receive(results, each)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if pg.TimedOut(err) {
		return fault.Invalid(CodeSlow, fmt.Sprintf("The query ran longer than %s and was stopped. "+
			"Make it simpler, or ask for fewer days.", f.timeout)).WithCause(err)
	}
	return err
}

func receive(results pgx.BatchResults, each func(id int64, number, name []byte)) error {
	if _, err := results.Exec(); err != nil {
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		values := rows.RawValues()
		if len(values[0]) != 8 {
			return errors.New("hyperfind: an id does not come as eight bytes")
		}
		each(int64(binary.BigEndian.Uint64(values[0])), values[1], values[2])
	}
	return rows.Err()
}
