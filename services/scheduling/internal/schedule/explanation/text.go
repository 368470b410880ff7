package explanation

import (
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

func membershipText(m *membership) string {
	name := fmt.Sprintf("%d", m.TermID)
	if m.Term != "" {
		name = m.Term
	}
	text := fmt.Sprintf("The employee is on the employment term %s %s", name, daysText(m.Days))
	if !m.Inherits {
		return text + ", which passes on no rotations."
	}
	return text + "."
}

func assignmentText(s *reading.SpanOrigin, a *assignment) string {
	owner := "the employee"
	switch {
	case a != nil && a.Term != "":
		owner = "the employment term " + a.Term
	case s.Inherited:
		owner = "the employment term"
	}
	days := s.Days
	if a != nil {
		days = a.Days
	}
	return fmt.Sprintf("%s is assigned to %s %s.", rotationName(s, "The"), owner, daysText(days))
}

func patternDayText(s *reading.SpanOrigin, a *assignment, day civil.Date, shifts []*reading.Produced) string {
	text := fmt.Sprintf("Day %d of %d of %s", s.Position(day)+1, s.DayCount(), rotationName(s, "the"))
	if a != nil {
		text += ", counted from " + a.Anchor.AddDays(-int(a.Offset)).Clamp().String() + ","
	}
	switch len(shifts) {
	case 0:
		return text + " is free."
	case 1:
		return text + " has the shift " + clockText(shifts[0].Start, shifts[0].End) + "."
	}
	names := make([]string, len(shifts))
	for i, p := range shifts {
		names[i] = clockText(p.Start, p.End)
	}
	return text + " has the shifts " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + "."
}

// rotationName returns the rotation with an article.
func rotationName(s *reading.SpanOrigin, article string) string {
	if s.Pattern == "" {
		return article + " rotation"
	}
	return article + " rotation " + s.Pattern
}

func hideText(p *reading.Produced, item *item, employee int64) string {
	text := "The shift " + clockText(p.Start, p.End) + " of the rotation was "
	switch {
	case item.Deleted:
		return text + "deleted by hand."
	case item.EmployeeID == 0:
		return text + "made an open shift by hand."
	case item.EmployeeID != employee:
		return text + "given to another employee by hand."
	case item.Day != p.Day:
		return text + "moved to " + item.Day.String() + " by hand."
	default:
		return text + "changed by hand."
	}
}

func enteredText(s *reading.Entered) string {
	if entryid.IsGenerated(s.ID) {
		return "The shift " + clockText(s.Start, s.End) + " is a changed shift of a rotation."
	}
	return "The shift " + clockText(s.Start, s.End) + " was entered by hand."
}

func leaveText(name string, cuts []*reading.Cut) string {
	if len(cuts) == 0 {
		return name + " is on this day, and takes no shift."
	}
	parts := make([]string, len(cuts))
	for i, c := range cuts {
		parts[i] = "a part of the shift " + clockText(c.Start, c.End)
		if c.Whole {
			parts[i] = "the shift " + clockText(c.Start, c.End)
		}
	}
	return name + " takes " + strings.Join(parts, " and ") + "."
}

func lockText(days civil.Range) string {
	return "The schedule is locked " + daysText(days) + ": later changes of rotations do not reach it."
}

func movedText(s *reading.Shown) string {
	return "A clock change skips a time of the shift " + clockText(s.Start, s.End) + ", which is moved to the first time after it."
}

func omittedDayText(day civil.Date) string {
	return "The calendar of the employee's time zone has no " + day.String() + ", so that the shifts of the day do not take place."
}

// daysText returns days with their ends: "from 2026-11-02 on" or "from 2026-11-02 to 2026-11-30".
func daysText(days civil.Range) string {
	switch {
	case days.To >= civil.Forever:
		return "from " + days.From.String() + " on"
	case days.Days() == 1:
		return "on " + days.From.String()
	default:
		return "from " + days.From.String() + " to " + days.To.AddDays(-1).String()
	}
}

// clockText returns the times of a shift: "22:00-06:00". They are seconds after the midnight that begins its day.
func clockText(start, end int32) string { return formatClock(start) + "-" + formatClock(end) }

// formatClock formats a time of day: "06:00".
func formatClock(seconds int32) string {
	minutes := seconds / 60 % (24 * 60)
	return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60)
}
