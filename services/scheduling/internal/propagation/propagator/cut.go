package propagator

import "github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"

const (
	// batchEmployees is the approximate number of employees in a batch. It is large enough that the
	// round trips of its transaction do not matter, and small enough that other transactions wait
	// only milliseconds for its employees.
	batchEmployees = 1000
	// batchBuckets limits the locks of a batch whose employees are far apart.
	batchBuckets = 64
)

// splitBatches divides ascending employee ids into batches. Batches do not share buckets of
// employee locks, so that the batches of a propagation never wait for each other. The result shares
// the memory of ids.
func splitBatches(ids []int64) [][]int64 {
	var batches [][]int64
	start, buckets := 0, 0
	for from := 0; from < len(ids); {
		to := endOfBucket(ids, from)
		if buckets > 0 && (to-start > batchEmployees || buckets == batchBuckets) {
			batches = append(batches, ids[start:from])
			start, buckets = from, 0
		}
		buckets++
		from = to
	}
	if start < len(ids) {
		batches = append(batches, ids[start:])
	}
	return batches
}

// endOfBucket returns the position after the last id in the bucket of ids[from].
func endOfBucket(ids []int64, from int) int {
	bucket := employeelock.Bucket(ids[from])
	to := from + 1
	for to < len(ids) && employeelock.Bucket(ids[to]) == bucket {
		to++
	}
	return to
}
