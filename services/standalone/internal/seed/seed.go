// Package seed creates a demonstration: rotations that real crews work, an employment term for each, and two
// thousand persons at four sites. Forty candidates apply for opportunities, and one of them is hired. It uses only
// the public API, which proves that the API suffices.
package seed

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/backoff"
)

const (
	// forever is the end of periods without an end.
	forever = "3000-01-01"
	// One of ten persons changes to the next term.
	changeEvery = 10
	// changeAfter is the day of the change. It is in the middle of each cycle.
	changeAfter = 45
)

// Demo creates the demonstration. All its users have the password. It keeps objects from an earlier,
// interrupted run. Two months before now, it takes the year, and the schedules begin on the first Monday of that
// year, so that the last month has schedules. It calls progress at the beginning of each step.
func Demo(ctx context.Context, c *Client, now time.Time, password string, progress func(step string)) error {
	all, err := rotations()
	if err != nil {
		return err
	}
	start := firstMonday(now.AddDate(0, -2, 0).Year())
	steps := []struct {
		name string
		run  func() error
	}{
		{"setup and holidays", func() error { return createSetup(ctx, c, now) }},
		{"shift templates", func() error { return createShiftTemplates(ctx, c, all) }},
		{"pattern templates", func() error { return createPatternTemplates(ctx, c, all) }},
		{"employment terms", func() error { return createTerms(ctx, c, all) }},
		{"jobs and locations", func() error { return createPlaces(ctx, c) }},
		{"persons", func() error { return createPeople(ctx, c, start, password) }},
		{"term assignments", func() error { return assignTerms(ctx, c, all, start) }},
		{"pattern assignments", func() error { return assignPatterns(ctx, c, all, start) }},
		{"opportunities, candidates, applications and a hire", func() error { return createRecruiting(ctx, c, all, start) }},
		{"time off", func() error { return requestTimeOff(ctx, c, now, password) }},
		{"punches", func() error { return punch(ctx, c, now) }},
		{"payroll", func() error { return runPayroll(ctx, c, now) }},
		{"messages", func() error { return sendMessages(ctx, c, now) }},
	}
	for _, step := range steps {
		progress(step.name)
		if err := step.run(); err != nil {
			return fmt.Errorf("seed %s: %w", step.name, err)
		}
	}
	return nil
}

func firstMonday(year int) time.Time {
	day := time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)
	for day.Weekday() != time.Monday {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

func iso(day time.Time) string { return day.Format(time.DateOnly) }

// names returns the names in the response of a list operation.
func names(ctx context.Context, c *Client, path string) (map[string]bool, error) {
	var list []struct {
		Name string `json:"name"`
	}
	if err := c.call(ctx, http.MethodGet, path, nil, &list); err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(list))
	for _, item := range list {
		found[item.Name] = true
	}
	return found, nil
}

// missing returns the items whose name does not exist yet.
func missing(items []object, existing map[string]bool) []object {
	var rest []object
	for _, item := range items {
		if name, _ := item["name"].(string); !existing[name] {
			rest = append(rest, item)
		}
	}
	return rest
}

func createShiftTemplates(ctx context.Context, c *Client, all []rotation) error {
	const path = "/v1/scheduling/shift_templates"
	var templates []object
	for _, r := range all {
		templates = append(templates, r.shiftTemplates()...)
	}
	return createMissing(ctx, c, path, templates)
}

func createPatternTemplates(ctx context.Context, c *Client, all []rotation) error {
	const path = "/v1/scheduling/schedule_pattern_templates"
	var templates []object
	for _, r := range all {
		templates = append(templates, r.patternTemplate())
	}
	return createMissing(ctx, c, path, templates)
}

func createMissing(ctx context.Context, c *Client, path string, items []object) error {
	existing, err := names(ctx, c, path)
	if err != nil {
		return err
	}
	if items = missing(items, existing); len(items) == 0 {
		return nil
	}
	return c.call(ctx, http.MethodPost, path+"/multi_create", items, nil)
}

func createTerms(ctx context.Context, c *Client, all []rotation) error {
	const path = "/v1/timekeeping/setup/employment_terms"
	existing, err := names(ctx, c, path)
	if err != nil {
		return err
	}
	for _, r := range all {
		if existing[r.Name] {
			continue
		}
		term := object{
			"name": r.Name, "isActive": true, "allowsInheritance": true, "processType": "ENFORCE_END_DATE",
			"versions": object{"employmentTermVersion": []object{
				{"startDate": "2020-01-01", "endDate": "3000-01-01"},
			}},
		}
		if err := c.call(ctx, http.MethodPost, path, term, nil); err != nil {
			return err
		}
	}
	return nil
}

func assignTerms(ctx context.Context, c *Client, all []rotation, start time.Time) error {
	for from := 0; from < persons; from += batch {
		var items []object
		for i := from; i < from+batch; i++ {
			items = append(items, object{
				"personIdentity": object{"personNumber": personNumber(i)},
				"assignments":    assignments(i, all, start),
			})
		}
		path := "/v1/commons/persons/employment_terms/multi_upsert"
		if err := c.call(ctx, http.MethodPost, path, items, nil); err != nil {
			return err
		}
	}
	return nil
}

func assignments(i int, all []rotation, start time.Time) []object {
	term := func(n int) object { return object{"qualifier": all[n%len(all)].Name} }
	if i%changeEvery != 0 {
		return []object{{"employmentTerm": term(i), "effectiveDate": iso(start), "expirationDate": forever}}
	}
	change := iso(start.AddDate(0, 0, changeAfter))
	return []object{
		{"employmentTerm": term(i), "effectiveDate": iso(start), "expirationDate": change},
		{"employmentTerm": term(i + 1), "effectiveDate": change, "expirationDate": forever},
	}
}

func assignPatterns(ctx context.Context, c *Client, all []rotation, start time.Time) error {
	const path = "/v1/scheduling/employment_term_schedule_patterns"
	var creates []object
	for _, r := range all {
		ref := object{"qualifier": r.Name}
		var found struct {
			Patterns []object `json:"groupSchedulePatterns"`
		}
		query := object{"select": "gsp", "where": object{"groups": object{"groupRefs": []object{ref}}}}
		if err := c.call(ctx, http.MethodPost, path+"/multi_read", query, &found); err != nil {
			return err
		}
		if len(found.Patterns) > 0 {
			continue
		}
		creates = append(creates, object{"override": true, "groupSchedulePattern": object{
			"groupRef": ref, "startDate": iso(start), "schedulePattern": object{"name": r.Name},
		}})
	}
	if len(creates) == 0 {
		return nil
	}
	body := object{"groupSchedulePatterns": object{"do": object{"groupSchedulePatternCreates": creates}}}
	header, err := c.send(ctx, http.MethodPost, path+"/apply_create", body, nil)
	if err != nil {
		return err
	}
	return awaitPropagation(ctx, c, header.Get("Content-Location"))
}

// awaitPropagation waits until the schedules show a change, so that the first requests to the demonstration
// find complete schedules.
func awaitPropagation(ctx context.Context, c *Client, path string) error {
	for wait := (backoff.Backoff{First: 20 * time.Millisecond, Max: time.Second}); ; {
		var p struct{ State, Error string }
		if err := c.call(ctx, http.MethodGet, path, nil, &p); err != nil {
			return err
		}
		switch p.State {
		case "FINISHED":
			return nil
		case "FAILED":
			return fmt.Errorf("the change of the schedules failed: %s", p.Error)
		}
		if err := wait.Wait(ctx); err != nil {
			return err
		}
	}
}
