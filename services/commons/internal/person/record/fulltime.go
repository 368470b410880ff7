package record

import (
	"cmp"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// fullTimeEquivalencies returns the list of full-time equivalents. The body of the person contains it,
// because no query needs it.
var fullTimeEquivalencies = sync.OnceValue(func() List {
	l := inMessage("personInformation.person.fullTimeEquivalencies", "", 0,
		"employee_standard_hours", "full_time_standard_hours", "full_time_percentage")
	l.empty = func(e Element) bool { return !hasFullTime(e.Interface().(*commonsv1.FullTimeEquivalency)) }
	return l
})

func hasFullTime(f *commonsv1.FullTimeEquivalency) bool {
	return f.EmployeeStandardHours != nil || f.FullTimeStandardHours != nil || f.FullTimePercentage != nil
}

// readFullTime returns the single amounts of a person as an element without dates.
func readFullTime(d *commonsv1.PersonDetails) *commonsv1.FullTimeEquivalency {
	if d == nil {
		return &commonsv1.FullTimeEquivalency{}
	}
	return &commonsv1.FullTimeEquivalency{
		EmployeeStandardHours: d.EmployeeStandardHours, FullTimeStandardHours: d.FullTimeStandardHours, FullTimePercentage: d.FullTimePercentage,
	}
}

func setFullTime(d *commonsv1.PersonDetails, f *commonsv1.FullTimeEquivalency) {
	d.EmployeeStandardHours, d.FullTimeStandardHours, d.FullTimePercentage = nil, nil, nil
	if f != nil {
		d.EmployeeStandardHours, d.FullTimeStandardHours, d.FullTimePercentage = f.EmployeeStandardHours, f.FullTimeStandardHours, f.FullTimePercentage
	}
}

// FullTimeOn returns the full-time equivalent of a person on a day, or nil.
func FullTimeOn(list []*commonsv1.FullTimeEquivalency, day civil.Date) *commonsv1.FullTimeEquivalency {
	for _, f := range list {
		if CheckedRange(EffectiveDates(f)).Contains(day) {
			return f
		}
	}
	return nil
}

// fillFullTime sets the single amounts to the amounts of a day.
func (r *Record) fillFullTime(day civil.Date) {
	if d := r.Details(); d != nil {
		setFullTime(d, FullTimeOn(d.GetFullTimeEquivalencies(), day))
	}
}

// ExpandFullTime moves sent single amounts into the list: they apply from today until the entry of today
// ends, or else until the next entry begins. Missing amounts stay as they are today. A first full-time
// equivalent applies from the hire date on. Sent entries take precedence on their days. Amounts that equal
// today's amounts change nothing. The dates of the sent list are complete.
func (r *Record) ExpandFullTime(old *Record, today civil.Date) {
	details := r.Details()
	sent := readFullTime(details)
	if !hasFullTime(sent) {
		return
	}
	setFullTime(details, nil)
	known := old.Details().GetFullTimeEquivalencies()
	now := &commonsv1.FullTimeEquivalency{}
	days := civil.Range{From: today, To: civil.Forever}
	if entry := FullTimeOn(known, today); entry != nil {
		now, days.To = proto.CloneOf(entry), CheckedRange(EffectiveDates(entry)).To
		now.EffectiveDate, now.ExpirationDate = "", ""
	} else {
		days = missingFullTimeDays(known, today, cmp.Or(details.GetHireDate(), old.Details().GetHireDate()))
	}
	changed := proto.CloneOf(now)
	proto.Merge(changed, sent)
	if proto.Equal(changed, now) || days.Empty() {
		return
	}
	l := fullTimeEquivalencies()
	entries := l.DatedElements(r)
	var covered []civil.Range
	for _, e := range entries {
		covered = append(covered, e.Days)
	}
	for _, left := range civil.AppendDifference(nil, []civil.Range{days}, civil.Normalise(covered)) {
		entries = append(entries, DatedElement{Days: left, Element: changed.ProtoReflect()})
	}
	l.Set(r, entries)
}

// missingFullTimeDays returns the days of new amounts if no entry covers today: from today on, or the
// hire date of a person without entries, until the next entry begins.
func missingFullTimeDays(known []*commonsv1.FullTimeEquivalency, today civil.Date, hireDate string) civil.Range {
	days := civil.Range{From: today, To: civil.Forever}
	if hired, err := civil.ParseDate(hireDate); err == nil && len(known) == 0 {
		days.From = hired.Clamp()
	}
	for _, f := range known {
		if from := CheckedRange(EffectiveDates(f)).From; from > today {
			days.To = min(days.To, from)
		}
	}
	return days
}

// AdoptFullTime corrects a stored list that has no dates or has overlaps. Where entries overlap, the last one counts.
// Stored single amounts without a list apply from the hire date on.
func (r *Record) AdoptFullTime() {
	details := r.Details()
	single := readFullTime(details)
	if len(details.GetFullTimeEquivalencies()) == 0 && !hasFullTime(single) {
		return
	}
	l := fullTimeEquivalencies()
	if len(details.GetFullTimeEquivalencies()) == 0 {
		if hired, err := civil.ParseDate(details.GetHireDate()); err == nil {
			single.EffectiveDate = hired.Clamp().String()
		}
		details.FullTimeEquivalencies = append(details.FullTimeEquivalencies, single)
	}
	setFullTime(details, nil)
	var entries []DatedElement
	for _, e := range l.DatedElements(r) {
		if !e.Days.Empty() {
			entries = overlay(entries, []DatedElement{e})
		}
	}
	l.Set(r, l.DropEmpty(entries))
}
