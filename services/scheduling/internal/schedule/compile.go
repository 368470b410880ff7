package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// anchor is the day on which the times of templates stand.
const anchor = civil.Beginning

// compiled is a pattern ready to be written out for any employee and day.
type compiled struct {
	dayCount int32
	// The templates of the day at position p of the cycle are
	// templates[first[p]:first[p+1]].
	templates []template
	first     []int32
	// overhang is how many days the longest entry reaches past its own.
	overhang int32
}

func (c *compiled) day(position int32) []template {
	return c.templates[c.first[position]:c.first[position+1]]
}

// compile makes the templates of a pattern's entries. Breaks are merged into
// their neighbours when mergeBreaks is set.
func compile(p *schedulingv1.SchedulePattern, mergeBreaks bool) (*compiled, error) {
	c := &compiled{dayCount: p.GetDayCount(), first: make([]int32, p.GetDayCount()+1)}
	items := slices.Clone(p.GetItems())
	slices.SortStableFunc(items, func(a, b *schedulingv1.SchedulePatternItem) int {
		return cmp.Compare(a.GetDay(), b.GetDay())
	})
	var index uint8
	for i, item := range items {
		if day := item.GetDay(); day < 1 || day > c.dayCount {
			return nil, fmt.Errorf("schedule: item on day %d of a cycle of %d days", day, c.dayCount)
		}
		if i == 0 || items[i-1].GetDay() != item.GetDay() {
			index = 0
		}
		made, err := templatesOf(item, mergeBreaks)
		if err != nil {
			return nil, fmt.Errorf("schedule: item on day %d: %w", item.GetDay(), err)
		}
		for _, t := range made {
			t.index = index
			index++
			t.finish()
			c.overhang = max(c.overhang, (t.end-1)/civil.SecondsPerDay)
			c.templates = append(c.templates, t)
		}
		c.first[item.GetDay()] += int32(len(made))
	}
	for p := range c.dayCount {
		c.first[p+1] += c.first[p]
	}
	return c, nil
}

// templatesOf makes the templates of an item, in the order in which its entries
// are counted.
func templatesOf(item *schedulingv1.SchedulePatternItem, mergeBreaks bool) ([]template, error) {
	var made []template
	add := func(t template, err error) error {
		made = append(made, t)
		return err
	}
	if t := item.GetShiftTemplate(); t != nil {
		if err := add(shiftTemplate(t, mergeBreaks)); err != nil {
			return nil, err
		}
	}
	if t := item.GetPayCodeEditTemplate(); t != nil {
		if err := add(payCodeEditTemplate(t)); err != nil {
			return nil, err
		}
	}
	if t := item.GetAvailabilityTemplate(); t != nil {
		if err := add(availabilityTemplate(t)); err != nil {
			return nil, err
		}
	}
	if t := item.GetScheduleTagTemplate(); t != nil {
		if err := add(tagTemplate(t)); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// period reads the two times of a template as seconds after the midnight of
// its day.
func period(startText, endText string) (start, end int32, err error) {
	if start, err = offset(startText); err != nil {
		return 0, 0, err
	}
	end, err = offset(endText)
	return start, end, err
}

func offset(text string) (int32, error) {
	at, err := civil.ParseDateTime(text)
	if err != nil {
		return 0, err
	}
	days := at.Date - anchor
	const farthest = 366
	if days < 0 || days > farthest {
		return 0, fmt.Errorf("%s is not anchored on %s", text, anchor)
	}
	return int32(days)*civil.SecondsPerDay + at.Seconds, nil
}

// no and yes are what fields that are always shown point to.
var (
	no  = proto.Bool(false)
	yes = proto.Bool(true)
)
