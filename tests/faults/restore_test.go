package faults

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	restoredCode = "WRL-00507"
	leaveCases   = "/v1/leave/leave_cases"
	shiftsPath   = "/v1/scheduling/schedule/shifts"
)

// databases are the services with one, and the programs that work on it.
var databases = []struct {
	service  string
	programs []string
	// write is an operation that the service refuses while its database counts as restored.
	write string
	body  scenario.Object
}{
	{"commons", []string{"commons"}, "/v1/commons/persons", person("R", "Refused", "Person")},
	{"timekeeping", []string{"timekeeping"}, leaveCases, scenario.Object{"startDate": "2026-03-01"}},
	{"scheduling", []string{"scheduling", "propagator"}, shiftsPath, scenario.Object{"startDateTime": "2026-03-03T10:00:00", "endDateTime": "2026-03-03T12:00:00"}},
	{"auth", []string{"auth"}, "/v1/auth/access_profiles", scenario.Object{"name": "Refused", "permissions": []string{"commons.*"}}},
	{"platform", []string{"platform"}, "/v1/platform/webhooks", scenario.Object{"name": "Refused"}},
}

func person(number, first, last string) scenario.Object {
	return scenario.Object{"personInformation": scenario.Object{"person": scenario.Object{
		"personNumber": number, "firstName": first, "lastName": last, "hireDate": hired,
	}}, "jobAssignment": scenario.Object{"jobAssignmentDetails": scenario.Object{"timeZoneName": "Europe/Zurich"}}}
}

// ids are all that were ever given, by kind.
type ids map[string]map[int64]bool

// give notes ids that must be new.
func (i ids) give(t *testing.T, kind string, given ...int64) {
	t.Helper()
	if i[kind] == nil {
		i[kind] = map[int64]bool{}
	}
	for _, id := range given {
		require.False(t, i[kind][id], "%s %d is given twice", kind, id)
		i[kind][id] = true
	}
}

func (i ids) count() (n int) {
	for _, of := range i {
		n += len(of)
	}
	return n
}

// employee is a person with all that others keep of them.
type employee struct {
	id          int64
	name, token string
}

// employ hires a person with a user, a leave case, a shift and a locked day.
func (w *fixture) employ(given ids, name string) employee {
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
	ref := scenario.Object{"id": made.id}
	var leave struct{ ID int64 }
	w.post(leaveCases, scenario.Object{
		"employee": ref, "category": scenario.Object{"qualifier": "Medical"}, "reason": scenario.Object{"id": 7},
		"frequency": scenario.Object{"qualifier": "Continuous"}, "status": scenario.Object{"id": 1}, "approvalStatus": scenario.Object{"id": 3},
		"startDate": "2026-03-01", "endDate": "2026-03-20", "requestDate": "2026-02-01", "frequencyEffectiveDate": "2026-03-01",
	}, &leave)
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

func (w *fixture) enterShift(given ids, employee int64) {
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

// load hires a crew on a rotation, and edits and enters shifts of some of them.
func (w *fixture) load(given ids, size int, edited int) *scenario.Crew {
	w.t.Helper()
	crew, _ := w.working(size, first)
	given.give(w.t, "person", crew.Persons...)
	given.give(w.t, "term", crew.TermID)
	shifts, err := scenario.ReadShifts(w.ctx, w.api, crew.Persons, monday, monday)
	require.NoError(w.t, err)
	for i, s := range shifts {
		given.give(w.t, "generated shift", s.ID)
		if i < edited {
			w.post(fmt.Sprint(shiftsPath, "/", s.ID), scenario.Object{"startDateTime": monday + "T09:00:00", "endDateTime": monday + "T15:00:00"}, nil)
			w.enterShift(given, s.Employee.ID)
		}
	}
	return crew
}

// databaseURLs are the databases as the operator's commands are told of them.
func (w *fixture) databaseURLs(url func(service string) string) string {
	var urls []string
	for _, d := range databases {
		urls = append(urls, d.service+"="+url(d.service))
	}
	return strings.Join(urls, ";")
}

// operate runs a command of the operator, which must succeed.
func (w *fixture) operate(args ...string) string {
	w.t.Helper()
	out, errs, code := launch.Run(w.t, launch.Build(w.t, "services/standalone/cmd/rotaloom"), nil, args...)
	require.Zero(w.t, code, "%s%s", out, errs)
	return out
}

// finishRestore has the operator's command finish a restore, and returns what it printed.
func (w *fixture) finishRestore() string {
	w.t.Helper()
	return w.operate("restore", "finish", "--databases", w.databaseURLs(w.DatabaseURL))
}

// logIn gets a new token, once the service of auth lets users in.
func (w *fixture) logIn() {
	w.t.Helper()
	launch.Await(w.t, waitTimeout, "users log in", func() bool { return launch.LoginWorks(w.t, w.Client, w.Ready) })
	w.api = scenario.API{Target: launch.Login(w.t, w.Client, w.Ready)}
}

// awaitRefused waits until a service refuses writes because its database was restored.
func (w *fixture) awaitRefused(path string, body scenario.Object) {
	w.t.Helper()
	launch.Await(w.t, waitTimeout, path+" is refused", func() bool {
		_, err := w.api.Call(w.ctx, http.MethodPost, path, body, nil)
		require.Error(w.t, err, "nothing is written before the restore is finished")
		return isUnavailable(err) && strings.Contains(err.Error(), restoredCode)
	})
}

// requireUnknown shows that a token is not accepted.
func (w *fixture) requireUnknown(token string) {
	w.t.Helper()
	api := w.api
	api.Token = token
	launch.Await(w.t, waitTimeout, "an old token is refused", func() bool {
		_, err := api.Call(w.ctx, http.MethodGet, builder, nil, nil)
		return err != nil && strings.Contains(err.Error(), "returned 401")
	})
}

// requireNothingOf shows that a new employee has none of the leave, shifts and locks of
// somebody else.
func (w *fixture) requireNothingOf(id int64) {
	w.t.Helper()
	request := scenario.ReadRequest([]int64{id}, "2026-03-01", "2026-06-30")
	request["select"] = []string{"SHIFTS", "LEAVEEDITS", "DAYLOCKS"}
	var shown map[string][]scenario.Object
	w.retry("the schedule is read", func() error {
		_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/scheduling/schedule/multi_read", request, &shown)
		return err
	})
	for _, kind := range []string{"shifts", "leaveEdits", "dayLocks"} {
		assert.Empty(w.t, shown[kind], kind)
	}
}

// Whatever database is restored alone, no id is given twice, nobody gets what belonged to
// a person who was lost, and writes wait until the operator has finished the restore.
func TestNoIdIsGivenTwiceWhenADatabaseIsRestored(t *testing.T) {
	w := newFixture(t, "ROTALOOM_REPLICA_COMPARE_EVERY=2s", "ROTALOOM_REPLICA_SETTLE=1s")
	given := ids{}
	size := shortOrLong(40, 200)
	w.load(given, size, 3)
	for _, d := range databases {
		dump := filepath.Join(t.TempDir(), d.service+".dump")
		command(t, "pg_dump", "--format=custom", "--file="+dump, "--dbname="+w.Postgres.AdminURL(d.service))
		lost := w.employ(given, "LOST")
		w.load(given, size, 3)

		for _, name := range d.programs {
			w.Services[name].Stop(t)
		}
		command(t, "pg_restore", "--clean", "--create", "--exit-on-error", "--dbname="+w.Postgres.AdminURL("postgres"), dump)
		for _, name := range d.programs {
			w.Start(name)
		}
		w.awaitRefused(d.write, d.body)
		out := w.finishRestore()
		t.Log(out)
		assert.Contains(t, out, d.service+": ")
		if d.service == "commons" {
			assert.Contains(t, out, fmt.Sprintf("person %d", lost.id))
			assert.Contains(t, out, lost.name)
			assert.Contains(t, out, "timekeeping.leave_case 1")
			assert.Contains(t, out, "auth.app_user 1")
		}
		w.logIn()
		w.requireUnknown(lost.token)
		fresh := person(scenario.Unique("FRESH"), "Fred", "Fresh")
		var created struct{ PersonIdentity struct{ PersonKey int64 } }
		w.post("/v1/commons/persons", fresh, &created)
		given.give(t, "person", created.PersonIdentity.PersonKey)
		w.requireNothingOf(created.PersonIdentity.PersonKey)
		w.employ(given, "NEXT")
	}
	w.load(given, size, 3)
	w.verify()
	t.Logf("%d ids were given, none of them twice", given.count())
	assert.Contains(t, w.finishRestore(), "nothing to finish")
}

// The steps of docs/operations/backup.md for all databases: a backup while changes run, and a
// restore on an empty broker. Nothing that was given after the backup is given again.
func TestAllDatabasesAreRestored(t *testing.T) {
	w := newFixture(t)
	given := ids{}
	size := shortOrLong(40, 300)
	crew := w.load(given, size, 3)
	kept := w.employ(given, "KEPT")
	backup := filepath.Join(t.TempDir(), "backup")
	urls := w.databaseURLs(w.Postgres.AdminURL)
	traffic := w.traffic(crew)
	w.operate("backup", "--databases", urls, backup)
	traffic.stop()
	lost := w.employ(given, "LOST")
	w.load(given, size, 3)

	w.stopServices()
	w.StopNATS()
	_, errs, code := launch.Run(t, launch.Build(t, "services/standalone/cmd/rotaloom"), nil, "restore", "--databases", urls, backup)
	require.NotZero(t, code)
	require.Contains(t, errs, "--replace")
	w.operate("restore", "--databases", urls, "--replace", backup)
	w.WipeNATS(t)
	w.StartNATS(t)
	w.startServices()
	for _, d := range databases {
		w.awaitRefused(d.write, d.body)
	}
	out := w.finishRestore()
	assert.Contains(t, out, "person_id: up to ")
	assert.NotContains(t, out, kept.name)
	w.logIn()
	w.requireUnknown(lost.token)
	w.requireUnknown(kept.token)
	w.load(given, size, 3)
	w.employ(given, "NEXT")
	w.verify()
	t.Logf("%d ids were given, none of them twice", given.count())
}
