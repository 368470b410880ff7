package cursor

import "slices"

// Cut returns the first size rows of a list, and the cursor of the page after them. The list has one more
// row if another page follows; otherwise the cursor is "". key returns the key of a row.
func Cut[K, R any](q *Query[K], rows []R, size int, key func(R) K) (page []R, next string) {
	if len(rows) <= size {
		return rows, ""
	}
	return rows[:size], q.Next(key(rows[size-1]))
}

// Pick returns the page that a query names from all rows of a list, at most size of them in the order of
// their keys, and the cursor of the page after them, or "" on the last page. compare orders keys. Pick
// changes the order of rows.
func Pick[K, R any](q *Query[K], rows []R, size int, key func(R) K, compare func(a, b K) int) (page []R, next string) {
	if q.After != nil {
		rows = slices.DeleteFunc(rows, func(r R) bool { return compare(key(r), *q.After) <= 0 })
	}
	slices.SortFunc(rows, func(a, b R) int { return compare(key(a), key(b)) })
	return Cut(q, rows, size, key)
}
