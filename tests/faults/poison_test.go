package faults

import (
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// poisonError is the database's error message; callers must never see it.
const poisonError = "the employee's row is broken: secret-of-the-database"

// poison makes the database refuse spans of an employee until cure is called.
func (w *fixture) poison(employee int64) (cure func()) {
	w.t.Helper()
	admin := w.scheduling()
	exec := func(sql string) {
		_, err := admin.Exec(w.ctx, sql)
		require.NoError(w.t, err)
	}
	exec(`CREATE FUNCTION raise_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '%', '` +
		"the employee''s row is broken: secret-of-the-database" + `'; END $$`)
	exec(fmt.Sprintf(`CREATE TRIGGER poison BEFORE INSERT ON span FOR EACH ROW WHEN (NEW.employee_id = %d) EXECUTE FUNCTION raise_poison()`, employee))
	return func() {
		exec(`DROP TRIGGER poison ON span`)
		exec(`DROP FUNCTION raise_poison()`)
	}
}

// namedFailures is the part of a propagation that shows the employees that failed.
type namedFailures struct {
	State           string
	EmployeesDone   int64
	EmployeesFailed int64
	Error           string
	Failures        []struct {
		Employee  struct{ ID int64 }
		ErrorCode string
		Message   string
	}
}

// The failing write of one employee delays no other employee. There are twenty changes of the same
// term, a change of another term, and a propagator that is killed while it looks for the failing
// employee.
func TestOneFailingEmployeeHoldsNobodyUp(t *testing.T) {
	w := newFixture(t, sweepDisabled)
	crew, assigned := w.working(30, first)
	other, otherAssigned := w.working(5, first)
	failing := crew.Persons[12]
	cure := w.poison(failing)

	began := time.Now()
	var changes []string
	for range 10 {
		for _, r := range []rotation{second, first} {
			a := w.recreate(crew, assigned.ID, r)
			assigned.ID = a.ID
			changes = append(changes, a.Propagation)
		}
	}
	last := w.recreate(crew, assigned.ID, second)
	changes = append(changes, last.Propagation)
	w.finish(w.recreate(other, otherAssigned.ID, second).Propagation, 5)
	w.requireNamed(last.Propagation, failing, 29)
	t.Log("all others were done after", time.Since(began))
	healthy := append(append([]int64{}, crew.Persons[:12]...), crew.Persons[13:]...)
	w.requireShifts(second, healthy)

	// Kill the propagator while it divides batches.
	for range byForm(2, 5, 10) {
		a := w.recreate(crew, last.ID, first)
		w.Services["propagator"].Kill(t)
		w.Start("propagator")
		last = w.recreate(crew, a.ID, second)
		changes = append(changes, a.Propagation, last.Propagation)
	}
	for _, change := range changes[:len(changes)-1] {
		w.requireSettled(change, failing, 29)
	}
	w.requireNamed(last.Propagation, failing, 29)

	cure()
	propagator := filepath.Join(launch.Root(t), "bin", "test", "propagator")
	out, errs, code := launch.Run(t, propagator, nil, "replay", path.Base(last.Propagation), "--database-url", w.DatabaseURL("scheduling"))
	require.Zero(t, code, out+errs)
	for _, change := range changes {
		launch.Await(t, waitTimeout, "all changes finish", func() bool {
			p, ok := w.propagation(change)
			return ok && p.State == "FINISHED" && p.EmployeesDone == 30
		})
	}
	w.requireShifts(second, crew.Persons)
	w.verify()
}

// requireNamed waits until a propagation has reached all but one employee, and names that employee
// as failed.
func (w *fixture) requireNamed(propagation string, employee, done int64) {
	w.t.Helper()
	var p namedFailures
	launch.Await(w.t, waitTimeout, propagation+" names the employee", func() bool {
		p = namedFailures{}
		_, err := w.api.Call(w.ctx, http.MethodGet, propagation, nil, &p)
		if isUnavailable(err) {
			return false
		}
		require.NoError(w.t, err)
		return p.State == "FAILED" && p.EmployeesDone == done && len(p.Failures) == 1
	})
	w.requireFailure(p, employee)
}

// requireSettled waits until a propagation has ended. Either it names the employee as failed, or it
// reached the employee when the employee already had the rotation, so that it had nothing to write.
func (w *fixture) requireSettled(propagation string, employee, done int64) {
	w.t.Helper()
	var p namedFailures
	launch.Await(w.t, waitTimeout, propagation+" names the employee or finishes", func() bool {
		p = namedFailures{}
		_, err := w.api.Call(w.ctx, http.MethodGet, propagation, nil, &p)
		if isUnavailable(err) {
			return false
		}
		require.NoError(w.t, err)
		if p.State == "FINISHED" {
			return p.EmployeesDone == done+1
		}
		return p.State == "FAILED" && p.EmployeesDone == done && len(p.Failures) == 1
	})
	if p.State == "FAILED" {
		w.requireFailure(p, employee)
	}
}

// requireFailure requires that a propagation names the employee, without any text of the database.
func (w *fixture) requireFailure(p namedFailures, employee int64) {
	w.t.Helper()
	require.Equal(w.t, employee, p.Failures[0].Employee.ID)
	require.Equal(w.t, "WRL-30501", p.Failures[0].ErrorCode)
	require.EqualValues(w.t, 1, p.EmployeesFailed)
	require.NotContains(w.t, p.Error+p.Failures[0].Message, poisonError)
	require.NotContains(w.t, p.Error+p.Failures[0].Message, "secret")
}
