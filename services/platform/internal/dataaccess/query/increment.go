// Package query reads requests for data, and checks what can be known of them alone.
package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
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

// IncrementNames are what requests call the increments.
var IncrementNames = [...]string{byDay: "DAY", byWeek: "WEEK", byMonth: "MONTH", byQuarter: "QUARTER", byPayPeriod: "PAYPERIOD"}

// Symbolic names the symbolic period that says where periods of the increment
// begin, and how long they are; "" for one that the calendar decides.
func (i Increment) Symbolic() string {
	switch i {
	case byWeek:
		return "Current_Week"
	case byPayPeriod:
		return "Current_Payperiod"
	}
	return ""
}

// periods are what days are cut into.
type periods struct {
	Increment
	// One is a week or a pay period: all have its length, before and after it.
	One civil.Range
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
	return 0, errcode.Invalid(errcode.CodeIncrement, "timeIncrement: %q is none of %s.", errcode.Shortened(text), strings.Join(IncrementNames[:], ", "))
}

// Bounds cuts days into periods: the first days of all, and the day after the
// last.
func (p periods) Bounds(days civil.Range) []int32 {
	out := []int32{int32(days.From)}
	for at := p.next(days.From); at < days.To; at = p.next(at) {
		out = append(out, int32(at))
	}
	return append(out, int32(days.To))
}

// next returns the first day of the period after that of a day.
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

// LabelForm is how a period is written for people.
type LabelForm string

// LabelForms are all forms, with the increments that they fit best.
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
		return "", errcode.Invalid(errcode.CodeBadRequest, "options.timeIncrementFormat: %q is not known.", errcode.Shortened(text))
	}
	return form, nil
}

// Label writes a period.
func (f LabelForm) Label(days civil.Range) string {
	first, last := days.From.Time(), (days.To - 1).Time()
	_, week := first.ISOWeek()
	span := longDate(first) + " - " + longDate(last)
	switch f {
	case "DAY_OF_WEEK":
		return first.Weekday().String()
	case "DAY_OF_WEEK_LONGDATE":
		return first.Weekday().String() + " " + longDate(first)
	case "WEEK_NUMBER":
		return fmt.Sprintf("Week %d", week)
	case "WEEK_NUMBER_LONG_DATERANGE":
		return fmt.Sprintf("Week %d %s", week, span)
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

// longDate is a date as people of the reference product's first locale write
// it.
func longDate(t time.Time) string { return t.Format("1/02/2006") }
