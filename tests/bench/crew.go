package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// from is the day from which crews and patterns are there.
	from = "2026-01-05"
	// shownDay is the day that is read to see a change, firstDay one that is in
	// every window.
	shownDay = "2026-03-04"
	firstDay = "2026-01-06"
)

// everyDay is a pattern of a fortnight with a shift of three segments on each
// day.
func everyDay(label string) scenario.Object {
	shift := scenario.Shift(label, "08:00", "16:30", false)
	segment := func(kind, start, end string) scenario.Object {
		return scenario.Object{
			"segmentType":   scenario.Object{"qualifier": kind},
			"startDateTime": "1900-01-01T" + start + ":00", "endDateTime": "1900-01-01T" + end + ":00",
		}
	}
	shift["segments"] = []scenario.Object{
		segment("REGULAR_SEGMENT", "08:00", "12:00"), segment("BREAK_SEGMENT", "12:00", "12:30"),
		segment("REGULAR_SEGMENT", "12:30", "16:30"),
	}
	return scenario.Pattern("AAAAAAAAAAAAAA", map[string]scenario.Object{"A": shift})
}

// settleTimeout bounds how long a crew takes to arrive in scheduling.
const settleTimeout = 2 * time.Minute

// hire creates a crew and gives it a pattern to a day, "" for no end. It waits
// until everybody's schedule shows it: who is on a term comes to scheduling as
// events, and what is measured later begins when these have been worked off.
func hire(ctx context.Context, api scenario.API, size int, to string) (*scenario.Crew, error) {
	crew, err := scenario.NewCrew(ctx, api, size, from)
	if err != nil {
		return nil, err
	}
	label := scenario.Unique("bench")
	if _, err := crew.Assign(ctx, api, everyDay(label), from, to, 0); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return crew, settled(ctx, api, crew, label)
}

// settled waits until each of a crew is read with a shift of the label.
func settled(ctx context.Context, api scenario.API, crew *scenario.Crew, label string) error {
	const most = 10_000 // of one reading
	for first := 0; first < len(crew.Persons); {
		some := crew.Persons[first:min(first+most, len(crew.Persons))]
		_, body, err := api.Bytes(ctx, "POST", readPath, scenario.ReadRequest(some, firstDay, firstDay))
		if err != nil {
			return err
		}
		if showsAll(body, some, label) == nil {
			first += most
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("a crew of %d is not in scheduling: %w", len(crew.Persons), ctx.Err())
		case <-time.After(50 * time.Millisecond): // the pause between two looks
		}
	}
	return nil
}

// change puts another pattern on a crew, and returns how long it took from its
// 200 until it was FINISHED, and, when the schedules are read, until those had
// arrived.
func change(ctx context.Context, api scenario.API, crew *scenario.Crew, to string, read bool) (time.Duration, error) {
	label := scenario.Unique("bench")
	assigned, err := crew.Assign(ctx, api, everyDay(label), from, to, 0)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := scenario.Finish(ctx, api, assigned.Propagation); err != nil {
		return 0, err
	}
	if !read {
		return time.Since(began), nil
	}
	_, body, err := api.Bytes(ctx, "POST", readPath, scenario.ReadRequest(crew.Persons, shownDay, shownDay))
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	return took, showsAll(body, crew.Persons, label)
}

// showsAll checks that a response has one shift of the label for each employee.
func showsAll(body []byte, employees []int64, label string) error {
	var read struct{ Shifts []scenario.ShiftOf }
	if err := json.Unmarshal(body, &read); err != nil {
		return err
	}
	shown := make(map[int64]bool, len(employees))
	for _, s := range read.Shifts {
		if s.Label != label || shown[s.Employee.ID] {
			return fmt.Errorf("employee %d has a shift %q beside %q", s.Employee.ID, s.Label, label)
		}
		shown[s.Employee.ID] = true
	}
	for _, id := range employees {
		if !shown[id] {
			return fmt.Errorf("employee %d does not have the shift %q after the change is FINISHED", id, label)
		}
	}
	return nil
}
