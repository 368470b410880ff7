// Package query parses requests for data, and validates them as far as possible without other data.
package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

// Increment is the length of the periods of a time series.
type Increment uint8

const (
	byDay Increment = iota
	byWeek
	byMonth
	byQuarter
	byPayPeriod
)

// IncrementNames are the names of the increments in requests.
var IncrementNames = [...]string{byDay: "DAY", byWeek: "WEEK", byMonth: "MONTH", byQuarter: "QUARTER", byPayPeriod: "PAYPERIOD"}

// Symbolic returns the name of the symbolic period that determines the beginning and length of the increment's
// periods, or "" if the calendar determines them.
func (i Increment) Symbolic() string {
	switch i {
	case byWeek:
		return "Current_Week"
	case byPayPeriod:
		return "Current_Payperiod"
	}
	return ""
}

// periods divides days into periods.
type periods struct {
	Increment
	// One is a week or a pay period. All others have the same length and follow or precede it.
	One civil.Range
}

// Week returns a week of the tenant, or an empty range if the periods are not weeks.
func (p periods) Week() civil.Range {
	if p.Increment != byWeek {
		return civil.Range{}
	}
	return p.One
}

func parseIncrement(text string) (Increment, error) {
	if text == "" {
		return byDay, nil
	}
	for i, name := range IncrementNames {
		if strings.EqualFold(text, name) {
			return Increment(i), nil
		}
	}
	return 0, fault.Invalid(errcode.CodeIncrement, suggest.NotOneOf("timeIncrement", text, IncrementNames[:]...))
}

// Bounds divides days into periods. It returns the first day of each period, and the day after the last one.
func (p periods) Bounds(days civil.Range) []int32 {
	out := []int32{int32(days.From)}
	for at := p.next(days.From); at < days.To; at = p.next(at) {
		out = append(out, int32(at))
	}
	return append(out, int32(days.To))
}

// next returns the first day of the next period after a day.
func (p periods) next(d civil.Date) civil.Date {
	year, month, _ := d.Civil()
	switch p.Increment {
	case byWeek, byPayPeriod:
		length := p.One.Days()
		into := (int(d-p.One.From)%length + length) % length
		return d.AddDays(length - into)
	case byMonth:
		return civil.FromTime(time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC))
	case byQuarter:
		return civil.FromTime(time.Date(year, month+3-(month-1)%3, 1, 0, 0, 0, 0, time.UTC))
	default:
		return d + 1
	}
}

const daysPerWeek = 7

// LabelForm is a format of period labels.
type LabelForm string

// LabelForms returns all formats, with the increments that they fit best.
func LabelForms() map[LabelForm][]Increment {
	all := []Increment{byDay, byWeek, byMonth, byQuarter, byPayPeriod}
	return map[LabelForm][]Increment{
		"DAY_OF_WEEK": {byDay}, "LONG_DATE": {byDay}, "DAY_OF_WEEK_LONGDATE": {byDay},
		"WEEK_NUMBER": {byWeek}, "WEEK_NUMBER_LONG_DATERANGE": {byWeek}, "LONG_DATERANGE": all,
		"MONTH_NAME": {byMonth}, "MONTH_SHORTNAME": {byMonth}, "MONTH_LONG_DATERANGE": {byMonth}, "QUARTER_NAME": {byQuarter},
	}
}

func parseLabelForm(text string) (LabelForm, error) {
	form := LabelForm(strings.ToUpper(text))
	if _, known := LabelForms()[form]; form != "" && !known {
		return "", errcode.Invalid(errcode.CodeBadRequest, "options.timeIncrementFormat: %q is unknown. GET /v1/commons/data_dictionary/time_increments lists the formats.", errcode.Shorten(text))
	}
	return form, nil
}

// Label returns the label of a period. The week may be any week of the tenant: only its first weekday counts.
func (f LabelForm) Label(days, week civil.Range) string {
	first, last := days.From.Time(), (days.To - 1).Time()
	number := weekNumber(days.From, week)
	span := longDate(first) + " - " + longDate(last)
	switch f {
	case "DAY_OF_WEEK":
		return first.Weekday().String()
	case "DAY_OF_WEEK_LONGDATE":
		return first.Weekday().String() + " " + longDate(first)
	case "WEEK_NUMBER":
		return fmt.Sprintf("Week %d", number)
	case "WEEK_NUMBER_LONG_DATERANGE":
		return fmt.Sprintf("Week %d %s", number, span)
	case "LONG_DATERANGE":
		return span
	case "MONTH_NAME":
		return first.Month().String()
	case "MONTH_SHORTNAME":
		return first.Format("Jan")
	case "MONTH_LONG_DATERANGE":
		return first.Month().String() + " " + span
	case "QUARTER_NAME":
		return fmt.Sprintf("Q%d %d", (int(first.Month())+2)/3, first.Year())
	}
	return longDate(first)
}

// weekNumber returns the ISO 8601 number of the week of the tenant that a day is in: the number of its
// Thursday, because weeks may begin on another day than ISO weeks, and the first week of a series may be cut.
func weekNumber(day civil.Date, week civil.Range) int {
	if !week.Empty() {
		into := (int(day-week.From)%daysPerWeek + daysPerWeek) % daysPerWeek
		day = day.AddDays(-into)
		day = day.AddDays((int(time.Thursday-day.Time().Weekday()) + daysPerWeek) % daysPerWeek)
	}
	_, number := day.Time().ISOWeek()
	return number
}

// longDate formats a date in the reference product's first locale.
func longDate(t time.Time) string { return t.Format("1/02/2006") }
