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
	// isolateFor is how long a worker stays with one batch: then the batches of others come
	// first. It stays up to maxIsolation while it has found nothing.
	isolateFor   = 5 * time.Second
	maxIsolation = 30 * time.Second
	// partTimeout is how long a statement about a part may take: it is small, and waits at
	// most for a few others like it.
	partTimeout = 3 * time.Second
	// maxFruitless is the most attempts at parts that may fail before one succeeds. When
	// they all fail, the reason is not one employee.
	maxFruitless = 40
	// firstSingles is the number of employees that are looked for before larger parts,
	// when nothing has succeeded: a propagation should name somebody early.
	firstSingles = 8
	// maxLogged is the most employees of one batch whose errors are logged.
	maxLogged = 20
)

const (
	// Not longer than a statement may take anyway.
	shortenTimeout = `
SELECT set_config('statement_timeout', CASE WHEN setting::bigint BETWEEN 1 AND $1 THEN setting ELSE $1::text END, true)
FROM pg_settings WHERE name = 'statement_timeout'`

	readFailures = `
SELECT employee_ids, failed_employee_ids, failed_codes FROM propagation_batch
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// It comes after the batches that are being worked on.
	putBack = `
UPDATE propagation_batch SET state = 'WAITING', turn = $4 WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`
)

// isolation divides a batch into parts until those that fail are single employees. What
// is done is committed part by part, and leaves the batch: wherever a process dies, the
// next one goes on with the employees that are left, and each is counted once.
type isolation struct {
	// parts are still to be tried, the leftmost last.
	parts [][]int64
	// failed are the employees for whom an attempt failed that was about nobody else.
	failed failures
	// successes are the parts that were done, and fruitless the attempts before the first.
	successes, fruitless, logged int
}

// isolate brings the employees of a batch up to date without those for whom that fails,
// who alone are left in it and named by the propagation. The cause is why the batch as a
// whole could not be done.
func (p *Propagator) isolate(ctx context.Context, key batchKey, cause error) error {
	tenantID := tenant.Of(ctx)
	s, err := p.startIsolation(ctx, tenantID, key)
	if err != nil || s == nil {
		return err
	}
	p.log.WarnContext(ctx, "a batch of a propagation fails, and is divided", "propagation", key.PropagationID, "batch", key.Batch, "error", cause)
	known := len(s.failed)
	for took := clock.Start(); len(s.parts) > 0; {
		switch progress := s.successes > 0 || len(s.failed) > known; {
		case s.successes == 0 && s.fruitless >= maxFruitless, !progress && took.Elapsed() > maxIsolation:
			return p.giveUp(ctx, key, cause)
		case progress && took.Elapsed() > isolateFor:
			return p.putBack(ctx, tenantID, key)
		}
		employees := s.next()
		failed, err := p.attempt(ctx, key, &part{employees: employees, failed: s.failed})
		switch {
		case err == nil:
			s.succeed(employees, failed)
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

// startIsolation returns the parts of a batch, or nil when it is done. The employees that
// failed before are parts of their own, and come last, in any order: when all of them were
// put aside together, each attempt looks at others first.
func (p *Propagator) startIsolation(ctx context.Context, tenantID int64, key batchKey) (*isolation, error) {
	var employees, failedIDs []int64
	var codes []string
	err := p.pool.QueryRow(ctx, readFailures, tenantID, key.PropagationID, key.Batch).Scan(&employees, &failedIDs, &codes)
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

// next takes a part: the leftmost, unless several employees have failed and nothing has
// succeeded; then the largest, which most likely holds somebody for whom it succeeds.
func (s *isolation) next() []int64 {
	at := len(s.parts) - 1
	if s.successes == 0 && len(s.failed) >= firstSingles {
		for i := range s.parts {
			if len(s.parts[i]) > len(s.parts[at]) {
				at = i
			}
		}
	}
	taken := s.parts[at]
	s.parts = append(s.parts[:at], s.parts[at+1:]...)
	return taken
}

// succeed notes that a part is done, but for employees whose spans cannot be computed.
func (s *isolation) succeed(employees []int64, failed failures) {
	for _, id := range employees {
		delete(s.failed, id)
	}
	s.failed = failed.with(s.failed)
	if len(failed) < len(employees) {
		s.successes++
	}
}

// divide puts the halves of a part that failed in its place.
func (s *isolation) divide(employees []int64) {
	s.fruitless++
	half := len(employees) / 2
	s.parts = append(s.parts, employees[half:], employees[:half])
}

// failOne notes an employee for whom an attempt fails, at once.
func (p *Propagator) failOne(ctx context.Context, key batchKey, s *isolation, employee int64, cause error) error {
	s.fruitless++
	s.failed[employee] = codeOf(cause)
	if s.logged++; s.logged <= maxLogged {
		p.metrics.failed.Inc()
		p.log.ErrorContext(ctx, "a propagation could not be applied to an employee", "propagation", key.PropagationID,
			"employee", employee, "code", s.failed[employee], "error", cause)
	}
	return p.storeFailures(ctx, key, func([]int64) failures { return s.failed })
}

// putBack lets the batch wait for its next turn with the employees that are left.
func (p *Propagator) putBack(ctx context.Context, tenantID int64, key batchKey) error {
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockWindow.Wait(ctx, tx, tenantID); err != nil {
			return err
		}
		var turn int64
		if err := tx.QueryRow(ctx, lastTurn, tenantID).Scan(&turn); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, putBack, tenantID, key.PropagationID, key.Batch, turn+1); err != nil {
			return err
		}
		return p.request(ctx, tx, tenantID)
	})
	if err != nil {
		return fmt.Errorf("propagation: put a batch back: %w", err)
	}
	return nil
}
