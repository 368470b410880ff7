// Package hiddenentry finds the generated entry that a user deleted or changed, even after changes
// of the patterns. A deletion stays with its entry, and never moves to another one.
//
// A hidden entry is identified by the employee, the day, the lineage of the assignment, and the
// position in a pattern; patterns never change. Its current slot is computed from the employee's
// spans.
package hiddenentry

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// Entry has the properties that distinguish an entry from the others of its cycle day.
type Entry struct {
	Kind    rotation.Kind
	Ordinal uint8 // among all entries of the cycle day, as in rotation.Entry

	content      [sha256.Size]byte
	templateID   int64
	templateName string
	start, end   int32 // seconds after the midnight of its day
}

// Pattern has the entries of each cycle day that can be hidden: shifts and pay code edits.
type Pattern struct{ days [][]Entry }

// Compile returns the entries of a stored pattern.
func Compile(p *schedulingv1.SchedulePattern) (*Pattern, error) {
	out := &Pattern{days: make([][]Entry, p.GetDayCount())}
	ordinals := make([]uint8, p.GetDayCount())
	for _, item := range p.GetItems() {
		day := int(item.GetDay()) - 1
		if day < 0 || day >= len(out.days) {
			return nil, fmt.Errorf("hiddenentry: the pattern has no day %d", item.GetDay())
		}
		if t := item.GetShiftTemplate(); t != nil {
			e, err := newEntry(rotation.Shift, t, t.GetStartDateTime(), t.GetEndDateTime())
			if err != nil {
				return nil, err
			}
			e.Ordinal = ordinals[day]
			out.days[day] = append(out.days[day], e)
			ordinals[day]++
		}
		if t := item.GetPayCodeEditTemplate(); t != nil {
			e, err := newEntry(rotation.PayCodeEdit, t, t.GetStartDateTime(), t.GetEndDateTime())
			if err != nil {
				return nil, err
			}
			e.Ordinal = ordinals[day]
			out.days[day] = append(out.days[day], e)
			ordinals[day]++
		}
		if item.GetAvailabilityTemplate() != nil {
			ordinals[day]++
		}
		if item.GetScheduleTagTemplate() != nil {
			ordinals[day]++
		}
	}
	return out, nil
}

// template has the common methods of both kinds.
type template interface {
	proto.Message
	GetId() int64
	GetName() string
}

func newEntry(kind rotation.Kind, t template, start, end string) (Entry, error) {
	e := Entry{Kind: kind, templateID: t.GetId(), templateName: strings.ToLower(t.GetName()), end: civil.SecondsPerDay}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(t)
	if err != nil {
		return Entry{}, err
	}
	e.content = sha256.Sum256(body)
	for _, side := range []struct {
		text string
		into *int32
	}{{start, &e.start}, {end, &e.end}} {
		if side.text == "" {
			continue
		}
		at, err := civil.ParseDateTime(side.text)
		if err != nil {
			return Entry{}, err
		}
		*side.into = int32(at.Date-civil.Beginning)*civil.SecondsPerDay + at.Seconds
	}
	return e, nil
}

// day returns the entries of a cycle day, from 0.
func (p *Pattern) day(cycleDay int32) []Entry {
	if cycleDay < 0 || int(cycleDay) >= len(p.days) {
		return nil
	}
	return p.days[cycleDay]
}

// counterpart returns the entry of another cycle day that corresponds to the entry with an ordinal.
// All entries of both days are paired: first equal entries, then entries of the same template, then
// entries with overlapping times, in order, and finally the only remaining entry of a kind on both
// days. A new entry has no counterpart.
func counterpart(from []Entry, ordinal uint8, to []Entry) (uint8, bool) {
	paired := pair(from, to)
	for i := range from {
		if from[i].Ordinal == ordinal && paired[i] >= 0 {
			return to[paired[i]].Ordinal, true
		}
	}
	return 0, false
}

// pair returns for each entry of from the index of its counterpart, or -1.
func pair(from, to []Entry) []int {
	paired, used := make([]int, len(from)), make([]bool, len(to))
	for i := range paired {
		paired[i] = -1
	}
	byStart := func(list []Entry) []int {
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].start, list[b].start) })
		return order
	}
	left, right := byStart(from), byStart(to)
	for _, same := range []func(a, b *Entry) bool{equal, sameTemplate, overlap} {
		for _, i := range left {
			for _, k := range right {
				if paired[i] < 0 && !used[k] && from[i].Kind == to[k].Kind && same(&from[i], &to[k]) {
					paired[i], used[k] = k, true
				}
			}
		}
	}
	for _, kind := range []rotation.Kind{rotation.Shift, rotation.PayCodeEdit} {
		i, k := onlyUnmatched(from, kind, func(i int) bool { return paired[i] >= 0 }), onlyUnmatched(to, kind, func(k int) bool { return used[k] })
		if i >= 0 && k >= 0 {
			paired[i] = k
		}
	}
	return paired
}

// onlyUnmatched returns the index of the only entry of a kind without a counterpart, or -1 if there
// is none or more than one.
func onlyUnmatched(list []Entry, kind rotation.Kind, has func(int) bool) int {
	found := -1
	for i := range list {
		if list[i].Kind != kind || has(i) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

func equal(a, b *Entry) bool { return a.content == b.content }

func sameTemplate(a, b *Entry) bool {
	if a.templateID != 0 && b.templateID != 0 {
		return a.templateID == b.templateID
	}
	return a.templateName != "" && a.templateName == b.templateName
}

func overlap(a, b *Entry) bool { return a.start < b.end && b.start < a.end }
