// Package condition builds conditions of SQL statements.
package condition

import (
	"fmt"
	"slices"
)

// AnyOf returns the condition that a column is one of the values of a list parameter; for example
// column "person_id" and list "$2::bigint[]". The condition includes the range of the values.
// Without statistics, the database assumes few rows for each tenant, and would read all of them for
// the list. With the range, it reads only the rows between the least and the greatest value, which
// lie together if they were created together. Once there are statistics, the database searches for
// each value of a scattered list.
func AnyOf(column, list string) string {
	return fmt.Sprintf("%[1]s = ANY(%[2]s) AND %[1]s BETWEEN (SELECT min(v) FROM unnest(%[2]s) AS v) AND (SELECT max(v) FROM unnest(%[2]s) AS v)",
		column, list)
}

// fewIDs is the largest number of ids for which the code prefers single searches.
const fewIDs = 64

// Dense reports whether ids are so many and so close together that reading the range from least to
// greatest costs less than a search for each: at least every second id of the range is in the list.
// Callers must filter the range again by the ids.
func Dense(ids []int64) (least, greatest int64, dense bool) {
	if len(ids) <= fewIDs {
		return 0, 0, false
	}
	least, greatest = slices.Min(ids), slices.Max(ids)
	return least, greatest, uint64(greatest)-uint64(least) < 2*uint64(len(ids))
}
