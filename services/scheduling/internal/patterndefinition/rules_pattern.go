package patterndefinition

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
)

// maxPatternBytes limits the size of a pattern including its templates. Patterns are cached in
// memory while schedules are read.
const maxPatternBytes = 2 << 20

// namesPattern reports whether a pattern contains nothing but the name or id of a pattern template.
func namesPattern(p *schedulingv1.SchedulePattern) bool {
	return (p.Id != nil || p.GetName() != "") && p.DayCount == nil && len(p.GetItems()) == 0
}

// defaultPeriod is the default time period type. Items refer to days.
const defaultPeriod = "Daily"

// setPeriod sets the default time period type of a pattern without one.
func setPeriod(p *schedulingv1.SchedulePattern) {
	if t := p.GetTimePeriodType(); p != nil && t.GetId() == 0 && t.GetName() == "" {
		p.TimePeriodType = &schedulingv1.TimePeriodType{Name: defaultPeriod}
	}
}

// Pattern checks a pattern. path is its path in the request. Shift templates that are only named
// are looked up later.
func (r Rules) Pattern(path string, p *schedulingv1.SchedulePattern) error {
	if p == nil {
		return Missing(path)
	}
	p.AnchorStartDay = nil
	switch days := int(p.GetDayCount()); {
	case p.DayCount == nil:
		return Missing(path + ".dayCount")
	case days < 1 || days > r.maxCycle:
		return Invalid(path+".dayCount", "must be 1 to %d", r.maxCycle)
	case len(p.GetItems()) == 0:
		return Missing(path + ".items")
	}
	setPeriod(p)
	if p.GetStartDate() != "" {
		if _, err := civil.ParseDate(p.GetStartDate()); err != nil {
			return fault.Invalid(fault.CodeDate, path+".startDate: "+err.Error()+".")
		}
	}
	entries := make([]int, p.GetDayCount()+1)
	for i, item := range p.GetItems() {
		at := fmt.Sprintf("%s.items[%d]", path, i)
		if err := r.item(at, item, p.GetDayCount()); err != nil {
			return err
		}
		entries[item.GetDay()] += countEntries(item)
		if entries[item.GetDay()] > rotation.MaxEntriesPerDay {
			return Invalid(at, "is more than the %d entries that day %d may have", rotation.MaxEntriesPerDay, item.GetDay())
		}
	}
	return nil
}

func (r Rules) item(path string, item *schedulingv1.SchedulePatternItem, dayCount int32) error {
	switch {
	case item.Day == nil:
		return Missing(path + ".day")
	case item.GetDay() < 1 || item.GetDay() > dayCount:
		return Invalid(path+".day", "must be 1 to %d, the dayCount; it is %d", dayCount, item.GetDay())
	case countEntries(item) == 0:
		return Missing(path + ".shiftTemplate, payCodeEditTemplate, availabilityTemplate or scheduleTagTemplate")
	}
	if t := item.GetShiftTemplate(); t != nil && !NamesShift(t) {
		if err := r.Shift(path+".shiftTemplate", t); err != nil {
			return err
		}
	}
	if t := item.GetPayCodeEditTemplate(); t != nil {
		if err := r.payCodeEdit(path+".payCodeEditTemplate", t); err != nil {
			return err
		}
	}
	if t := item.GetAvailabilityTemplate(); t != nil {
		if err := checkAvailability(path+".availabilityTemplate", t); err != nil {
			return err
		}
	}
	if t := item.GetScheduleTagTemplate(); t != nil {
		return r.scheduleTag(path+".scheduleTagTemplate", t)
	}
	return nil
}

// countEntries counts the entries of an item on its day.
func countEntries(item *schedulingv1.SchedulePatternItem) int {
	entries := 0
	for _, isSet := range []bool{
		item.GetShiftTemplate() != nil, item.GetPayCodeEditTemplate() != nil,
		item.GetAvailabilityTemplate() != nil, item.GetScheduleTagTemplate() != nil,
	} {
		if isSet {
			entries++
		}
	}
	return entries
}
