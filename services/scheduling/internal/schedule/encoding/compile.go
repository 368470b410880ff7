package encoding

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// anchor is the day on which the times of templates stand.
const anchor = civil.Beginning

// Pattern is a pattern ready to be written out for any employee and day.
type Pattern struct {
	Name string
	// Cycle knows the days; the template of its entries is an index of
	// templates.
	Cycle     *rotation.Pattern
	Templates []Template
	PerCycle  [Kinds]int // templates of each kind
}

// Compile makes the templates of a pattern's entries. Breaks are merged into
// their neighbours when mergeBreaks is set.
func Compile(p *schedulingv1.SchedulePattern, mergeBreaks bool) (*Pattern, error) {
	c := &Pattern{Name: p.GetName()}
	var items []rotation.Item
	days := map[int32]*numbers{}
	for _, item := range p.GetItems() {
		of := days[item.GetDay()]
		if of == nil {
			of = &numbers{}
			days[item.GetDay()] = of
		}
		made, err := templatesOf(item, of, mergeBreaks)
		if err != nil {
			return nil, fmt.Errorf("item on day %d: %w", item.GetDay(), err)
		}
		for _, t := range made {
			t.finish()
			items = append(items, rotation.Item{
				Day: item.GetDay(), Kind: rotation.Shift + rotation.Kind(t.Kind),
				StartSec: t.Start, EndSec: t.End, Template: int32(len(c.Templates)),
			})
			c.Templates = append(c.Templates, t)
			c.PerCycle[t.Kind]++
		}
	}
	var err error
	c.Cycle, err = rotation.New(p.GetDayCount(), p.GetDayCount(), items)
	return c, err
}

// numbers counts what was made of a day of the cycle. Entries and segments have ids of
// the series that the span draws: the entry with the ordinal n that of the series after n
// others, and so do the segments of all entries of the day, counted together.
type numbers struct{ entries, segments int32 }

// segment is how many series the id of a segment lies behind that of the entry that is
// being made.
func (n *numbers) segment(index int) int32 { return n.segments + int32(index) - n.entries }

// templatesOf makes the templates of an item, in the order in which its entries
// are counted.
func templatesOf(item *schedulingv1.SchedulePatternItem, of *numbers, mergeBreaks bool) ([]Template, error) {
	var made []Template
	add := func(t Template, segments int, err error) error {
		made = append(made, t)
		of.entries, of.segments = of.entries+1, of.segments+int32(segments)
		return err
	}
	if t := item.GetShiftTemplate(); t != nil {
		compiled, err := shiftTemplate(t, of, mergeBreaks)
		if err := add(compiled, len(t.GetSegments()), err); err != nil {
			return nil, err
		}
	}
	if t := item.GetPayCodeEditTemplate(); t != nil {
		compiled, err := payCodeEditTemplate(t)
		if err := add(compiled, 0, err); err != nil {
			return nil, err
		}
	}
	if t := item.GetAvailabilityTemplate(); t != nil {
		compiled, err := availabilityTemplate(t, of)
		if err := add(compiled, len(t.GetSegments()), err); err != nil {
			return nil, err
		}
	}
	if t := item.GetScheduleTagTemplate(); t != nil {
		compiled, err := tagTemplate(t, of)
		if err := add(compiled, len(t.GetSegments()), err); err != nil {
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
	if days < 0 || days > Lookback {
		return 0, fmt.Errorf("%s is not anchored on %s", text, anchor)
	}
	return int32(days)*civil.SecondsPerDay + at.Seconds, nil
}

// no and yes are what fields that are always shown point to.
var (
	no  = proto.Bool(false)
	yes = proto.Bool(true)
)
