// Package condition makes conditions of SQL statements.
package condition

import (
	"fmt"
	"slices"
)

// AnyOf returns the condition that a column is one of the values of a parameter, as
// "person_id" and "$2::bigint[]". It says the range of the values, too: a table that was
// never analyzed seems to have few rows of each tenant, so that a search for a list alone
// would read all of them. With the range, it reads what stands between the least and the
// greatest value, which come together when they were made together. Once there are
// statistics, the database searches for each value of a list that is scattered.
func AnyOf(column, list string) string {
	return fmt.Sprintf("%[1]s = ANY(%[2]s) AND %[1]s BETWEEN (SELECT min(v) FROM unnest(%[2]s) AS v) AND (SELECT max(v) FROM unnest(%[2]s) AS v)",
		column, list)
}

// fewIDs is up to how many ids are looked up one by one.
const fewIDs = 64

// Dense reports whether so many ids lie so close together, between the least and the
// greatest, that reading this range costs less than a search for each: at least every
// second id of it is there. Who reads the range drops what is not asked for.
func Dense(ids []int64) (least, greatest int64, dense bool) {
	if len(ids) <= fewIDs {
		return 0, 0, false
	}
	least, greatest = slices.Min(ids), slices.Max(ids)
	return least, greatest, uint64(greatest)-uint64(least) < 2*uint64(len(ids))
}
