// Package employeelock makes changes of the same employees' schedules wait for each
// other. Whoever changes spans, locks days or edits entries takes the lock
// first, and reads what the change depends on only then: each statement of a
// transaction sees what was committed before it began.
package employeelock

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
)

// BucketSize is how many consecutive employee ids share a lock. Sharing keeps
// the number of locks small when the employees are many.
const BucketSize = 1 << bucketBits

const bucketBits = 10

// lock has buckets as members.
const lock advisory.Lock = "schedules of employees"

// Bucket returns the bucket of an employee.
func Bucket(employeeID int64) int32 { return int32(employeeID >> bucketBits) }

// Range returns the first and the last employee that a bucket can have.
func Range(bucket int32) (first, last int64) {
	first = int64(bucket) << bucketBits
	return first, first + BucketSize - 1
}

// Buckets returns the distinct buckets of employees, ascending. The employees
// may come in any order.
func Buckets(employeeIDs []int64) []int32 {
	buckets := make([]int32, 0, min(len(employeeIDs), 64))
	for _, id := range employeeIDs {
		// Mostly the ids ascend, so that equal buckets follow one another.
		if b := Bucket(id); len(buckets) == 0 || buckets[len(buckets)-1] != b {
			buckets = append(buckets, b)
		}
	}
	slices.Sort(buckets)
	return slices.Compact(buckets)
}

// Lock waits until no other transaction holds a bucket of these employees, and
// holds them until tx ends. It must be the first statement that locks anything
// which other holders lock as well.
func Lock(ctx context.Context, tx pgx.Tx, tenantID int64, employeeIDs []int64) error {
	return lock.WaitEach(ctx, tx, tenantID, members(employeeIDs))
}

// Queue is Lock as the next statement of a batch.
func Queue(batch *pgx.Batch, tenantID int64, employeeIDs []int64) *pgx.QueuedQuery {
	return lock.QueueEach(batch, tenantID, members(employeeIDs))
}

func members(employeeIDs []int64) []int64 {
	buckets := Buckets(employeeIDs)
	members := make([]int64, len(buckets))
	for i, b := range buckets {
		members[i] = int64(b)
	}
	return members
}
