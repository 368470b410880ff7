package span_test

import (
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// The oracle works out a schedule the slow way: one day after the other, straight from the rules, without spans,
// compiled patterns or the arithmetic of cycles.

// cycle is a pattern as its author wrote it.
type cycle struct {
	id    int64
	days  int32
	items []rotation.Item
}

// layer is what generates on one day in one lane.
type layer struct {
	assignment int64
	inherited  bool
	pattern    int64
	position   int32
}

// shown is one entry of a schedule.
type shown struct {
	day        civil.Date
	lane       uint8
	ordinal    uint8
	start, end int64 // clock-face seconds
	kind       rotation.Kind
	template   int32
}

// oracleDay returns the layers of a day; all must be valid.
func oracleDay(in span.Input, day civil.Date) map[uint8]layer {
	layers := map[uint8]layer{}
	for _, lock := range in.Locks {
		if lock.Contains(day) {
			for _, s := range in.Current {
				if s.Days().Contains(day) {
					layers[s.Lane] = layer{s.AssignmentID, s.Inherited, s.PatternID, turn(s.Position, int(day-s.From), s.DayCount)}
				}
			}
			return layers
		}
	}
	for _, a := range inOrder(in.Assignments) {
		if day < a.From || day >= a.To || a.TermID != 0 && !inherits(in.Memberships, a.TermID, day) {
			continue
		}
		lane := a.Lane
		if a.Override {
			layers = map[uint8]layer{}
			lane = 0
		}
		for {
			if _, taken := layers[lane]; !taken {
				break
			}
			lane = (lane + 1) % 16
		}
		layers[lane] = layer{a.ID, a.TermID != 0, a.PatternID, turn(0, int(day-a.Anchor)+int(a.Offset), a.DayCount)}
	}
	return layers
}

func inherits(memberships []span.Membership, term int64, day civil.Date) bool {
	return slices.ContainsFunc(memberships, func(m span.Membership) bool {
		return m.TermID == term && m.Inherits && m.Days.Contains(day)
	})
}

// inOrder returns the terms' assignments by age, then the employee's own by age.
func inOrder(list []span.Assignment) (sorted []span.Assignment) {
	for _, own := range []bool{false, true} {
		var some []span.Assignment
		for _, a := range list {
			if (a.TermID == 0) == own {
				some = append(some, a)
			}
		}
		for i := range some {
			for j := i; j > 0 && some[j].Seq < some[j-1].Seq; j-- {
				some[j], some[j-1] = some[j-1], some[j]
			}
		}
		sorted = append(sorted, some...)
	}
	return sorted
}

// turn turns a cycle a number of days on or back, with plain steps for the last of them.
func turn(position int32, days int, dayCount int32) int32 {
	for days < 0 {
		days += int(dayCount) * 10_000
	}
	for range days % int(dayCount) {
		if position++; position == dayCount {
			position = 0
		}
	}
	return position
}

// oracleEntries returns the entries of the days of a window, by day, lane and ordinal.
func oracleEntries(in span.Input, cycles map[int64]cycle, window civil.Range, reach int) (list []shown) {
	if window.Empty() {
		return nil
	}
	for day := window.From.AddDays(-reach); day < window.To; day++ {
		layers := oracleDay(in, day)
		for lane := range uint8(16) {
			l, ok := layers[lane]
			if !ok {
				continue
			}
			ordinal := uint8(0)
			for _, item := range cycles[l.pattern].items {
				if item.Day != l.position+1 {
					continue
				}
				midnight := int64(day) * 86400
				e := shown{day, lane, ordinal, midnight + int64(item.StartSec), midnight + int64(item.EndSec), item.Kind, item.Template}
				ordinal++
				if e.end > int64(window.From)*86400 && e.start < int64(window.To)*86400 {
					list = append(list, e)
				}
			}
		}
	}
	return list
}
