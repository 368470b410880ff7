package model

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

// anyPeriod returns some days after the first one of the model, half of the time without an end.
func (p *planner) anyPeriod() period {
	days := period{1 + p.random.IntN(span-2), span}
	if p.random.IntN(2) == 0 {
		days.to = min(days.from+1+p.random.IntN(12), span-1)
	}
	return days
}

// addDates adds the days to an object of the API.
func (p *planner) addDates(days period, given scenario.Object) scenario.Object {
	given["effectiveDate"] = p.date(days.from)
	if !days.isOpen() {
		given["expirationDate"] = p.date(days.to)
	}
	return given
}

// drawLocation returns a location of a kind that is there on all days, or -1.
func (p *planner) drawLocation(k kind, days period) int {
	var fit []int
	for l := range p.ids {
		if p.kinds[l] == k && p.exists(l, days) {
			fit = append(fit, l)
		}
	}
	if len(fit) == 0 {
		return -1
	}
	return fit[p.random.IntN(len(fit))]
}

// act performs a random change in the product and in the model.
func (p *planner) act() {
	p.t.Helper()
	days := p.anyPeriod()
	switch n := p.random.IntN(100); {
	case n < 22:
		p.moveLocation(days)
	case n < 40:
		p.renameLocation(days)
	case n < 46:
		p.endLocation(days.from)
	case n < 60:
		p.changeJob(days)
	case n < 66:
		p.changeStatus(days.from)
	case n < 84:
		p.pay(days)
	case n < 94:
		p.enterWork()
	default:
		p.changeGroup(days)
	}
}

// did notes a change. A change must be refused if the model refuses it.
func (p *planner) did(kind, what, refused string, err error) {
	p.t.Helper()
	p.counts[kind]++
	if refused != "" {
		what += ": " + refused
		p.counts["refused "+refused]++
	}
	p.log = append(p.log, what)
	if refused == "" {
		require.NoError(p.t, err, "after\n%s", lines(p.log))
		return
	}
	require.Equal(p.t, http.StatusBadRequest, status(err), "%v after\n%s", err, lines(p.log))
}

func (p *planner) moveLocation(days period) {
	p.t.Helper()
	k := region + kind(p.random.IntN(3))
	l, parent := p.drawLocation(k, days), p.random.IntN(len(p.ids))
	if p.random.IntN(4) > 0 {
		parent = p.drawLocation(k-1, days)
	}
	if l < 0 || parent < 0 || l == parent {
		return
	}
	do := scenario.Object{"destinationRef": scenario.Object{"id": p.ids[parent]}, "startDate": p.date(days.from)}
	if !days.isOpen() {
		do["endDate"] = p.date(days.to - 1)
	}
	refused := p.change(l, days, func(at *place) { at.parent = parent })
	_, err := p.api.Call(p.t.Context(), http.MethodPost, "/v1/commons/locations/apply_update", scenario.Object{"move": scenario.Object{
		"where": scenario.Object{"sourceRef": scenario.Object{"id": p.ids[l]}}, "do": do,
	}}, nil)
	p.did("moves", fmt.Sprintf("move %d below %d on %v", l, parent, days), refused, err)
}

func (p *planner) renameLocation(days period) {
	p.t.Helper()
	l := p.drawLocation(region+kind(p.random.IntN(3)), days)
	if l < 0 {
		return
	}
	name := fmt.Sprint([]string{"", "R", "S", "J"}[p.kinds[l]], p.random.IntN(6))
	refused := p.change(l, days, func(at *place) { at.name = name })
	_, err := p.api.Call(p.t.Context(), http.MethodPost, "/v1/commons/locations/multi_update",
		[]scenario.Object{p.addDates(days, scenario.Object{"nodeId": p.ids[l], "name": name})}, nil)
	p.did("names", fmt.Sprintf("rename %d to %s on %v", l, name, days), refused, err)
}

func (p *planner) endLocation(from int) {
	p.t.Helper()
	l := p.drawLocation(region+kind(p.random.IntN(3)), period{from - 1, span})
	if l < 0 {
		return
	}
	refused := p.end(l, from)
	_, err := p.api.Call(p.t.Context(), http.MethodPost, "/v1/commons/locations/multi_delete", scenario.Object{"where": scenario.Object{
		"nodes": scenario.Object{"ids": []int64{p.ids[l]}}, "forDate": p.date(from),
	}}, nil)
	p.did("ends", fmt.Sprintf("end %d on %d", l, from), refused, err)
}

// update changes a person.
func (p *planner) update(id int64, given scenario.Object) error {
	given["personIdentity"] = scenario.Object{"personKey": id}
	_, err := p.api.Call(p.t.Context(), http.MethodPost, "/v1/commons/persons/multi_update", []scenario.Object{given}, nil)
	return err
}

// changeJob gives a person the path that a location has on the first day.
func (p *planner) changeJob(days period) {
	p.t.Helper()
	i, l := p.random.IntN(len(p.workers)), p.drawLocation(job, period{days.from, days.from + 1})
	if l < 0 {
		return
	}
	w, path := p.workers[i], p.path(l, days.from)
	if slices.Contains(w.path[:], path) {
		days.to = span // An element that repeats a stored value ends it on the given day.
	}
	err := p.update(w.id, scenario.Object{"jobAssignment": scenario.Object{
		"primaryLaborAccounts": []scenario.Object{p.addDates(days, scenario.Object{"organizationPath": path})},
	}})
	for d := days.from; d < days.to; d++ {
		w.path[d] = path
	}
	p.did("jobs", fmt.Sprintf("worker %d is at %s (%d) on %v", i, path, l, days), "", err)
}

func (p *planner) changeStatus(from int) {
	p.t.Helper()
	i, status := p.random.IntN(len(p.workers)), "Active"
	if p.random.IntN(2) == 0 {
		status = "Terminated"
	}
	w := p.workers[i]
	err := p.update(w.id, scenario.Object{"personInformation": scenario.Object{
		"employmentStatusList": []scenario.Object{{"employmentStatusName": status, "effectiveDate": p.date(from)}},
	}})
	for d := from; d < span; d++ {
		w.terminated[d] = status == "Terminated"
	}
	p.did("statuses", fmt.Sprintf("worker %d is %s from %d on", i, status, from), "", err)
}

func (p *planner) changeGroup(days period) {
	p.t.Helper()
	i, l := p.random.IntN(len(p.chiefs)), p.drawLocation(region+kind(p.random.IntN(2)), period{days.from, days.from + 1})
	if l < 0 {
		return
	}
	c, path := p.chiefs[i], p.path(l, days.from)
	if slices.Contains(c.group[:], path) {
		days.to = span
	}
	err := p.update(c.id, scenario.Object{"personInformation": scenario.Object{
		"personAccessAssignments": []scenario.Object{p.addDates(days, scenario.Object{"managerEmployeeGroupName": path})},
	}})
	for d := days.from; d < days.to; d++ {
		c.group[d] = path
	}
	p.did("groups", fmt.Sprintf("chief %d has %s (%d) on %v", i, path, l, days), "", err)
}

// pay gives a person a wage in a job.
func (p *planner) pay(days period) {
	p.t.Helper()
	i, l := p.random.IntN(len(p.workers)), p.drawLocation(job, period{days.from, days.from + 1})
	if l < 0 {
		return
	}
	w, path, wage := p.workers[i], p.path(l, days.from), fmt.Sprint(11+p.random.IntN(80))
	_, err := p.api.Call(p.t.Context(), http.MethodPost, "/v1/commons/persons/wage_work_rules/multi_upsert", []scenario.Object{{
		"employee": scenario.Object{"id": w.id},
		"effectiveDatedWageWorkRules": []scenario.Object{p.addDates(days, scenario.Object{
			"wageWorkRules": []scenario.Object{{"job": scenario.Object{"qualifier": path}, "wage": wage}},
		})},
	}}, nil)
	for d := days.from; d < days.to; d++ {
		w.wages[d] = maps.Clone(w.wages[d])
		w.wages[d][path] = wage
	}
	p.did("wages", fmt.Sprintf("worker %d gets %s at %s (%d) on %v", i, wage, path, l, days), "", err)
}

// dates are the days of an element of a response.
type dates struct{ EffectiveDate, ExpirationDate string }

// fill sets the values of the days of an element.
func (p *planner) fill(on dates, set func(d int)) {
	for d := range span {
		if date := p.date(d); on.EffectiveDate <= date && date < on.ExpirationDate {
			set(d)
		}
	}
}

// comparePersons compares the primary jobs, the employment and the groups of each day.
func (p *planner) comparePersons() {
	p.t.Helper()
	type dated struct {
		dates
		OrganizationPath, EmploymentStatusName, ManagerEmployeeGroupName string
	}
	read := func(id int64) (paths, statuses, groups [span]string) {
		var shown struct {
			JobAssignment     struct{ PrimaryLaborAccounts []dated }
			PersonInformation struct{ EmploymentStatusList, PersonAccessAssignments []dated }
		}
		p.must(http.MethodGet, path("/v1/commons/persons", id), nil, &shown)
		for _, e := range shown.JobAssignment.PrimaryLaborAccounts {
			p.fill(e.dates, func(d int) { paths[d] = e.OrganizationPath })
		}
		for _, e := range shown.PersonInformation.EmploymentStatusList {
			p.fill(e.dates, func(d int) { statuses[d] = e.EmploymentStatusName })
		}
		for _, e := range shown.PersonInformation.PersonAccessAssignments {
			p.fill(e.dates, func(d int) { groups[d] = e.ManagerEmployeeGroupName })
		}
		return paths, statuses, groups
	}
	for i, w := range p.workers {
		path, status, _ := read(w.id)
		require.Equal(p.t, w.path, path, "worker %d after\n%s", i, lines(p.log))
		for d := range span {
			require.Equal(p.t, w.terminated[d], status[d] == "Terminated", "worker %d on %d after\n%s", i, d, lines(p.log))
		}
	}
	for i, c := range p.chiefs {
		_, _, group := read(c.id)
		require.Equal(p.t, c.group, group, "chief %d after\n%s", i, lines(p.log))
	}
}

// compareWages compares the wages of each day by job.
func (p *planner) compareWages() {
	p.t.Helper()
	var ids []int64
	for _, w := range p.workers {
		ids = append(ids, w.id)
	}
	var shown []struct {
		Employee                    struct{ ID int64 }
		EffectiveDatedWageWorkRules []struct {
			dates
			WageWorkRules []struct {
				Job  struct{ Qualifier string }
				Wage string
			}
		}
	}
	p.must(http.MethodPost, "/v1/commons/persons/wage_work_rules/multi_read",
		scenario.Object{"where": scenario.Object{"employees": scenario.Object{"key": "personid", "values": ids}}}, &shown)
	for i, w := range p.workers {
		var wages [span]map[string]string
		for d := range span {
			wages[d] = map[string]string{}
		}
		for _, person := range shown {
			for _, e := range person.EffectiveDatedWageWorkRules {
				for _, rule := range e.WageWorkRules {
					if person.Employee.ID == w.id {
						p.fill(e.dates, func(d int) { wages[d][rule.Job.Qualifier] = rule.Wage })
					}
				}
			}
		}
		require.Equal(p.t, w.wages, wages, "worker %d after\n%s", i, lines(p.log))
	}
}
