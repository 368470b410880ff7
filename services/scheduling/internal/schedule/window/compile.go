package window

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// anchor is the date of the times of templates.
const anchor = civil.Beginning

// Pattern is a compiled pattern, ready to write entries for any employee and day.
type Pattern struct {
	Name string
	// Cycle finds the entries of a day. The template of an entry is an index into Templates.
	Cycle     *rotation.Pattern
	Templates []Template
	PerCycle  [Kinds]int // templates of each kind
}

// Compile compiles the templates of a pattern's entries. mergeBreaks merges breaks into their
// neighbours.
func Compile(p *schedulingv1.SchedulePattern, mergeBreaks bool) (*Pattern, error) {
	c := &Pattern{Name: p.GetName()}
	var items []rotation.Item
	days := map[int32]*counters{}
	for _, item := range p.GetItems() {
		count := days[item.GetDay()]
		if count == nil {
			count = &counters{}
			days[item.GetDay()] = count
		}
		templates, err := compileItem(item, count, mergeBreaks)
		if err != nil {
			return nil, fmt.Errorf("item on day %d: %w", item.GetDay(), err)
		}
		for _, t := range templates {
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

// counters counts the entries and segments of a day of the cycle. They get ids of the series of the
// span: the n-th entry uses the n-th series after the first one. The segments of all entries of the
// day are numbered together in the same way.
type counters struct{ entries, segments int32 }

// segment returns by how many series the id of a segment is later than the id of the current entry.
func (n *counters) segmentSeries(index int) int32 { return n.segments + int32(index) - n.entries }

// compileItem compiles the templates of an item, in the order of the entry numbers.
func compileItem(item *schedulingv1.SchedulePatternItem, count *counters, mergeBreaks bool) ([]Template, error) {
	var templates []Template
	add := func(t Template, segments int, err error) error {
		templates = append(templates, t)
		count.entries, count.segments = count.entries+1, count.segments+int32(segments)
		return err
	}
	if t := item.GetShiftTemplate(); t != nil {
		compiled, err := shiftTemplate(t, count, mergeBreaks)
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
		compiled, err := availabilityTemplate(t, count)
		if err := add(compiled, len(t.GetSegments()), err); err != nil {
			return nil, err
		}
	}
	if t := item.GetScheduleTagTemplate(); t != nil {
		compiled, err := tagTemplate(t, count)
		if err := add(compiled, len(t.GetSegments()), err); err != nil {
			return nil, err
		}
	}
	return templates, nil
}

// period converts the two times of a template to seconds after the midnight of its day.
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

// no and yes are the values of flags that are always written.
var (
	no  = proto.Bool(false)
	yes = proto.Bool(true)
)
