// Package holiday stores the holidays of a tenant: their dates in each year, many of which
// move, and the years for which they are selected.
package holiday

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Error codes that the specified API does not define.
const (
	// CodeInvalid (400): a property has an invalid value.
	CodeInvalid = "WRL-10501"
	// CodeMissing (400): a required value is missing.
	CodeMissing = "WRL-10502"
	// CodeTaken (400): another holiday has the name. Choose another name.
	CodeTaken = "WRL-10503"
	// CodeUnknown (400, 404): the holiday does not exist.
	CodeUnknown = "WRL-10504"
	// CodeRule (400): a rule is empty, has several parts, or names a day that does not exist in
	// any year.
	CodeRule = "WRL-10505"
	// CodeNotInYear (400): the holiday does not occur in the year.
	CodeNotInYear = "WRL-10506"
	// CodeRegion (400): the holidays of the region are unknown.
	CodeRegion = "WRL-10507"
)

const (
	maxDescription = 1000
	firstYear      = 1900
	lastYear       = 2999
	maxHoliday     = 31 * 24 * time.Hour
)

// maxYears limits the years of a holiday, including the stored ones.
var maxYears = policy.Max[*commonsv1.Holiday]("dates")

func codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeInvalid}
}

func invalid(path, format string, args ...any) error {
	return fault.Invalid(CodeInvalid, path+" "+fmt.Sprintf(format, args...)+".")
}

// merge returns a holiday after a change. Properties that the change leaves out stay. before
// is nil for a new holiday.
func merge(path string, before, change *commonsv1.Holiday) (*commonsv1.Holiday, error) {
	out := &commonsv1.Holiday{}
	if before != nil {
		out = proto.CloneOf(before)
	}
	if change.GetName() != "" || before == nil {
		out.Name = change.GetName()
	}
	if err := codes().CheckName(path, out.GetName()); err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(change.GetDescription()) > maxDescription {
		return nil, invalid(path+".description", "must have at most %d characters", maxDescription)
	}
	if change.GetDescription() != "" {
		out.Description = change.GetDescription()
	}
	if change.GetRule() != nil {
		if err := checkRule(path+".rule", change.GetRule()); err != nil {
			return nil, err
		}
		out.Rule = change.GetRule()
	}
	if len(change.GetTranslations()) > 0 {
		list, err := translations(path, change.GetTranslations())
		if err != nil {
			return nil, err
		}
		out.Translations = list
	}
	return out, mergeDates(path, out, change.GetDates())
}

// mergeDates merges the dates of a change into a holiday, year by year.
func mergeDates(path string, h *commonsv1.Holiday, change []*commonsv1.HolidayDate) error {
	seen := map[int32]bool{}
	for i, given := range change {
		at := fmt.Sprintf("%s.dates[%d]", path, i)
		date, err := checkDate(at, given)
		if err != nil {
			return err
		}
		if seen[date.GetYear()] {
			return invalid(at+".year", "%d appears twice", date.GetYear())
		}
		seen[date.GetYear()] = true
		setDate(h, date)
		if dateIn(h, date.GetYear()) == nil {
			return fault.Invalid(CodeNotInYear, fmt.Sprintf("%s needs startDateTime: no rule says when the holiday is in %d.", at, date.GetYear()))
		}
	}
	if len(h.GetDates()) > maxYears {
		return invalid(path+".dates", "must have at most %d years", maxYears)
	}
	for _, date := range h.GetDates() {
		if date.GetEnabled() && dateIn(h, date.GetYear()) == nil {
			return fault.Invalid(CodeNotInYear, fmt.Sprintf("%s.rule does not say when the holiday is in %d, for which it is selected.", path, date.GetYear()))
		}
	}
	return nil
}

// setDate puts a date into a holiday. If the date has no selection or no times, it keeps the
// stored ones.
func setDate(h *commonsv1.Holiday, date *commonsv1.HolidayDate) {
	i, found := slices.BinarySearchFunc(h.GetDates(), date.GetYear(), func(d *commonsv1.HolidayDate, year int32) int { return int(d.GetYear() - year) })
	if !found {
		h.Dates = slices.Insert(h.Dates, i, date)
		return
	}
	if date.Enabled == nil {
		date.Enabled = h.Dates[i].Enabled
	}
	if date.GetStartDateTime() == "" {
		date.StartDateTime, date.EndDateTime = h.Dates[i].GetStartDateTime(), h.Dates[i].GetEndDateTime()
	}
	h.Dates[i] = date
}

func checkYear(path string, year int32) error {
	if year < firstYear || year > lastYear {
		return invalid(path, "must be from %d to %d", firstYear, lastYear)
	}
	return nil
}

// checkDate checks a date with well-formed texts, and completes its end.
func checkDate(path string, given *commonsv1.HolidayDate) (*commonsv1.HolidayDate, error) {
	date := proto.CloneOf(given)
	if err := checkYear(path+".year", date.GetYear()); err != nil {
		return nil, err
	}
	if date.GetStartDateTime() == "" {
		if date.GetEndDateTime() != "" {
			return nil, fault.Invalid(CodeMissing, path+".startDateTime is missing.")
		}
		return date, nil
	}
	start, err := time.Parse(dateTime, date.GetStartDateTime())
	if err != nil {
		return nil, invalid(path+".startDateTime", "must be written as 2026-12-25T00:00:00")
	}
	if start.Year() != int(date.GetYear()) {
		return nil, invalid(path+".startDateTime", "must be in the year %d", date.GetYear())
	}
	end := start.AddDate(0, 0, 1)
	if date.GetEndDateTime() != "" {
		if end, err = time.Parse(dateTime, date.GetEndDateTime()); err != nil {
			return nil, invalid(path+".endDateTime", "must be written as 2026-12-26T00:00:00")
		}
	}
	if !end.After(start) || end.Sub(start) > maxHoliday {
		return nil, invalid(path+".endDateTime", "must be after startDateTime, by at most %d days", maxHoliday/(24*time.Hour))
	}
	date.StartDateTime, date.EndDateTime = start.Format(dateTime), end.Format(dateTime)
	return date, nil
}

func checkRule(path string, rule *commonsv1.HolidayRule) error {
	bad := func(format string, args ...any) error {
		return fault.Invalid(CodeRule, path+fmt.Sprintf(format, args...)+".")
	}
	if err := fault.ExactlyOne(CodeRule, path, "fixedDate, weekday, easter and publicHoliday",
		rule.GetFixedDate() != nil, rule.GetWeekday() != nil, rule.GetEaster() != nil, rule.GetPublicHoliday() != nil); err != nil {
		return err
	}
	switch {
	case rule.GetFixedDate() != nil:
		r := rule.GetFixedDate()
		// A leap year has all possible days.
		if day := time.Date(2024, time.Month(r.GetMonth()), int(r.GetDay()), 0, 0, 0, 0, time.UTC); day.Month() != time.Month(r.GetMonth()) || day.Day() != int(r.GetDay()) {
			return bad(".fixedDate: no year has the day %d of the month %d", r.GetDay(), r.GetMonth())
		}
	case rule.GetWeekday() != nil:
		r := rule.GetWeekday()
		if r.GetMonth() < 1 || r.GetMonth() > 12 {
			return bad(".weekday.month must be from 1 to 12")
		}
		if _, ok := parseWeekday(r.GetDayOfWeek()); !ok {
			return bad(".weekday.dayOfWeek must be one of MONDAY to SUNDAY")
		}
		if r.GetOrdinal() == 0 || r.GetOrdinal() < -5 || r.GetOrdinal() > 5 {
			return bad(".weekday.ordinal must be from 1 to 5, or from -1 to -5, counted from the end of the month")
		}
	case rule.GetEaster() != nil:
		if days := rule.GetEaster().GetOffsetDays(); days < -80 || days > 250 {
			return bad(".easter.offsetDays must be from -80 to 250, which are in the year of Easter")
		}
	case rule.GetPublicHoliday() != nil:
		r := rule.GetPublicHoliday()
		if err := checkRegion(path+".publicHoliday.region", r.GetRegion()); err != nil {
			return err
		}
		if public(r.GetRegion(), r.GetName()) == nil {
			return bad(".publicHoliday.name: %s has no public holiday %.100q", r.GetRegion(), r.GetName())
		}
	}
	return nil
}

func checkRegion(path, region string) error {
	if _, ok := regions[region]; !ok {
		return fault.Invalid(CodeRegion, fmt.Sprintf("%s must be one of %s.", path, strings.Join(regionCodes(), ", ")))
	}
	return nil
}

// translations checks the translated texts, and converts their language tags to the canonical
// form.
func translations(path string, given []*commonsv1.HolidayTranslation) ([]*commonsv1.HolidayTranslation, error) {
	out := make([]*commonsv1.HolidayTranslation, 0, len(given))
	for i, t := range given {
		at := fmt.Sprintf("%s.translations[%d]", path, i)
		tag, ok := acceptlanguage.Parse(t.GetLanguage())
		if !ok {
			return nil, invalid(at+".language", "must be a language tag, such as \"de\" or \"fr-CA\"")
		}
		if slices.ContainsFunc(out, func(o *commonsv1.HolidayTranslation) bool { return o.GetLanguage() == tag }) {
			return nil, invalid(at+".language", "%q appears twice", tag)
		}
		if strings.TrimSpace(t.GetDisplayName()) == "" {
			return nil, fault.Invalid(CodeMissing, at+".displayName is missing.")
		}
		if utf8.RuneCountInString(t.GetDisplayName()) > maxDescription {
			return nil, invalid(at+".displayName", "must have at most %d characters", maxDescription)
		}
		out = append(out, &commonsv1.HolidayTranslation{Language: tag, DisplayName: t.GetDisplayName()})
	}
	return out, nil
}
