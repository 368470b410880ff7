package record

// Around returns the cursors around a page with these times.
func Around(after, before int64, changes []int64, more bool) (prev, next string) {
	p := page{after: after, before: before}.around(changes, more)
	return p.Prev, p.Next
}
