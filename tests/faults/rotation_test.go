package faults

import (
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// rotation is a cycle with one letter a day; '-' is a day off.
type rotation struct {
	cycle  string
	labels map[string]string // letter -> label of its shift
}

// The labels of the rotations differ, so that no shift fits two of them.
var (
	first  = rotation{"EELLNN--", map[string]string{"E": "E1", "L": "L1", "N": "N1"}}
	second = rotation{"NLE-", map[string]string{"E": "E2", "L": "L2", "N": "N2"}}
	third  = rotation{"LLE-", map[string]string{"E": "E3", "L": "L3"}}
)

var hours = map[string]struct {
	start, end string
	overnight  bool
}{
	"E": {"06:00", "14:00", false},
	"L": {"14:00", "22:00", false},
	"N": {"22:00", "06:00", true},
}

func (r rotation) pattern() scenario.Object {
	shifts := map[string]scenario.Object{}
	for letter, label := range r.labels {
		h := hours[letter]
		shifts[letter] = scenario.Shift(label, h.start, h.end, h.overnight)
	}
	return scenario.Pattern(r.cycle, shifts)
}

// entry describes a shift: its employee, times and label.
func entry(employee int64, start, end, label string) string {
	return fmt.Sprint(employee, " ", start, " ", end, " ", label)
}

// expectedEntries returns the entries of employees between two days, inclusive, for a rotation that
// begins on monday.
func (r rotation) expectedEntries(employees []int64, from, to string) map[string]int {
	entries := map[string]int{}
	begin, last := day(from), day(to)
	for d := begin; !d.After(last); d = d.AddDate(0, 0, 1) {
		letter := string(r.cycle[int(d.Sub(day(monday)).Hours()/24)%len(r.cycle)])
		if letter == "-" {
			continue
		}
		h, end := hours[letter], d
		if h.overnight {
			end = d.AddDate(0, 0, 1)
		}
		for _, employee := range employees {
			entries[entry(employee, at(d, h.start), at(end, h.end), r.labels[letter])]++
		}
	}
	return entries
}

// shownEntries returns the entries that a schedule shows.
func shownEntries(shifts []scenario.ShiftOf) map[string]int {
	entries := map[string]int{}
	for _, s := range shifts {
		entries[entry(s.Employee.ID, s.StartDateTime, s.EndDateTime, s.Label)]++
	}
	return entries
}

func at(d time.Time, clock string) string { return d.Format(time.DateOnly) + "T" + clock + ":00" }

// day parses a date that is a constant of this package.
func day(text string) time.Time {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return d
}
