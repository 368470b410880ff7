package model

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// roundsOfOrganization is the number of rounds of changes and comparisons in one organization.
const roundsOfOrganization = 10

// planner changes an organization at random, in the product and in the model.
type planner struct {
	*organization
	t      *testing.T
	server *launch.Server
	api    scenario.API
	random *rand.Rand
	base   time.Time // the first day of the model
	log    []string
	counts map[string]int
}

// TestPersonsAndLocationsEqualTheModel moves, renames and ends locations, moves, terminates and pays
// persons, and changes groups of managers, on random days. After every few changes, each day must have the
// paths, wages, members and visible persons of the model.
func TestPersonsAndLocationsEqualTheModel(t *testing.T) {
	t.Parallel()
	duration, seed := short, uint64(time.Now().UnixNano())
	if text := os.Getenv("ROTALOOM_MODEL"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err, "ROTALOOM_MODEL is a duration")
	}
	if text := os.Getenv("ROTALOOM_MODEL_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("ROTALOOM_MODEL_SEED=%d, for %s", seed, duration)
	p := &planner{t: t, server: launch.Standalone(t), random: rand.New(rand.NewPCG(seed, 0)), counts: map[string]int{}}
	for end := time.Now().Add(duration); time.Now().Before(end); {
		p.establish()
		for range roundsOfOrganization {
			for range 1 + p.random.IntN(5) {
				p.act()
			}
			p.compareOrganization()
			if p.random.IntN(3) == 0 {
				p.comparePay()
			}
			if time.Now().After(end) {
				break
			}
		}
		p.comparePay()
		p.compareVisible()
	}
	t.Logf("ROTALOOM_MODEL_SEED=%d: %v, no difference", seed, p.counts)
}

func (p *planner) date(d int) string { return p.base.AddDate(0, 0, d).Format(time.DateOnly) }

// today returns the day of the model that is today in the zone of the tenant.
func (p *planner) today() int {
	return int(time.Now().UTC().Truncate(24*time.Hour).Sub(p.base) / (24 * time.Hour))
}

func (p *planner) must(method, path string, body, response any) {
	p.t.Helper()
	_, err := p.api.Call(p.t.Context(), method, path, body, response)
	require.NoError(p.t, err, "after\n%s", lines(p.log))
}

// establish creates an organization of its own, with persons and managers.
func (p *planner) establish() {
	p.api = scenario.API{Target: p.server.Target(p.t)}
	p.base, p.log = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -span/2), nil
	o := &organization{former: map[string]int{}}
	p.organization = o
	name := scenario.Unique("Company")
	p.must(http.MethodPost, "/v1/commons/jobs", scenario.Object{"name": "Job of " + name}, nil)
	add := func(k kind, name string, parent int) {
		given := scenario.Object{"name": name}
		if parent >= 0 {
			given["parentNodeRef"] = scenario.Object{"id": o.ids[parent]}
		}
		if k == job {
			given["genericJobRef"] = scenario.Object{"qualifier": "Job of " + o.days[0][0].name}
		}
		var made []struct{ NodeID int64 }
		p.must(http.MethodPost, "/v1/commons/locations", given, &made)
		o.ids, o.kinds = append(o.ids, made[0].NodeID), append(o.kinds, k)
		for d := range span {
			o.days[d] = append(o.days[d], place{true, parent, name})
		}
	}
	add(top, name, -1)
	for i := range 3 {
		add(region, fmt.Sprint("R", i), 0)
	}
	for i := range 4 {
		add(store, fmt.Sprint("S", i), 1+i%3)
	}
	for i := range 6 {
		add(job, fmt.Sprint("J", i), 4+i%4)
	}
	for i := range 6 {
		p.hire(fmt.Sprint(name, "-", i), o.path(8+i, 0))
	}
	for i := range 2 {
		p.appoint(fmt.Sprint(name, "-chief-", i), o.path(1+i, 0))
	}
}

func person(number string) scenario.Object {
	return scenario.Object{"personNumber": number, "firstName": "Model", "lastName": "Person", "hireDate": "2020-01-01"}
}

func (p *planner) create(given scenario.Object) int64 {
	var made struct{ PersonIdentity struct{ PersonKey int64 } }
	p.must(http.MethodPost, "/v1/commons/persons", given, &made)
	return made.PersonIdentity.PersonKey
}

func (p *planner) hire(number, path string) {
	w := &worker{id: p.create(scenario.Object{
		"personInformation": scenario.Object{"person": person(number)},
		"jobAssignment": scenario.Object{
			"baseWageRates":        []scenario.Object{{"hourlyRate": 10, "effectiveDate": "2020-01-01"}},
			"primaryLaborAccounts": []scenario.Object{{"organizationPath": path, "effectiveDate": "2020-01-01"}},
		},
	})}
	for d := range span {
		w.path[d], w.wages[d] = path, map[string]string{}
	}
	p.workers = append(p.workers, w)
}

func (p *planner) appoint(number, group string) {
	const password = "Correct-horse-battery-9"
	c := &chief{id: p.create(scenario.Object{
		"personInformation": scenario.Object{
			"person": person(number), "accessAssignment": scenario.Object{"accessProfileName": "Manager"},
			"personAccessAssignments": []scenario.Object{{"managerEmployeeGroupName": group, "effectiveDate": "2020-01-01"}},
		},
		"user": scenario.Object{"userAccount": scenario.Object{"userName": number, "userPassword": password}},
	})}
	target := p.api.Target
	target.Values = map[string]string{
		"username": number, "password": password,
		"client_id": p.server.Credentials.ClientID, "client_secret": p.server.Credentials.ClientSecret,
	}
	var err error
	c.token, err = contract.Login(p.t.Context(), target)
	require.NoError(p.t, err)
	for d := range span {
		c.group[d] = group
	}
	p.chiefs = append(p.chiefs, c)
}

// compareOrganization compares the stored days of all persons, the locations of a day, and members.
func (p *planner) compareOrganization() {
	p.t.Helper()
	p.counts["comparisons"]++
	p.comparePersons()
	p.compareWages()
	d := p.random.IntN(span)
	for l, id := range p.ids {
		var shown struct{ OrgPath string }
		_, err := p.api.Call(p.t.Context(), http.MethodGet, fmt.Sprintf("/v1/commons/locations/%d?date=%s", id, p.date(d)), nil, &shown)
		if p.path(l, d) == "" {
			require.Equal(p.t, http.StatusBadRequest, status(err), "location %d on day %d after\n%s", l, d, lines(p.log))
			continue
		}
		require.NoError(p.t, err)
		require.Equal(p.t, p.path(l, d), shown.OrgPath, "location %d on day %d after\n%s", l, d, lines(p.log))
	}
	for range 6 {
		p.compareMembers()
	}
}

// compareMembers compares the persons whom a hyperfind finds at a location.
func (p *planner) compareMembers() {
	p.t.Helper()
	l, from := p.random.IntN(len(p.ids)), p.random.IntN(span)
	days := period{from, from + 1}
	if p.random.IntN(3) == 0 {
		days.to = min(span, from+1+p.random.IntN(8))
	}
	ref := scenario.Object{"id": p.ids[l]}
	// A path is read on the last day.
	if path := p.path(l, p.random.IntN(span)); path != "" && p.random.IntN(3) == 0 {
		ref = scenario.Object{"qualifier": path}
		l = p.find(path, days.to-1)
	}
	want := []int64{}
	if l >= 0 {
		want = p.members(l, days)
	}
	got := p.findPersons(p.api, "/v1/commons/hyperfind/test", scenario.Object{"constraints": scenario.Object{
		"filters": []scenario.Object{{"key": "LOCATION", "operator": "IN", "refs": []scenario.Object{ref}}},
	}}, days)
	require.Equal(p.t, want, got, "members of %v on %v after\n%s", ref, days, lines(p.log))
}

// findPersons returns the workers whom a request for a hyperfind finds, by ascending id.
func (p *planner) findPersons(api scenario.API, path string, request scenario.Object, days period) []int64 {
	p.t.Helper()
	request["dateRange"] = scenario.Object{"startDate": p.date(days.from), "endDate": p.date(days.to - 1)}
	request["threshold"] = 50000
	var response struct {
		Result struct{ Refs []struct{ ID int64 } }
	}
	_, err := api.Call(p.t.Context(), http.MethodPost, path, request, &response)
	require.NoError(p.t, err)
	return p.matching(func(w *worker) bool {
		return slices.ContainsFunc(response.Result.Refs, func(r struct{ ID int64 }) bool { return r.ID == w.id })
	})
}

// compareVisible waits until each manager sees the persons of the model. Visible persons are cached for
// some seconds.
func (p *planner) compareVisible() {
	p.t.Helper()
	for i, c := range p.chiefs {
		api := p.api
		api.Token = c.token
		var got, want []int64
		equal := func() bool {
			today := p.today()
			got = p.findPersons(api, "/v1/commons/hyperfind/execute", scenario.Object{"hyperfind": scenario.Object{"id": -9}}, period{today, today + 1})
			want = p.visible(c, today)
			return slices.Equal(got, want)
		}
		for deadline := time.Now().Add(30 * time.Second); !equal(); time.Sleep(betweenReads) { // The cache has no signal.
			require.True(p.t, time.Now().Before(deadline), "chief %d sees %v instead of %v after\n%s", i, got, want, lines(p.log))
		}
		p.counts["visible persons"] += len(want)
	}
}
