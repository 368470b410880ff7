package schedulepreview

import (
	"cmp"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// shiftChanges counts the differences between the shifts of an employee.
type shiftChanges struct{ added, removed, changed int64 }

// compareShifts compares the shifts of an employee before and after a change. Shifts are equal if
// their times and their content are. The other shifts of a day are paired in their order: a pair is
// a changed shift, and the rest is added or removed. Both lists are ordered by day, times and
// content.
func compareShifts(before, after []reading.PlannedShift) shiftChanges {
	var out shiftChanges
	for len(before) > 0 || len(after) > 0 {
		var b, a []reading.PlannedShift
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].Day < after[0].Day:
			b, before = cutDay(before)
		case len(before) == 0 || after[0].Day < before[0].Day:
			a, after = cutDay(after)
		default:
			b, before = cutDay(before)
			a, after = cutDay(after)
		}
		onlyBefore, onlyAfter := countDifferent(b, a)
		pairs := min(onlyBefore, onlyAfter)
		out.changed += pairs
		out.removed += onlyBefore - pairs
		out.added += onlyAfter - pairs
	}
	return out
}

// cutDay returns the shifts of the first day, and the rest.
func cutDay(list []reading.PlannedShift) (day, rest []reading.PlannedShift) {
	n := 1
	for n < len(list) && list[n].Day == list[0].Day {
		n++
	}
	return list[:n], list[n:]
}

// countDifferent counts the shifts of a day that are only in one of two lists.
func countDifferent(before, after []reading.PlannedShift) (onlyBefore, onlyAfter int64) {
	for len(before) > 0 && len(after) > 0 {
		switch c := compareShift(&before[0], &after[0]); {
		case c < 0:
			onlyBefore++
			before = before[1:]
		case c > 0:
			onlyAfter++
			after = after[1:]
		default:
			before, after = before[1:], after[1:]
		}
	}
	return onlyBefore + int64(len(before)), onlyAfter + int64(len(after))
}

func compareShift(a, b *reading.PlannedShift) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Content, b.Content))
}
