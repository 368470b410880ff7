package definition

import (
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Kind says what an entry of a pattern is.
type Kind uint8

// The kinds of entries.
const (
	KindShift Kind = iota + 1
	KindPayCodeEdit
	KindAvailability
	KindTag
)

// Template is what happens on a day of a cycle: of its four fields the one that
// Kind names is set. Nobody changes it.
type Template struct {
	Kind         Kind
	Shift        *schedulingv1.ShiftTemplate
	PayCodeEdit  *schedulingv1.PayCodeEditTemplate
	Availability *schedulingv1.AvailabilityTemplate
	Tag          *schedulingv1.ScheduleTagTemplate
}

// entriesOf answers the entries of an item, in the order of their kinds.
func entriesOf(item *schedulingv1.SchedulePatternItem) []Template {
	var entries []Template
	if t := item.GetShiftTemplate(); t != nil {
		entries = append(entries, Template{Kind: KindShift, Shift: t})
	}
	if t := item.GetPayCodeEditTemplate(); t != nil {
		entries = append(entries, Template{Kind: KindPayCodeEdit, PayCodeEdit: t})
	}
	if t := item.GetAvailabilityTemplate(); t != nil {
		entries = append(entries, Template{Kind: KindAvailability, Availability: t})
	}
	if t := item.GetScheduleTagTemplate(); t != nil {
		entries = append(entries, Template{Kind: KindTag, Tag: t})
	}
	return entries
}
