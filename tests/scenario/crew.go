package scenario

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// BatchSize is the number of persons of a crew that one request creates.
const BatchSize = 100

const (
	parallel = 4
	forever  = "3000-01-01"
	patterns = "/v1/scheduling/employment_term_schedule_patterns"
)

var counter atomic.Int64

// Unique returns a name that no other scenario has.
func Unique(prefix string) string {
	return fmt.Sprintf("%s-%x-%d", prefix, time.Now().UnixNano(), counter.Add(1))
}

// Crew is a number of persons on their own employment term.
type Crew struct {
	TermID  int64
	Name    string
	Persons []int64
}

// NewCrew creates a term, and size persons who are on it from a day on.
func NewCrew(ctx context.Context, api API, size int, from string) (*Crew, error) {
	crew := &Crew{Name: Unique("crew"), Persons: make([]int64, size)}
	var term struct{ ID int64 }
	_, err := api.Call(ctx, http.MethodPost, "/v1/timekeeping/setup/employment_terms", Object{
		"name": crew.Name, "allowsInheritance": true, "processType": "ENFORCE_END_DATE",
		"versions": Object{"employmentTermVersion": []Object{{"startDate": "2000-01-01", "endDate": forever}}},
	}, &term)
	if err != nil {
		return nil, err
	}
	crew.TermID = term.ID
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for first := 0; first < size; first += BatchSize {
		share := crew.Persons[first:min(first+BatchSize, size)]
		group.Go(func() error { return crew.hire(ctx, api, first, share, from) })
	}
	return crew, group.Wait()
}

// hire creates a batch of persons, stores their ids and puts them on the term.
func (c *Crew) hire(ctx context.Context, api API, first int, ids []int64, from string) error {
	persons := make([]Object, len(ids))
	for i := range ids {
		persons[i] = Object{
			"personInformation": Object{"person": Object{
				"personNumber": fmt.Sprintf("%s-%d", c.Name, first+i), "firstName": "Crew", "lastName": "Member",
				"hireDate": "2020-01-01",
			}},
			"jobAssignment": Object{"jobAssignmentDetails": Object{"timeZoneName": "Europe/Zurich"}},
		}
	}
	var created []struct {
		PersonIdentity struct{ PersonKey int64 }
	}
	if _, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons/multi_create", persons, &created); err != nil {
		return err
	}
	if len(created) != len(ids) {
		return fmt.Errorf("%d persons were created instead of %d", len(created), len(ids))
	}
	for i := range created {
		ids[i] = created[i].PersonIdentity.PersonKey
	}
	return PutOnTerm(ctx, api, c.TermID, ids, from, forever)
}

// PutOnTerm puts up to 100 persons on the term for the days from..to (to excluded).
func PutOnTerm(ctx context.Context, api API, term int64, persons []int64, from, to string) error {
	items := make([]Object, len(persons))
	for i, id := range persons {
		items[i] = Object{
			"personIdentity": Object{"personKey": id},
			"assignmentSpan": Object{"start": from, "end": to},
			"assignments":    []Object{{"employmentTerm": Object{"id": term}, "effectiveDate": from, "expirationDate": to}},
		}
	}
	_, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons/employment_terms/multi_upsert", items, nil)
	return err
}

// Shift returns an inline shift template between two times such as "06:00". An overnight shift ends
// on the next day.
func Shift(label, start, end string, overnight bool) Object {
	day := "1900-01-01"
	if overnight {
		day = "1900-01-02"
	}
	return Object{"label": label, "startDateTime": "1900-01-01T" + start + ":00", "endDateTime": day + "T" + end + ":00"}
}

// Pattern returns an inline pattern with one letter for each day; '-' is a day off.
func Pattern(cycle string, shifts map[string]Object) Object {
	var items []Object
	for i, letter := range cycle {
		if letter != '-' {
			items = append(items, Object{"day": i + 1, "shiftTemplate": shifts[string(letter)]})
		}
	}
	return Object{
		"dayCount": len(cycle), "timePeriodType": Object{"name": "Daily"}, "items": items,
	}
}

// Assignment is a stored pattern assignment.
type Assignment struct {
	ID          int64
	Propagation string
}

// Assign assigns a pattern to the crew's term from a day on, and replaces the earlier one. An empty
// to means without end.
func (c *Crew) Assign(ctx context.Context, api API, pattern Object, from, to string, offset int) (Assignment, error) {
	var results []struct {
		GroupSchedulePattern struct{ ID int64 }
	}
	header, err := api.Call(ctx, http.MethodPost, patterns+"/apply_create", c.assignment(pattern, from, to, offset), &results)
	if err != nil {
		return Assignment{}, err
	}
	return Assignment{ID: results[0].GroupSchedulePattern.ID, Propagation: header.Get("Content-Location")}, nil
}

// assignment returns the body of a request that assigns a pattern.
func (c *Crew) assignment(pattern Object, from, to string, offset int) Object {
	gsp := Object{
		"groupRef": Object{"id": c.TermID}, "startDate": from, "startDateOffset": offset, "schedulePattern": pattern,
	}
	if to != "" {
		gsp["endDate"] = to
	}
	return Object{"groupSchedulePatterns": Object{"do": Object{"groupSchedulePatternCreates": []Object{
		{"override": true, "groupSchedulePattern": gsp},
	}}}}
}

// Preview previews Assign without an end, and returns the number of employees who change.
func (c *Crew) Preview(ctx context.Context, api API, pattern Object, from string) (int, error) {
	var preview struct {
		Summary struct{ EmployeesChanged int }
	}
	_, err := api.Call(ctx, http.MethodPost, patterns+"/preview", Object{"applyCreate": c.assignment(pattern, from, "", 0)}, &preview)
	return preview.Summary.EmployeesChanged, err
}

// Recreate replaces an assignment's pattern over its whole range.
func (c *Crew) Recreate(ctx context.Context, api API, id int64, pattern Object, from string) (Assignment, error) {
	header, err := api.Call(ctx, http.MethodPost, patterns+"/apply_update", Object{"recreate": Object{
		"where": Object{"groupSchedulePatternIds": []int64{id}},
		"do": Object{"groupSchedulePattern": Object{
			"groupRef": Object{"id": c.TermID}, "startDate": from, "schedulePattern": pattern,
		}},
	}}, nil)
	return Assignment{ID: id, Propagation: header.Get("Content-Location")}, err
}
