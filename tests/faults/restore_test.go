package faults

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	restoredCode = "WRL-00507"
	leaveCases   = "/v1/leave/leave_cases"
	shiftsPath   = "/v1/scheduling/schedule/shifts"

	applicantSources = "/v1/recruiting/applicant-sources"
)

// databases lists the services that have a database, with the programs that use it.
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
	{"recruiting", []string{"recruiting"}, applicantSources, scenario.Object{"name": "Refused"}},
	{"platform", []string{"platform"}, "/v1/platform/webhooks", scenario.Object{"name": "Refused"}},
}

func person(number, first, last string) scenario.Object {
	return scenario.Object{"personInformation": scenario.Object{"person": scenario.Object{
		"personNumber": number, "firstName": first, "lastName": last, "hireDate": hired,
	}}, "jobAssignment": scenario.Object{"jobAssignmentDetails": scenario.Object{"timeZoneName": "Europe/Zurich"}}}
}

// databaseURLs returns the databases in the form that the operator's commands take.
func (w *fixture) databaseURLs(url func(service string) string) string {
	var urls []string
	for _, d := range databases {
		urls = append(urls, d.service+"="+url(d.service))
	}
	return strings.Join(urls, ";")
}

// operate runs a command of the operator, and requires its success.
func (w *fixture) operate(args ...string) string {
	w.t.Helper()
	out, errs, code := launch.Run(w.t, launch.Build(w.t, "services/standalone/cmd/rotaloom"), nil, args...)
	require.Zero(w.t, code, "%s%s", out, errs)
	return out
}

// finishRestore runs the operator's command that finishes a restore, and returns its output.
func (w *fixture) finishRestore() string {
	w.t.Helper()
	return w.operate("restore", "finish", "--databases", w.databaseURLs(w.DatabaseURL))
}

// logIn gets a new token, as soon as the auth service lets users log in.
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

// requireUnknown requires that a token is not accepted.
func (w *fixture) requireUnknown(token string) {
	w.t.Helper()
	api := w.api
	api.Token = token
	launch.Await(w.t, waitTimeout, "an old token is refused", func() bool {
		_, err := api.Call(w.ctx, http.MethodGet, builder, nil, nil)
		return err != nil && strings.Contains(err.Error(), "returned 401")
	})
}

// requireNoRecords requires that a new employee has no leave, shifts or locks of another employee.
func (w *fixture) requireNoRecords(id int64) {
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

// One database at a time is restored. No id is assigned twice, and no person gets records of a
// person who was lost. Writes wait until the operator has finished the restore.
func TestNoIdIsGivenTwiceWhenADatabaseIsRestored(t *testing.T) {
	w := newFixture(t, "ROTALOOM_REPLICA_COMPARE_EVERY=2s", "ROTALOOM_REPLICA_SETTLE=1s")
	given := newIDs()
	size := shortOrLong(90, 200)
	w.load(given, size, 3)
	for _, d := range databases {
		before := given.count()
		busy := w.hireLeaveAndEdit(given)
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
		busy.stop()
		t.Log(out)
		assert.NotZero(t, busy.rounds.Load(), "there was load")
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
		w.requireNoRecords(created.PersonIdentity.PersonKey)
		restored := given.count()
		w.employ(given, "NEXT")
		w.load(given, size, 3)
		t.Logf("%s: %d ids were given before its restore ended, %d of them since the restore before; %d new ids since",
			d.service, restored, restored-before, given.count()-restored)
		assert.GreaterOrEqual(t, given.count()-restored, minNewIDs)
	}
	w.verify()
	t.Logf("%d ids were given, none of them twice", given.count())
	assert.Contains(t, w.finishRestore(), "nothing to finish")
}

// TestAllDatabasesAreRestored follows the steps of docs/operations/backup.md for all databases: a
// backup while changes run, and a restore on an empty broker. Ids that were assigned after the
// backup are not assigned again.
func TestAllDatabasesAreRestored(t *testing.T) {
	w := newFixture(t)
	given := newIDs()
	size := shortOrLong(100, 300)
	crew := w.load(given, size, 3)
	kept := w.employ(given, "KEPT")
	backup := filepath.Join(t.TempDir(), "backup")
	urls := w.databaseURLs(w.Postgres.AdminURL)
	traffic := w.traffic(crew)
	busy := w.hireLeaveAndEdit(given)
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
	busy.stop()
	assert.NotZero(t, busy.rounds.Load(), "there was load")
	assert.Contains(t, out, "person_id: up to ")
	assert.NotContains(t, out, kept.name)
	w.logIn()
	w.requireUnknown(lost.token)
	w.requireUnknown(kept.token)
	before := given.count()
	w.load(given, size, 3)
	w.employ(given, "NEXT")
	w.verify()
	t.Logf("%d ids were given before the restore and %d since, none of them twice", before, given.count()-before)
	assert.GreaterOrEqual(t, given.count()-before, minNewIDs)
}
