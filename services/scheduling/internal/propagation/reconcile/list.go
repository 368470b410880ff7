package reconcile

import "sort"

// list holds the values of many owners in ascending order. Its memory is reused for the next batch.
type list[T any] struct {
	owners []int64
	values []T
	at     int
}

func (l *list[T]) reset() {
	l.owners, l.values, l.at = l.owners[:0], l.values[:0], 0
}

func (l *list[T]) add(owner int64, value T) {
	l.owners, l.values = append(l.owners, owner), append(l.values, value)
}

// next returns the values of an owner. Successive calls must ask for ascending owners.
func (l *list[T]) next(owner int64) []T {
	for l.at < len(l.owners) && l.owners[l.at] < owner {
		l.at++
	}
	from := l.at
	for l.at < len(l.owners) && l.owners[l.at] == owner {
		l.at++
	}
	return l.values[from:l.at:l.at]
}

// find returns the values of any owner.
func (l *list[T]) find(owner int64) []T {
	from := sort.Search(len(l.owners), func(i int) bool { return l.owners[i] >= owner })
	to := from
	for to < len(l.owners) && l.owners[to] == owner {
		to++
	}
	return l.values[from:to:to]
}
