package model

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	timeOff = "/v1/scheduling/timeoff"
	// timeOffCode is the pay code of all time off in the model.
	timeOffCode = "PTO"
)

// grantTimeOff grants an employee a whole day of time off.
func (w *fixture) grantTimeOff() string {
	i, d := w.random.IntN(len(w.employees)), w.anyDay()
	e := w.employees[i]
	if e.leave[d] != 0 || e.timeOff[d] != 0 || e.terminated[d] {
		return ""
	}
	var made struct{ ID int64 }
	if !w.send(http.MethodPost, timeOff, scenario.Object{
		"employee": scenario.Object{"id": e.id}, "requestSubType": scenario.Object{"id": 1},
		"periods": []scenario.Object{{
			"payCode": scenario.Object{"qualifier": timeOffCode}, "symbolicAmount": scenario.Object{"id": -1},
			"startDate": d.date(), "endDate": d.date(),
		}},
	}, &made, e.isLocked(d)) {
		return fmt.Sprintf("no time off on the locked day %d of employee %d", d, i)
	}
	e.timeOff[d] = made.ID
	return fmt.Sprintf("time off %d of employee %d on %d", made.ID, i, d)
}

// cancelTimeOff cancels time off of a day.
func (w *fixture) cancelTimeOff() string {
	i := w.random.IntN(len(w.employees))
	e := w.employees[i]
	var days []day
	for d := range e.timeOff {
		days = append(days, d)
	}
	if len(days) == 0 {
		return ""
	}
	slices.Sort(days)
	d := days[w.random.IntN(len(days))]
	if w.send(http.MethodPost, timeOff+"/apply_update", scenario.Object{"changeState": scenario.Object{
		"do": scenario.Object{"toStatus": scenario.Object{"symbolicId": "CANCELLED"}}, "where": scenario.Object{"timeOffRequestId": e.timeOff[d]},
	}}, nil, e.isLocked(d)) {
		delete(e.timeOff, d)
	}
	return fmt.Sprintf("no time off of employee %d on %d", i, d)
}

// inherit switches whether the members of a term inherit its patterns.
func (w *fixture) inherit() string {
	term := 1 + w.random.IntN(len(w.terms)-1)
	at := path("/v1/timekeeping/setup/employment_terms", w.terms[term])
	var body scenario.Object
	w.must(http.MethodGet, at, nil, &body)
	body["allowsInheritance"] = w.silent[term]
	w.must(http.MethodPut, at, body, nil)
	w.silent[term] = !w.silent[term]
	return fmt.Sprintf("term %d passes patterns on: %t", term, !w.silent[term])
}
