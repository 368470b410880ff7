// Package employeelock serializes changes of the same employees' schedules. Before changing spans,
// locking days or editing entries, acquire the lock, and only then read the data that the change
// depends on: each statement sees everything that was committed before the statement began.
package employeelock

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
)

// BucketSize is the number of consecutive employee ids that share a lock. Sharing limits the number
// of locks.
const BucketSize = 1 << bucketBits

const bucketBits = 10

// lock has buckets as members.
const lock advisory.Lock = "schedules of employees"

// Bucket returns the bucket of an employee.
func Bucket(employeeID int64) int32 { return int32(employeeID >> bucketBits) }

// Range returns the first and the last possible employee id of a bucket.
func Range(bucket int32) (first, last int64) {
	first = int64(bucket) << bucketBits
	return first, first + BucketSize - 1
}

// Buckets returns the distinct buckets of employees, ascending. The employees can be in any order.
func Buckets(employeeIDs []int64) []int32 {
	buckets := make([]int32, 0, min(len(employeeIDs), 64))
	for _, id := range employeeIDs {
		// The ids mostly ascend, so that equal buckets are adjacent.
		if b := Bucket(id); len(buckets) == 0 || buckets[len(buckets)-1] != b {
			buckets = append(buckets, b)
		}
	}
	slices.Sort(buckets)
	return slices.Compact(buckets)
}

// Lock waits until no other transaction holds a bucket of these employees, and holds the buckets
// until tx ends. It must precede all other locks that other holders of the buckets also acquire.
func Lock(ctx context.Context, tx pgx.Tx, employeeIDs []int64) error {
	return lock.WaitEach(ctx, tx, members(employeeIDs))
}

// Queue adds Lock as the next statement of a batch.
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
