package patterndefinition

import (
	"fmt"
	"math"

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
	errs := []error{r.checkDayCount(path+".dayCount", p)}
	dayCount := p.GetDayCount()
	if errs[0] != nil {
		dayCount = math.MaxInt32
	}
	if len(p.GetItems()) == 0 {
		errs = append(errs, Missing(path+".items"))
	}
	setPeriod(p)
	if p.GetStartDate() != "" {
		if _, err := civil.ParseDate(p.GetStartDate()); err != nil {
			errs = append(errs, fault.Invalid(fault.CodeDate, path+".startDate: "+err.Error()+".").WithMembers(path+".startDate"))
		}
	}
	entries := map[int32]int{}
	for i, item := range p.GetItems() {
		at := fmt.Sprintf("%s.items[%d]", path, i)
		err := r.item(at, item, dayCount)
		day := item.GetDay()
		if entries[day] += countEntries(item); err == nil && entries[day] > rotation.MaxEntriesPerDay {
			err = Invalid(at, "is more than the %d entries that day %d may have", rotation.MaxEntriesPerDay, day)
		}
		errs = append(errs, err)
	}
	return fault.Join(errs...)
}

// checkDayCount checks the length of the cycle of a pattern.
func (r Rules) checkDayCount(path string, p *schedulingv1.SchedulePattern) error {
	switch days := int(p.GetDayCount()); {
	case p.DayCount == nil:
		return Missing(path)
	case days < 1 || days > r.maxCycle:
		return Invalid(path, "must be 1 to %d", r.maxCycle)
	}
	return nil
}

// item checks an item of a pattern. A day count of math.MaxInt32 stands for an invalid one.
func (r Rules) item(path string, item *schedulingv1.SchedulePatternItem, dayCount int32) error {
	var errs []error
	switch {
	case item.Day == nil:
		errs = append(errs, Missing(path+".day"))
	case item.GetDay() < 1 && dayCount == math.MaxInt32:
		errs = append(errs, Invalid(path+".day", "must be at least 1; it is %d", item.GetDay()))
	case item.GetDay() < 1 || item.GetDay() > dayCount:
		errs = append(errs, Invalid(path+".day", "must be 1 to %d, the dayCount; it is %d", dayCount, item.GetDay()))
	}
	if countEntries(item) == 0 {
		errs = append(errs, Missing(path+".shiftTemplate, payCodeEditTemplate, availabilityTemplate or scheduleTagTemplate").WithMembers(path))
	}
	if t := item.GetShiftTemplate(); t != nil && !NamesShift(t) {
		errs = append(errs, r.Shift(path+".shiftTemplate", t))
	}
	if t := item.GetPayCodeEditTemplate(); t != nil {
		errs = append(errs, r.payCodeEdit(path+".payCodeEditTemplate", t))
	}
	if t := item.GetAvailabilityTemplate(); t != nil {
		errs = append(errs, checkAvailability(path+".availabilityTemplate", t))
	}
	if t := item.GetScheduleTagTemplate(); t != nil {
		errs = append(errs, r.scheduleTag(path+".scheduleTagTemplate", t))
	}
	return fault.Join(errs...)
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
