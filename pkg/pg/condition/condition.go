// Package condition makes conditions of SQL statements.
package condition

import (
	"fmt"
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
