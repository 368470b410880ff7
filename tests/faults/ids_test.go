package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// secondSunday ends two weeks from monday.
const secondSunday = "2026-01-18"

// minNewIDs is the least number of ids that must be assigned after each restore.
const minNewIDs = 1000

// ids holds all ids that were ever assigned, by kind. It is safe for concurrent use.
type ids struct {
	mu    sync.Mutex
	known map[string]map[int64]bool
}

func newIDs() *ids { return &ids{known: map[string]map[int64]bool{}} }

// give records ids, and fails if one of them was assigned before.
func (i *ids) give(t *testing.T, kind string, given ...int64) {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known[kind] == nil {
		i.known[kind] = map[int64]bool{}
	}
	for _, id := range given {
		assert.False(t, i.known[kind][id], "%s %d is given twice", kind, id)
		i.known[kind][id] = true
	}
}

func (i *ids) count() (n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, of := range i.known {
		n += len(of)
	}
	return n
}

// employee is a person with the ids of the records that services keep about them.
type employee struct {
	id          int64
	name, token string
}

func medicalLeave(employee int64) scenario.Object {
	return scenario.Object{
		"employee": scenario.Object{"id": employee}, "category": scenario.Object{"qualifier": "Medical"}, "reason": scenario.Object{"id": 7},
		"frequency": scenario.Object{"qualifier": "Continuous"}, "status": scenario.Object{"id": 1}, "approvalStatus": scenario.Object{"id": 3},
		"startDate": "2026-03-01", "endDate": "2026-03-20", "requestDate": "2026-02-01", "frequencyEffectiveDate": "2026-03-01",
	}
}

// employ hires a person with a user, a leave case, a shift and a locked day.
func (w *fixture) employ(given *ids, name string) employee {
	w.t.Helper()
	made := employee{name: scenario.Unique(name)}
	password := "Correct-horse-" + made.name
	hire := person(made.name, "Ann", made.name)
	hire["personInformation"].(scenario.Object)["accessAssignment"] = scenario.Object{"accessProfileName": "Employee"}
	hire["user"] = scenario.Object{"userAccount": scenario.Object{"userName": made.name, "userPassword": password}}
	var created struct{ PersonIdentity struct{ PersonKey int64 } }
	w.post("/v1/commons/persons", hire, &created)
	made.id = created.PersonIdentity.PersonKey
	given.give(w.t, "person", made.id)
	var notification struct{ NotificationID int64 }
	w.post("/v1/commons/generic_notifications", scenario.Object{
		"name": made.name, "subject": "Hired", "priority": "Low", "resendTypes": "Do not suppress duplicates",
	}, &notification)
	given.give(w.t, "notification", notification.NotificationID)
	w.post(applicantSources, scenario.Object{"name": made.name}, nil) // An audit event of recruiting has a generated id.
	ref := scenario.Object{"id": made.id}
	var leave struct{ ID int64 }
	w.post(leaveCases, medicalLeave(made.id), &leave)
	given.give(w.t, "leave case", leave.ID)
	w.enterShift(given, made.id)
	w.post("/v1/scheduling/schedule", scenario.Object{"employeeRef": ref, "dayLocks": scenario.Object{"create": []scenario.Object{
		{"startDateTime": "2026-06-01T00:00:00", "endDateTime": "2026-06-02T00:00:00"},
	}}}, nil)
	target := w.api.Target
	target.Values = map[string]string{
		"username": made.name, "password": password,
		"client_id": w.Credentials.ClientID, "client_secret": w.Credentials.ClientSecret,
	}
	var err error
	made.token, err = contract.Login(w.ctx, target)
	require.NoError(w.t, err)
	return made
}

func (w *fixture) enterShift(given *ids, employee int64) {
	w.t.Helper()
	var shifts []struct{ ID int64 }
	w.post(shiftsPath, scenario.Object{
		"employee": scenario.Object{"id": employee}, "startDateTime": "2026-03-03T10:00:00", "endDateTime": "2026-03-03T12:00:00",
	}, &shifts)
	require.Len(w.t, shifts, 1)
	given.give(w.t, "entered shift", shifts[0].ID)
}

func (w *fixture) post(path string, body, reply any) {
	w.t.Helper()
	w.retry(path, func() error {
		_, err := w.api.Call(w.ctx, http.MethodPost, path, body, reply)
		return err
	})
}

// load hires a crew on a rotation and reads the ids of its shifts of two weeks. For some of them,
// it edits and enters shifts.
func (w *fixture) load(given *ids, size int, edited int) *scenario.Crew {
	w.t.Helper()
	crew, _ := w.working(size, first)
	given.give(w.t, "person", crew.Persons...)
	given.give(w.t, "term", crew.TermID)
	for persons := range slices.Chunk(crew.Persons, 100) {
		shifts, err := scenario.ReadShifts(w.ctx, w.api, persons, monday, secondSunday)
		require.NoError(w.t, err)
		for _, s := range shifts {
			given.give(w.t, "generated shift", s.ID)
		}
	}
	shifts, err := scenario.ReadShifts(w.ctx, w.api, crew.Persons[:edited], monday, monday)
	require.NoError(w.t, err)
	require.NotEmpty(w.t, shifts)
	for _, s := range shifts {
		w.post(fmt.Sprint(shiftsPath, "/", s.ID), scenario.Object{"startDateTime": monday + "T09:00:00", "endDateTime": monday + "T15:00:00"}, nil)
		w.enterShift(given, s.Employee.ID)
	}
	return crew
}

// hiring writes while a database is copied, restored and finished.
type hiring struct {
	cancel  context.CancelFunc
	callers sync.WaitGroup
	// rounds counts the persons with all records written.
	rounds atomic.Int64
}

// hireLeaveAndEdit begins to hire persons, to give them leave, and to enter and edit their shifts,
// with two callers at once, until stop. Calls may fail, because services are stopped, refuse
// writes, or have lost the person in the meantime. No failure may be an internal error.
func (w *fixture) hireLeaveAndEdit(given *ids) *hiring {
	ctx, cancel := context.WithCancel(w.ctx)
	h := &hiring{cancel: cancel}
	w.t.Cleanup(h.stop)
	api := w.api
	for range 2 {
		h.callers.Go(func() {
			for ctx.Err() == nil {
				err := w.hireOne(ctx, api, given)
				var refused *scenario.Refused
				switch {
				case err == nil:
					h.rounds.Add(1)
				case errors.As(err, &refused):
					assert.NotEqual(w.t, http.StatusInternalServerError, refused.Status, err)
				}
				time.Sleep(20 * time.Millisecond) // pace the callers
			}
		})
	}
	return h
}

// hireOne hires one person with leave, and with a shift that is then edited.
func (w *fixture) hireOne(ctx context.Context, api scenario.API, given *ids) error {
	var created struct{ PersonIdentity struct{ PersonKey int64 } }
	name := scenario.Unique("BUSY")
	if _, err := api.Call(ctx, http.MethodPost, "/v1/commons/persons", person(name, "Ben", name), &created); err != nil {
		return err
	}
	id := created.PersonIdentity.PersonKey
	given.give(w.t, "person", id)
	var leave struct{ ID int64 }
	if _, err := api.Call(ctx, http.MethodPost, leaveCases, medicalLeave(id), &leave); err != nil {
		return err
	}
	given.give(w.t, "leave case", leave.ID)
	var shifts []struct{ ID int64 }
	shift := scenario.Object{"employee": scenario.Object{"id": id}, "startDateTime": "2026-03-03T10:00:00", "endDateTime": "2026-03-03T12:00:00"}
	if _, err := api.Call(ctx, http.MethodPost, shiftsPath, shift, &shifts); err != nil {
		return err
	}
	for _, s := range shifts {
		given.give(w.t, "entered shift", s.ID)
		edit := scenario.Object{"startDateTime": "2026-03-03T11:00:00", "endDateTime": "2026-03-03T13:00:00"}
		if _, err := api.Call(ctx, http.MethodPost, fmt.Sprint(shiftsPath, "/", s.ID), edit, nil); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the callers, and waits for them.
func (h *hiring) stop() {
	h.cancel()
	h.callers.Wait()
}
