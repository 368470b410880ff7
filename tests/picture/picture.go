// Package picture draws schedules as the API shows them, for the front page of the repository.
package picture

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Row is the schedule of one employee.
type Row struct {
	// Name is the name of the rotation.
	Name   string
	Shifts []Shift
}

// Shift is a shift of a schedule.
type Shift struct {
	Label string
	// Start and End are local times.
	Start, End time.Time
}

// local is the format of local times of the API.
const local = "2006-01-02T15:04:05"

// Read reads the schedules of employees on some days from the first one on, in the order of the person numbers.
func Read(ctx context.Context, api scenario.API, numbers []string, first time.Time, days int) ([]Row, error) {
	from, to := first.Format(time.DateOnly), first.AddDate(0, 0, days-1).Format(time.DateOnly)
	var members []struct {
		PersonIdentity struct{ PersonNumber string }
		Assignments    []struct{ EmploymentTerm struct{ Qualifier string } }
	}
	terms := scenario.Object{"where": scenario.Object{"employees": scenario.Object{"key": "personnumber", "values": numbers}, "snapshotDate": from}}
	if _, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons/employment_terms/multi_read", terms, &members); err != nil {
		return nil, fmt.Errorf("read the employment terms: %w", err)
	}
	names := map[string]string{}
	for _, m := range members {
		for _, a := range m.Assignments {
			names[m.PersonIdentity.PersonNumber] = a.EmploymentTerm.Qualifier
		}
	}
	var schedule struct {
		Shifts []struct {
			Employee                          struct{ Qualifier string }
			Label, StartDateTime, EndDateTime string
		}
	}
	request := scenario.Object{"select": []string{"SHIFTS"}, "where": scenario.Object{"employees": scenario.Object{
		"employeeRefs": scenario.Object{"qualifiers": numbers}, "startDate": from, "endDate": to,
	}}}
	if _, err := api.Call(ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", request, &schedule); err != nil {
		return nil, fmt.Errorf("read the schedules: %w", err)
	}
	rows, at := make([]Row, len(numbers)), map[string]int{}
	for i, number := range numbers {
		rows[i].Name, at[number] = names[number], i
	}
	for _, s := range schedule.Shifts {
		start, err := time.Parse(local, s.StartDateTime)
		if err != nil {
			return nil, fmt.Errorf("a shift of %s: %w", s.Employee.Qualifier, err)
		}
		end, err := time.Parse(local, s.EndDateTime)
		if err != nil {
			return nil, fmt.Errorf("a shift of %s: %w", s.Employee.Qualifier, err)
		}
		row := &rows[at[s.Employee.Qualifier]]
		row.Shifts = append(row.Shifts, Shift{Label: s.Label, Start: start, End: end})
	}
	return rows, nil
}

// Sizes in pixels.
const (
	nameWidth  = 210
	dayWidth   = 26
	rowHeight  = 26
	headHeight = 40
	gap        = 2
)

// colours are the colours of shifts by the time of their start, with the names in the legend.
var colours = []struct{ name, colour string }{
	{"morning", "#e0a93e"}, {"afternoon", "#4f9d69"}, {"night", "#4a6fa5"}, {"24 hours", "#a4516c"},
}

// colour returns the index of a shift's colour.
func (s Shift) colour() int {
	switch hour := s.Start.Hour(); {
	case s.End.Sub(s.Start) >= 24*time.Hour:
		return 3
	case hour >= 18 || hour < 4:
		return 2
	case hour >= 12:
		return 1
	}
	return 0
}

// Draw returns an SVG picture with a row for each schedule and a column for each day.
func Draw(rows []Row, first time.Time, days int) []byte {
	var b strings.Builder
	width, height := nameWidth+days*dayWidth, headHeight+(len(rows)+1)*rowHeight+gap
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<title>Rotations from %s on, %d days</title>\n", first.Format("2 January 2006"), days)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	text := func(x, y int, anchor, colour, s string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, colour, html.EscapeString(s))
	}
	for day := range days {
		date, x := first.AddDate(0, 0, day), nameWidth+day*dayWidth+dayWidth/2
		if day == 0 || date.Day() == 1 {
			text(x-dayWidth/2, 14, "start", "#555555", date.Format("January 2006"))
		}
		text(x, 32, "middle", "#555555", fmt.Sprint(date.Day()))
	}
	for i, row := range rows {
		y := headHeight + i*rowHeight
		text(4, y+17, "start", "#222222", row.Name)
		for _, s := range row.Shifts {
			day := int(s.Start.Truncate(24*time.Hour).Sub(first).Hours()) / 24
			if day < 0 || day >= days {
				continue // A shift that began before the first day.
			}
			x := nameWidth + day*dayWidth
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="4" fill="%s"><title>%s</title></rect>`+"\n", x+gap/2, y+gap/2, dayWidth-gap, rowHeight-gap,
				colours[s.colour()].colour, html.EscapeString(s.Label+" "+s.Start.Format("15:04")+"-"+s.End.Format("15:04")))
			text(x+dayWidth/2, y+17, "middle", "#ffffff", s.Label)
		}
	}
	x := nameWidth
	for _, c := range colours {
		y := headHeight + len(rows)*rowHeight
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="14" height="14" rx="3" fill="%s"/>`+"\n", x, y+7, c.colour)
		text(x+20, y+18, "start", "#555555", c.name)
		x += 110
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
