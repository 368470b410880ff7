package propagation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
)

const (
	readBatch = `
SELECT employee_ids FROM propagation_batch WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// The range of employees keeps the search small whatever the plan is.
	moveToPast = `
WITH gone AS (
    DELETE FROM span s
    USING unnest($2::bigint[], $3::smallint[], $4::int[]) AS u (employee_id, lane, from_day)
    WHERE s.tenant_id = $1 AND s.employee_id = u.employee_id AND s.lane = u.lane
        AND s.from_date = '1970-01-01'::date + u.from_day AND s.employee_id BETWEEN $5 AND $6
    RETURNING s.*
)
INSERT INTO span_past_block (tenant_id, first_employee_id, last_employee_id, believed_until, employee_ids, lanes, from_dates, to_dates,
    pattern_ids, positions, day_counts, assignment_ids, inherited, propagation_ids, believed_from, series)
SELECT $1, min(employee_id), max(employee_id), (SELECT change_time()), array_agg(employee_id), array_agg(lane), array_agg(from_date),
    array_agg(to_date), array_agg(pattern_id), array_agg(position), array_agg(day_count), array_agg(assignment_id),
    array_agg(inherited), array_agg(propagation_id), array_agg(believed_from), array_agg(series)
FROM gone HAVING count(*) > 0`

	// Lists that are unnested beside each other need no table in between. The time
	// of the change is asked for once, and not for each row.
	insertSpans = `
INSERT INTO span (tenant_id, propagation_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count,
    assignment_id, inherited, series, believed_from)
SELECT $1, $2, unnest($3::bigint[]), unnest($4::smallint[]), '1970-01-01'::date + unnest($5::int[]),
    '1970-01-01'::date + unnest($6::int[]), unnest($7::bigint[]), unnest($8::int[]), unnest($9::int[]),
    unnest($10::bigint[]), unnest($11::bool[]), unnest($12::bigint[]), (SELECT change_time())`
)

// scratch is the buffers that a worker uses for one batch after the other.
type scratch struct {
	state   state
	changes changes
	series  seriesBlock
	claim   claim
}

func (p *Propagator) takeScratch() *scratch {
	select {
	case d := <-p.scratches:
		return d
	default:
		return &scratch{}
	}
}

func (p *Propagator) giveScratch(d *scratch) {
	select {
	case p.scratches <- d:
	default: // There are enough.
	}
}

// work brings the employees of a batch up to date, and those of the open batches
// of other propagations that hold the same locks. A batch that is done already
// is left alone.
func (p *Propagator) work(ctx context.Context, key batchKey) error {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return err
	}
	d := p.takeScratch()
	defer p.giveScratch(d)
	began, done := time.Now(), false
	// Whatever the database's default is: each statement must see what was
	// committed while the lock was waited for.
	fresh := pgx.TxOptions{IsoLevel: pgx.ReadCommitted}
	err = pg.InTxWith(ctx, p.pool, fresh, func(ctx context.Context, tx pgx.Tx) error {
		done, err = d.begin(ctx, tx, tenantID, key)
		if err != nil || !done {
			return err
		}
		take := func(count int32) (int64, error) { return d.series.take(ctx, tx, count) }
		if err := d.changes.compute(&d.state, d.claim.employees, take); err != nil {
			return err
		}
		shifts, err := d.changes.rehide(ctx, tx, tenantID)
		if err != nil {
			return err
		}
		return p.write(ctx, tx, tenantID, d, shifts)
	})
	if err != nil || !done {
		return err
	}
	p.wake()
	p.metrics.batch.Observe(time.Since(began).Seconds())
	p.metrics.spans.Add(float64(len(d.changes.added.employees)))
	p.metrics.overtaken.Add(float64(len(d.claim.batches) - 1))
	if d.changes.failure != nil {
		p.metrics.failed.Inc()
		p.log.ErrorContext(ctx, "a propagation could not be applied to employees", "propagation", key.PropagationID,
			"employees", len(d.changes.failed), "first", d.changes.failed[0], "error", d.changes.failure)
	}
	return nil
}

// begin locks the employees of a batch, claims it with what can be done beside
// it, and reads the state of all their employees. It returns false when the
// batch was done before.
func (d *scratch) begin(ctx context.Context, tx pgx.Tx, tenantID int64, key batchKey) (bool, error) {
	var employees []int64
	err := tx.QueryRow(ctx, readBatch, tenantID, key.PropagationID, key.Batch).Scan(&employees)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("propagation: read batch: %w", err)
	}
	batch := &pgx.Batch{}
	employeelock.Queue(batch, tenantID, employees)
	batch.Queue(scheduleevent.NextRevision).QueryRow(func(row pgx.Row) error { return row.Scan(&d.state.revision) })
	d.claim.queue(batch, tenantID, key, employees)
	d.state.queue(batch, tenantID, employees)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return false, fmt.Errorf("propagation: read state: %w", err)
	}
	if !d.claim.choose(key, employees) {
		return false, nil
	}
	if len(d.claim.employees) > len(employees) {
		// Their locks are those that are held.
		return true, d.state.load(ctx, tx, tenantID, d.claim.employees)
	}
	return true, d.state.loadAssignments(ctx, tx, tenantID)
}

// write stores the changes and the progress of the claimed batches, and asks for
// those whose turn is next.
func (p *Propagator) write(ctx context.Context, tx pgx.Tx, tenantID int64, d *scratch, shifts *scheduleevent.Shifts) error {
	c, batch := &d.changes, &pgx.Batch{}
	newest := d.claim.newest()
	if r := &c.removed; len(r.employees) > 0 {
		first, last := r.employees[0], r.employees[len(r.employees)-1]
		batch.Queue(moveToPast, tenantID, r.employees, r.lanes, r.from, first, last)
	}
	if a := &c.added; len(a.employees) > 0 {
		batch.Queue(insertSpans, tenantID, newest, a.employees, a.lanes, a.from, a.to, a.patterns, a.positions, a.dayCounts,
			a.assignments, a.inherited, a.series)
	}
	events := append(c.told.Events(d.state.revision), shifts.Events(d.state.revision)...)
	if len(c.employees) > 0 {
		events = append(events, c.event(newest))
	}
	if err := outbox.Queue(ctx, batch, tenantID, events...); err != nil {
		return fmt.Errorf("propagation: tell of changes: %w", err)
	}
	d.claim.finish(batch, tenantID, c)
	var next []turn
	p.queueNext(batch, tenantID, &next)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: write: %w", err)
	}
	return requestBatches(ctx, tx, tenantID, next)
}

func (c *changes) event(id int64) *schedulingv1.ScheduleChanged {
	return &schedulingv1.ScheduleChanged{
		EmployeeIds: c.employees, PropagationId: id,
		From: c.days.From.String(), To: c.days.To.AddDays(-1).String(),
	}
}
