package propagator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// isolateFor is the time that a worker spends on one batch before batches of others get their
	// turn. Without any progress it goes on until maxIsolation.
	isolateFor   = 5 * time.Second
	maxIsolation = 30 * time.Second
	// partTimeout is the statement timeout for a part. A part is small, and waits at most for a few
	// others like it.
	partTimeout = 3 * time.Second
	// maxFruitless is the number of failed attempts before the first success. If all of them fail,
	// the cause is not a single employee.
	maxFruitless = 40
	// firstSingles is the number of single employees that are searched for before larger parts
	// while nothing succeeds, so that the propagation lists failures early.
	firstSingles = 8
	// maxLogged limits the employees of one batch whose errors are logged.
	maxLogged = 20
)

const (
	// Never longer than the configured timeout.
	shortenTimeout = `
SELECT set_config('statement_timeout', CASE WHEN setting::bigint BETWEEN 1 AND $1 THEN setting ELSE $1::text END, true)
FROM pg_settings WHERE name = 'statement_timeout'`

	readFailures = `
SELECT employee_ids, failed_employee_ids, failed_codes FROM propagation_batch
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// Its turn is after the batches that are being processed.
	requeueBatch = `
UPDATE propagation_batch SET state = 'WAITING', turn = $4
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 AND state <> 'PAUSED'`
)

// isolation divides a batch into parts until the failing parts are single employees. Each
// successful part is committed and leaves the batch. If a process dies, the next one continues with
// the remaining employees, and each employee is counted once.
type isolation struct {
	// parts are still to be tried, from last to first.
	parts [][]int64
	// failed are the employees that failed alone.
	failed failures
	// successes counts successful parts. fruitless counts the attempts before the first success.
	successes, fruitless, logged int
}

// isolate updates the employees of a batch except those that fail. Only the failed employees remain
// in the batch, and the propagation lists them. cause is the error of the whole batch.
func (p *Propagator) isolate(ctx context.Context, key batchKey, cause error) error {
	s, err := p.startIsolation(ctx, key)
	if err != nil || s == nil {
		return err
	}
	p.log.WarnContext(ctx, "a batch of a propagation fails, and is divided", "propagation", key.PropagationID, "batch", key.Batch, "error", cause)
	before := len(s.failed)
	for took := clock.Start(); len(s.parts) > 0; {
		switch progress := s.successes > 0 || len(s.failed) > before; {
		case s.successes == 0 && s.fruitless >= maxFruitless, !progress && took.Elapsed() > maxIsolation:
			return p.giveUp(ctx, key, cause)
		case progress && took.Elapsed() > isolateFor:
			return p.requeue(ctx, key)
		}
		employees := s.next()
		failed, err := p.updateBatch(ctx, key, &part{employees: employees, failed: s.failed})
		switch {
		case err == nil:
			s.recordSuccess(employees, failed)
		case errors.Is(err, errBatchDone):
			return nil
		case ctx.Err() != nil || pgerr.Unavailable(err) || pgerr.Exhausted(err):
			return err
		case len(employees) > 1:
			s.divide(employees)
		default:
			if err := p.failOne(ctx, key, s, employees[0], err); err != nil {
				return err
			}
		}
	}
	return nil
}

// startIsolation returns the parts of a batch, or nil if the batch is done. Employees that failed
// before become single parts that are tried last, in random order, so that each attempt begins with
// others.
func (p *Propagator) startIsolation(ctx context.Context, key batchKey) (*isolation, error) {
	var employees, failedIDs []int64
	var codes []string
	err := p.pool.QueryRow(ctx, readFailures, tenant.Of(ctx), key.PropagationID, key.Batch).Scan(&employees, &failedIDs, &codes)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("propagation: read failures: %w", err)
	}
	s := &isolation{failed: failures{}}
	for i, id := range failedIDs {
		s.failed[id] = codes[i]
	}
	var others []int64
	for _, id := range employees {
		if s.failed[id] == "" {
			others = append(others, id)
		} else {
			s.parts = append(s.parts, []int64{id})
		}
	}
	rand.Shuffle(len(s.parts), func(i, j int) { s.parts[i], s.parts[j] = s.parts[j], s.parts[i] })
	if len(others) > 0 {
		s.parts = append(s.parts, others)
	}
	return s, nil
}

// next removes and returns a part. That is the last one, unless several employees have failed and
// nothing succeeded; then it is the largest, which most likely contains an employee that succeeds.
func (s *isolation) next() []int64 {
	at := len(s.parts) - 1
	if s.successes == 0 && len(s.failed) >= firstSingles {
		for i := range s.parts {
			if len(s.parts[i]) > len(s.parts[at]) {
				at = i
			}
		}
	}
	chosen := s.parts[at]
	s.parts = append(s.parts[:at], s.parts[at+1:]...)
	return chosen
}

// recordSuccess records a successful part. failed are the employees whose spans could not be computed.
func (s *isolation) recordSuccess(employees []int64, failed failures) {
	for _, id := range employees {
		delete(s.failed, id)
	}
	s.failed = failed.merge(s.failed)
	if len(failed) < len(employees) {
		s.successes++
	}
}

// divide replaces a failed part by its halves.
func (s *isolation) divide(employees []int64) {
	s.fruitless++
	half := len(employees) / 2
	s.parts = append(s.parts, employees[half:], employees[:half])
}

// failOne records the failure of a single employee at once.
func (p *Propagator) failOne(ctx context.Context, key batchKey, s *isolation, employee int64, cause error) error {
	s.fruitless++
	s.failed[employee] = failureCode(cause)
	if s.logged++; s.logged <= maxLogged {
		p.metrics.failed.Inc()
		p.log.ErrorContext(ctx, "a propagation could not be applied to an employee", "propagation", key.PropagationID,
			"employee", employee, "code", s.failed[employee], "error", cause)
	}
	return p.storeFailures(ctx, key, func([]int64) failures { return s.failed })
}

// requeue gives the batch another turn with the remaining employees.
func (p *Propagator) requeue(ctx context.Context, key batchKey) error {
	tenantID := tenant.Of(ctx)
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx); err != nil {
			return err
		}
		var turn int64
		if err := tx.QueryRow(ctx, lastTurn, tenantID).Scan(&turn); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, requeueBatch, tenantID, key.PropagationID, key.Batch, turn+1); err != nil {
			return err
		}
		return p.request(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("propagation: put a batch back: %w", err)
	}
	return nil
}
