package propagation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/feed"
)

const (
	// A second worker with the same batch waits here for the first, and then
	// finds nothing.
	claimBatch = `
UPDATE propagation_batch SET done_at = clock_timestamp()
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3 AND done_at IS NULL
RETURNING employee_ids`

	// The range of employees keeps the search small whatever the plan is.
	moveToPast = `
WITH gone AS (
    DELETE FROM span s
    USING unnest($2::bigint[], $3::smallint[], $4::int[]) AS u (employee_id, lane, from_day)
    WHERE s.tenant_id = $1 AND s.employee_id = u.employee_id AND s.lane = u.lane
        AND s.from_date = '1970-01-01'::date + u.from_day AND s.employee_id BETWEEN $5 AND $6
    RETURNING s.*
)
INSERT INTO span_past (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count,
    assignment_id, inherited, propagation_id, believed_from, series)
SELECT tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count,
    assignment_id, inherited, propagation_id, believed_from, series FROM gone`

	// Lists that are unnested beside each other need no table in between.
	insertSpans = `
INSERT INTO span (tenant_id, propagation_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count,
    assignment_id, inherited, series)
SELECT $1, $2, unnest($3::bigint[]), unnest($4::smallint[]), '1970-01-01'::date + unnest($5::int[]),
    '1970-01-01'::date + unnest($6::int[]), unnest($7::bigint[]), unnest($8::int[]), unnest($9::int[]),
    unnest($10::bigint[]), unnest($11::bool[]), unnest($12::bigint[])`

	// All workers of a propagation meet in this row: it comes last, so that they
	// hold it only while they commit. The state of a failed one stays until no
	// batch is left.
	advancePropagation = `
UPDATE propagation SET employees_done = employees_done + $3, batches_done = batches_done + 1,
    spans_written = spans_written + $4, skipped_locked = skipped_locked + $5, skipped_cut_loose = skipped_cut_loose + $6,
    moved_at = clock_timestamp(), reminders = 0,
    state = CASE WHEN batches_done + 1 = batches_total THEN 'FINISHED' ELSE state END,
    finished_at = CASE WHEN batches_done + 1 = batches_total THEN clock_timestamp() END,
    error = CASE WHEN batches_done + 1 = batches_total THEN '' ELSE error END
WHERE tenant_id = $1 AND id = $2`
)

// desk is the memory that a worker uses for one batch after the other.
type desk struct {
	state   state
	changes changes
	series  seriesBlock
}

func (p *Propagator) takeDesk() *desk {
	select {
	case d := <-p.desks:
		return d
	default:
		return &desk{}
	}
}

func (p *Propagator) giveDesk(d *desk) {
	select {
	case p.desks <- d:
	default: // There are enough.
	}
}

// work brings the employees of a batch up to date. A batch that is done already
// is left alone.
func (p *Propagator) work(ctx context.Context, id int64, number int32) error {
	tenantID, err := tenantOf(ctx)
	if err != nil {
		return err
	}
	d := p.takeDesk()
	defer p.giveDesk(d)
	began, spans, done := time.Now(), 0, false
	// Whatever the database's default is: each statement must see what was
	// committed while the lock was waited for.
	fresh := pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	err = pg.InTxWith(ctx, p.pool, fresh, func(ctx context.Context, tx pgx.Tx) error {
		spans, done = 0, false
		employees, open, err := claim(ctx, tx, tenantID, id, number)
		if err != nil || !open {
			return err
		}
		if err := d.state.load(ctx, tx, tenantID, employees, true); err != nil {
			return err
		}
		take := func(count int32) (int64, error) { return d.series.take(ctx, tx, count) }
		if err := d.changes.compute(&d.state, employees, take); err != nil {
			return err
		}
		shifts, err := d.changes.rehide(ctx, tx, tenantID)
		if err != nil {
			return err
		}
		spans, done = len(d.changes.added.employees), true
		return d.changes.write(ctx, tx, tenantID, id, d.state.revision, len(employees), shifts)
	})
	if err == nil && done {
		p.wake()
		p.metrics.batch.Observe(time.Since(began).Seconds())
		p.metrics.spans.Add(float64(spans))
	}
	return err
}

// claim marks a batch as done by this transaction, and returns its employees.
// It answers false when the batch was done before.
func claim(ctx context.Context, tx pgx.Tx, tenantID, id int64, number int32) ([]int64, bool, error) {
	var employees []int64
	err := tx.QueryRow(ctx, claimBatch, tenantID, id, number).Scan(&employees)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("propagation: claim batch: %w", err)
	}
	return employees, true, nil
}

// write stores the changes and the progress of a batch of employees.
func (c *changes) write(ctx context.Context, tx pgx.Tx, tenantID, id, revision int64, employees int, shifts *feed.Shifts) error {
	batch := &pgx.Batch{}
	if r := &c.removed; len(r.employees) > 0 {
		first, last := r.employees[0], r.employees[len(r.employees)-1]
		batch.Queue(moveToPast, tenantID, r.employees, r.lanes, r.from, first, last)
	}
	if a := &c.added; len(a.employees) > 0 {
		batch.Queue(insertSpans, tenantID, id, a.employees, a.lanes, a.from, a.to, a.patterns, a.positions, a.dayCounts,
			a.assignments, a.inherited, a.series)
	}
	events := append(c.told.Events(revision), shifts.Events(revision)...)
	if len(c.employees) > 0 {
		events = append(events, c.event(id))
	}
	if err := outbox.Queue(ctx, batch, tenantID, events...); err != nil {
		return fmt.Errorf("propagation: tell of changes: %w", err)
	}
	batch.Queue(advancePropagation, tenantID, id, employees, len(c.added.employees), c.locked, c.cutLoose)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: write: %w", err)
	}
	return nil
}

func (c *changes) event(id int64) *schedulingv1.ScheduleChanged {
	return &schedulingv1.ScheduleChanged{
		EmployeeIds: c.employees, PropagationId: id,
		From: c.days.From.String(), To: c.days.To.AddDays(-1).String(),
	}
}
