// Package query compiles the constraints of hyperfinds to SQL and runs them.
//
// A query compiles to one statement with parameters. Dated values are compared on a range of
// days: a condition applies if it is true on some day of the range, independent of the other
// conditions. A negated condition applies if the condition is true on no day.
package query

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/fairlimit"
)

// SessionSettings are the settings of the transaction in which a query runs. Queries run as a
// batch. A plan for other values can be far too slow, hence custom plans. JIT is off, because
// the compilation of a plan takes longer than most queries. The data for daily queries is in
// memory, where random reads are cheap, and large results are sorted there. Parallel workers
// are off, so that each turn uses one database process.
const SessionSettings = `SELECT set_config('statement_timeout', $1, true), set_config('plan_cache_mode', 'force_custom_plan', true),
	set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true), set_config('work_mem', '32MB', true),
	set_config('max_parallel_workers_per_gather', '0', true)`

// Config holds the settings of hyperfinds. Every field works at its zero value.
type Config struct {
	Timeout    time.Duration `name:"timeout" env:"TIMEOUT" default:"10s" help:"Time after which a query that still runs is stopped."`
	Concurrent int           `name:"concurrent" env:"CONCURRENT" default:"4" help:"Queries that run at the same time; others wait for their turn. A user has half of them at most, and a tenant all but one."`
}

// Executor executes queries.
type Executor struct {
	pool    *pg.Pool
	timeout time.Duration
	// limiter limits the concurrent queries, so that many slow ones leave connections to others
	// and no caller blocks the others.
	limiter *fairlimit.Limiter
}

// NewExecutor returns an Executor over the persons in the pool's database.
func NewExecutor(cfg Config, pool *pg.Pool) *Executor {
	cfg = defaults.Fill(cfg)
	return &Executor{pool: pool, timeout: cfg.Timeout, limiter: fairlimit.New(cfg.Concurrent)}
}

// Load returns the numbers of running and of waiting queries.
func (e *Executor) Load() (running, waiting int) { return e.limiter.Load() }

// Run passes the persons of a query to each, by ascending id: their id, number and full name.
// each must not retain the slices. If visible is not nil, Run passes only those persons.
func (e *Executor) Run(ctx context.Context, root *Node, days civil.Range, visible []int64, each func(id int64, number, name []byte)) error {
	tenantID := tenant.Of(ctx)
	release, err := e.limiter.Acquire(ctx, fairlimit.Holder{Tenant: tenantID, User: Caller(ctx)})
	if err != nil {
		return err
	}
	defer release()
	sql, args := Compile(tenantID, root, days, visible)
	batch := &pgx.Batch{}
	batch.Queue(SessionSettings, strconv.FormatInt(e.timeout.Milliseconds(), 10))
	batch.Queue(sql, args...)
	results := e.pool.SendBatch(ctx, batch)
	err = receive(results, each)
	if closeErr := results.Close(); err == nil {
		err = closeErr
	}
	if pgerr.TimedOut(err) {
		return fault.Invalid(CodeSlow, fmt.Sprintf("The query ran longer than %s and was stopped. "+
			"Make it simpler, or ask for fewer days.", e.timeout)).WithCause(err)
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
