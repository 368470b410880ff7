package model

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	leaveCases = "/v1/leave/leave_cases"
	leaveEdits = "/v1/leave/leave_edits"
)

// employ terminates the employment of an employee from a day on, or continues it. Terminated
// employees are on no term from that day on, also after they are employed again.
func (w *fixture) employ() string {
	i, from := w.random.IntN(len(w.employees)), w.anyDay()
	e, status := w.employees[i], "Active"
	if w.chance(50) {
		status = "Terminated"
	}
	w.must(http.MethodPost, "/v1/commons/persons/multi_update", []scenario.Object{{
		"personIdentity": scenario.Object{"personKey": e.id},
		"personInformation": scenario.Object{"employmentStatusList": []scenario.Object{
			{"employmentStatusName": status, "effectiveDate": from.date()},
		}},
	}}, nil)
	for d := from; d < latest; d++ {
		if status == "Active" {
			delete(e.terminated, d)
			continue
		}
		e.terminated[d], e.terms[d] = true, 0
	}
	w.unsettled = true // Scheduling and timekeeping learn of it by events, and the next operations depend on them.
	return fmt.Sprintf("employee %d is %s from %d on", i, status, from)
}

// settle waits until the copies of all services are current, and compares the stored shifts with
// the rules. No client changes anything in the meantime.
func (w *fixture) settle() {
	w.t.Helper()
	w.alone(w.awaitSettled)
	w.unsettled = false
	w.counts["checks"]++
}

func (w *fixture) awaitSettled() {
	w.t.Helper()
	for i, e := range w.employees {
		launch.Await(w.t, waitTimeout, fmt.Sprintf("employee %d is on the terms of the model", i), func() bool {
			terms, err := w.readTerms(e)
			if status(err) == http.StatusServiceUnavailable {
				return false
			}
			require.NoError(w.t, err)
			for d := earliest; d < latest; d++ {
				if terms[d] != w.terms[e.terms[d]] {
					return false
				}
			}
			return true
		})
	}
	launch.Await(w.t, waitTimeout, "the operators' check finds no difference", func() bool {
		out, errs, code := w.shared.deployment.Verify(w.t)
		if code != 0 {
			w.t.Logf("not settled: %s%s", out, errs)
		}
		return code == 0 && strings.Contains(out, " 0 propagations have not finished")
	})
}

// readTerms reads the term that an employee is on, by day; 0 for none.
func (w *fixture) readTerms(e *employee) (map[day]int64, error) {
	var response []struct {
		Assignments []struct {
			EmploymentTerm                struct{ ID int64 }
			EffectiveDate, ExpirationDate string
		}
	}
	_, err := w.api.Call(w.t.Context(), http.MethodPost, "/v1/commons/persons/employment_terms/multi_read", scenario.Object{
		"where": scenario.Object{"employees": scenario.Object{"key": "personid", "values": []int64{e.id}}},
	}, &response)
	terms := map[day]int64{}
	for _, person := range response {
		for _, a := range person.Assignments {
			for d := max(earliest, parseDay(a.EffectiveDate)); d < min(latest, parseDay(a.ExpirationDate)); d++ {
				terms[d] = a.EmploymentTerm.ID
			}
		}
	}
	return terms, err
}

// takeLeave enters leave of a whole day.
func (w *fixture) takeLeave() string {
	i, d := w.random.IntN(len(w.employees)), w.anyDay()
	e := w.employees[i]
	if e.leave[d] != 0 || e.timeOff[d] != 0 {
		return ""
	}
	if e.leaveCase == 0 {
		var made struct{ ID int64 }
		w.must(http.MethodPost, leaveCases, scenario.Object{
			"employee": scenario.Object{"id": e.id}, "category": scenario.Object{"qualifier": "Medical"}, "reason": scenario.Object{"id": 7},
			"frequency": scenario.Object{"qualifier": "Continuous"}, "status": scenario.Object{"id": 1}, "approvalStatus": scenario.Object{"id": 3},
			"startDate": earliest.date(), "requestDate": earliest.date(), "frequencyEffectiveDate": earliest.date(),
			"caseCode": scenario.Unique("case"),
		}, &made)
		e.leaveCase = made.ID
	}
	amount := scenario.Object{"symbolicValue": "FULL_DAY"}
	var made []struct{ ID int64 }
	// The service stores the edit before it asks commons for the response. While commons is away, the
	// edit may therefore exist.
	launch.Await(w.t, waitTimeout, "leave is entered", func() bool {
		_, err := w.api.Call(w.t.Context(), http.MethodPost, leaveEdits, scenario.Object{
			"leaveCase": scenario.Object{"id": e.leaveCase}, "leaveEdits": []scenario.Object{{"date": d.date(), "paidSegment": amount, "trackingSegment": amount}},
		}, &made)
		if status(err) == http.StatusServiceUnavailable {
			made = w.leaveOn(e, d)
			return len(made) > 0
		}
		require.NoError(w.t, err)
		return true
	})
	e.leave[d] = made[0].ID
	return fmt.Sprintf("leave %d of employee %d on %d", e.leave[d], i, d)
}

// leaveOn reads the leave of a day.
func (w *fixture) leaveOn(e *employee, d day) []struct{ ID int64 } {
	var response struct{ LeaveEdits []struct{ ID int64 } }
	_, err := w.call(http.MethodPost, leaveEdits+"/multi_read", scenario.Object{
		"employees": scenario.Object{"ids": []int64{e.id}}, "dateRange": scenario.Object{"startDate": d.date(), "endDate": d.date()},
		"leaveEditSearchTypeEnum": "BY_LEAVE_EDIT_DATES",
	}, &response)
	require.NoError(w.t, err)
	return response.LeaveEdits
}

// endLeave deletes leave of a day.
func (w *fixture) endLeave() string {
	i := w.random.IntN(len(w.employees))
	e := w.employees[i]
	var days []day
	for d := range e.leave {
		days = append(days, d)
	}
	if len(days) == 0 {
		return ""
	}
	slices.Sort(days)
	d := days[w.random.IntN(len(days))]
	launch.Await(w.t, waitTimeout, "leave is deleted", func() bool {
		_, err := w.api.Call(w.t.Context(), http.MethodDelete, path(leaveEdits, e.leave[d]), nil, nil)
		if status(err) == http.StatusServiceUnavailable {
			return len(w.leaveOn(e, d)) == 0 // The deletion may be stored although the call failed.
		}
		require.NoError(w.t, err)
		return true
	})
	delete(e.leave, d)
	return fmt.Sprintf("no leave of employee %d on %d", i, d)
}
