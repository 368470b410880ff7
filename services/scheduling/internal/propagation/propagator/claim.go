package propagator

import (
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

const (
	// maxClaimed limits the batches that are processed together, and maxEmployees limits their
	// employees.
	maxClaimed   = 100
	maxEmployees = 2 * batchEmployees
)

const (
	// Open batches of all propagations whose employee locks are held, including the batch itself. A
	// part of a batch that timed out is processed alone.
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

	// The remaining employees of a batch are the failed ones and, while it is processed in parts,
	// the employees of the other parts.
	updateLeft = `
UPDATE propagation_batch SET employee_ids = $4, first_employee_id = $5, buckets = $6, failed_employee_ids = $7, failed_codes = $8,
    state = CASE WHEN $9 THEN 'FAILED' ELSE state END
WHERE tenant_id = $1 AND propagation_id = $2 AND batch = $3`

	// A failed or paused propagation stays so until no batch remains.
	advancePropagations = `
UPDATE propagation p SET employees_done = employees_done + u.employees, batches_done = batches_done + u.batches,
    spans_written = spans_written + u.spans, employees_changed = employees_changed + u.changed, skipped_locked = skipped_locked + u.locked,
    skipped_cut_loose = skipped_cut_loose + u.cut_loose, moved_at = clock_timestamp(),
    reminders = CASE WHEN u.employees > 0 THEN 0 ELSE reminders END,
    state = CASE WHEN batches_done + u.batches = batches_total THEN 'FINISHED'
        WHEN u.failed AND state <> 'PAUSED' THEN 'FAILED' ELSE state END,
    finished_at = CASE WHEN batches_done + u.batches = batches_total THEN clock_timestamp() END,
    error = CASE WHEN batches_done + u.batches = batches_total THEN '' WHEN u.failed THEN $9 ELSE error END
FROM unnest($2::bigint[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[], $8::bool[],
    $10::int[]) AS u (id, employees, batches, spans, locked, cut_loose, failed, changed)
WHERE p.tenant_id = $1 AND p.applied_by = u.id AND p.state <> 'FINISHED'`
)

// openBatch is an open batch of a propagation.
type openBatch struct {
	batchKey
	employees []int64
	part      bool
}

// claim is a batch with the batches that are processed together with it. A worker applies all
// changes that were stored before, so that it completes those batches, too.
type claim struct {
	open    []openBatch
	batches []openBatch
	// employees are the employees to process, in ascending order: of all batches, or of a part of
	// one batch.
	employees []int64
	// failed are the employees of other parts of the batch that failed.
	failed failures
}

// queue adds a statement that reads the open batches. It must follow the statement that locks the
// employees.
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
				var o openBatch
				if err := rows.Scan(&o.PropagationID, &o.Batch, &o.employees, &o.part); err != nil {
					return err
				}
				c.open = append(c.open, o)
			}
			return rows.Err()
		})
}

// choose selects the batch and as many of the others as the limits allow. It returns false if the
// batch is no longer open.
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

// choosePart selects the employees of the part that are still in the batch, and the other batches
// that contain some of them. It returns false if the batch is no longer open.
func (c *claim) choosePart(key batchKey, part *part) bool {
	c.batches, c.employees, c.failed = c.batches[:0], nil, part.failed
	if len(c.open) == 0 || c.open[0].batchKey != key {
		return false
	}
	c.employees = intersect(part.employees, c.open[0].employees)
	for i, o := range c.open {
		if i == 0 || !c.open[0].part && len(intersect(c.employees, o.employees)) > 0 {
			c.batches = append(c.batches, o)
		}
	}
	return true
}

// newest returns the latest of the applied propagations.
func (c *claim) newest() int64 {
	newest := int64(0)
	for _, b := range c.batches {
		newest = max(newest, b.PropagationID)
	}
	return newest
}

// progress collects the results of the claimed batches by propagation.
type progress struct {
	ids                                                  []int64
	employees, batches, spans, locked, detached, changed []int32
	failed                                               []bool
}

// finish completes the batches and counts the progress of their propagations. A result for an
// employee counts for each of them.
func (c *claim) finish(batch *pgx.Batch, tenantID int64, done *reconcile.Changes) error {
	var p progress
	var propagations []int64
	var numbers []int32
	failed := collectFailures(done)
	for _, b := range c.batches {
		at := slices.Index(p.ids, b.PropagationID)
		if at < 0 {
			at = len(p.ids)
			p.add(b.PropagationID)
		}
		attempted := intersect(c.employees, b.employees)
		p.employees[at] += int32(len(attempted) - len(intersect(done.Failed, attempted)))
		p.spans[at] += int32(len(intersect(done.AddedEmployees(), b.employees)))
		p.locked[at] += int32(len(intersect(done.Locked, b.employees)))
		p.detached[at] += int32(len(intersect(done.Detached, b.employees)))
		p.changed[at] += int32(len(intersect(done.ChangedEmployees(), b.employees)))
		if err := done.QueueFindings(batch, tenantID, b.PropagationID, b.employees); err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(b.employees), func(id int64) bool {
			_, attempt := slices.BinarySearch(attempted, id)
			return attempt && failed[id] == ""
		})
		if len(left) == 0 {
			p.batches[at]++
			propagations, numbers = append(propagations, b.PropagationID), append(numbers, b.Batch)
			continue
		}
		ids, codes := failed.merge(c.failed).columns(left)
		p.failed[at] = p.failed[at] || len(ids) > 0
		batch.Queue(updateLeft, tenantID, b.PropagationID, b.Batch, left, left[0], employeelock.Buckets(left), ids, codes, len(ids) == len(left))
	}
	lockWindow.Queue(batch, tenantID)
	batch.Queue(deleteBatches, tenantID, propagations, numbers)
	batch.Queue(advancePropagations, tenantID, p.ids, p.employees, p.batches, p.spans, p.locked, p.detached, p.failed,
		failed.merge(c.failed).text(), p.changed)
	return nil
}

func (p *progress) add(id int64) {
	p.ids = append(p.ids, id)
	p.employees, p.batches, p.spans = append(p.employees, 0), append(p.batches, 0), append(p.spans, 0)
	p.locked, p.detached, p.failed = append(p.locked, 0), append(p.detached, 0), append(p.failed, false)
	p.changed = append(p.changed, 0)
}

// intersect returns the ids that are also in others. Both ascend. ids may contain duplicates.
func intersect(ids, others []int64) []int64 {
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
