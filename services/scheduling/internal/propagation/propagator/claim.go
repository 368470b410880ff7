package propagator

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

const (
	// maxClaimed bounds the batches that are done at once, and maxEmployees
	// their employees.
	maxClaimed   = 100
	maxEmployees = 2 * batchEmployees
)

const (
	// Open batches of any propagation whose locks are held, so that nobody else
	// claims them, and the batch itself. A part of one that took too long is done
	// alone.
	selectClaimable = `
SELECT b.propagation_id, b.batch, b.employee_ids, b.part
FROM unnest($2::bigint[], $3::bigint[]) AS r (first, last)
CROSS JOIN LATERAL (
    SELECT * FROM propagation_batch
    WHERE tenant_id = $1 AND first_employee_id BETWEEN r.first AND r.last AND buckets <@ $4
        AND (NOT part OR propagation_id = $5 AND batch = $6) OFFSET 0
) AS b
ORDER BY (b.propagation_id = $5 AND b.batch = $6) DESC, b.propagation_id DESC, b.batch LIMIT $7`

	deleteBatches = `
DELETE FROM propagation_batch b USING unnest($2::bigint[], $3::int[]) AS u (propagation_id, batch)
WHERE b.tenant_id = $1 AND b.propagation_id = u.propagation_id AND b.batch = u.batch`

	// What is left of a batch are the employees who could not be brought up to date, and,
	// while it is done part by part, those of the other parts.
	updateLeft = `
UPDATE propagation_batch SET employee_ids = $4, first_employee_id = $5, buckets = $6, failed_employee_ids = $7, failed_codes = $8,
    state = CASE WHEN $9 THEN 'FAILED' ELSE state END
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// The state of a failed one stays until no batch is left.
	advancePropagations = `
UPDATE propagation p SET employees_done = employees_done + u.employees, batches_done = batches_done + u.batches,
    spans_written = spans_written + u.spans, skipped_locked = skipped_locked + u.locked,
    skipped_cut_loose = skipped_cut_loose + u.cut_loose, moved_at = clock_timestamp(),
    reminders = CASE WHEN u.employees > 0 THEN 0 ELSE reminders END,
    state = CASE WHEN batches_done + u.batches = batches_total THEN 'FINISHED' WHEN u.failed THEN 'FAILED' ELSE state END,
    finished_at = CASE WHEN batches_done + u.batches = batches_total THEN clock_timestamp() END,
    error = CASE WHEN batches_done + u.batches = batches_total THEN '' WHEN u.failed THEN $9 ELSE error END
FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::bool[])
    AS u (id, employees, batches, spans, locked, cut_loose, failed)
WHERE p.tenant_id = $1 AND p.applied_by = u.id AND p.state <> 'FINISHED'`
)

// claimed is an open batch.
type claimed struct {
	batchKey
	employees []int64
	part      bool
}

// claim is a batch with those that are done together with it, because a worker
// brings employees up to date with all changes that were stored by then.
type claim struct {
	open    []claimed
	batches []claimed
	// employees are those who are brought up to date: of all batches, or of a part of
	// the one batch, ascending.
	employees []int64
	// failed are the employees of other parts of the batch that failed.
	failed failures
}

// queue asks for the open batches that can be done with one, as the next
// statement of a batch that locked its employees.
func (c *claim) queue(batch *pgx.Batch, tenantID int64, key batchKey, employees []int64) {
	c.open = c.open[:0]
	buckets := employeelock.Buckets(employees)
	first, last := make([]int64, len(buckets)), make([]int64, len(buckets))
	for i, b := range buckets {
		first[i], last[i] = employeelock.Range(b)
	}
	batch.Queue(selectClaimable, tenantID, first, last, buckets, key.PropagationID, key.Batch, maxClaimed).
		Query(func(rows pgx.Rows) error {
			for rows.Next() {
				var o claimed
				if err := rows.Scan(&o.PropagationID, &o.Batch, &o.employees, &o.part); err != nil {
					return err
				}
				c.open = append(c.open, o)
			}
			return rows.Err()
		})
}

// choose takes the batch and as many of the others as are bounded. It returns
// false when the batch is no longer open.
func (c *claim) choose(key batchKey, employees []int64) bool {
	c.batches, c.employees, c.failed = c.batches[:0], employees, nil
	if len(c.open) == 0 || c.open[0].batchKey != key {
		return false
	}
	if c.open[0].part {
		c.open = c.open[:1]
	}
	for _, o := range c.open {
		if !slices.Equal(o.employees, c.employees) {
			union := append(slices.Clone(c.employees), o.employees...)
			slices.Sort(union)
			union = slices.Compact(union)
			if len(union) > maxEmployees && len(union) > len(c.employees) {
				continue
			}
			c.employees = union
		}
		c.batches = append(c.batches, o)
	}
	return true
}

// choosePart takes the employees of the batch that are in the part, and the other batches
// that have some of them. It returns false when the batch is no longer open.
func (c *claim) choosePart(key batchKey, part *part) bool {
	c.batches, c.employees, c.failed = c.batches[:0], nil, part.failed
	if len(c.open) == 0 || c.open[0].batchKey != key {
		return false
	}
	c.employees = shared(part.employees, c.open[0].employees)
	for i, o := range c.open {
		if i == 0 || !c.open[0].part && len(shared(c.employees, o.employees)) > 0 {
			c.batches = append(c.batches, o)
		}
	}
	return true
}

// newest is the latest change among those that are applied.
func (c *claim) newest() int64 {
	newest := int64(0)
	for _, b := range c.batches {
		newest = max(newest, b.PropagationID)
	}
	return newest
}

// progress is what the claimed batches of one propagation add to it.
type progress struct {
	ids                                         []int64
	employees, batches, spans, locked, detached []int32
	failed                                      []bool
}

// finish ends the batches and counts the progress of their propagations. Each
// counts what was done for its employees, also where others count it as well.
func (c *claim) finish(batch *pgx.Batch, tenantID int64, done *reconcile.Changes) {
	var p progress
	var propagations []int64
	var numbers []int32
	failed := failuresOf(done)
	for _, b := range c.batches {
		at := slices.Index(p.ids, b.PropagationID)
		if at < 0 {
			at = len(p.ids)
			p.add(b.PropagationID)
		}
		attempted := shared(c.employees, b.employees)
		p.employees[at] += int32(len(attempted) - len(shared(done.Failed, attempted)))
		p.spans[at] += int32(len(shared(done.AddedEmployees(), b.employees)))
		p.locked[at] += int32(len(shared(done.Locked, b.employees)))
		p.detached[at] += int32(len(shared(done.Detached, b.employees)))
		left := slices.DeleteFunc(slices.Clone(b.employees), func(id int64) bool {
			_, attempt := slices.BinarySearch(attempted, id)
			return attempt && failed[id] == ""
		})
		if len(left) == 0 {
			p.batches[at]++
			propagations, numbers = append(propagations, b.PropagationID), append(numbers, b.Batch)
			continue
		}
		ids, codes := failed.with(c.failed).columns(left)
		p.failed[at] = p.failed[at] || len(ids) > 0
		batch.Queue(updateLeft, tenantID, b.PropagationID, b.Batch, left, left[0], employeelock.Buckets(left), ids, codes, len(ids) == len(left))
	}
	lockWindow.Queue(batch, tenantID)
	batch.Queue(deleteBatches, tenantID, propagations, numbers)
	batch.Queue(advancePropagations, tenantID, p.ids, p.employees, p.batches, p.spans, p.locked, p.detached, p.failed,
		failed.with(c.failed).text())
}

func (p *progress) add(id int64) {
	p.ids = append(p.ids, id)
	p.employees, p.batches, p.spans = append(p.employees, 0), append(p.batches, 0), append(p.spans, 0)
	p.locked, p.detached, p.failed = append(p.locked, 0), append(p.detached, 0), append(p.failed, false)
}

// shared returns those of ids that are among others. Both ascend, and ids may
// have some of them more than once.
func shared(ids, others []int64) []int64 {
	var found []int64
	for _, id := range ids {
		for len(others) > 0 && others[0] < id {
			others = others[1:]
		}
		if len(others) > 0 && others[0] == id {
			found = append(found, id)
		}
	}
	return found
}
