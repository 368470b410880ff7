package propagator

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// poison is something in the database that makes statements about one employee fail.
type poison struct {
	name      string
	add, cure []string
	// code is the code that the propagation shows.
	code string
	// The propagator first repeats failures that may pass: after the backoff, and the given number of
	// times. By default the broker repeats nothing within the test.
	backoff time.Duration
	deliver int
}

// secret stands in the text of the error; callers must not see it.
const secret = "hunter2-select-from-span"

// raiseFor returns statements that add and remove a trigger which raises an error
// for rows of an employee.
func raiseFor(table, event, condition string) (add, cure []string) {
	add = []string{
		`CREATE FUNCTION raise_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '` + secret + `'; END $$`,
		`CREATE TRIGGER poison BEFORE ` + event + ` ON ` + table + ` FOR EACH ROW WHEN (` + condition + `) EXECUTE FUNCTION raise_poison()`,
	}
	return add, []string{`DROP TRIGGER poison ON ` + table, `DROP FUNCTION raise_poison()`}
}

func poisons() []poison {
	write := poison{name: "a write that raises", code: propagation.CodeRefused}
	write.add, write.cure = raiseFor("span", "INSERT", "NEW.employee_id = 7")
	remove := poison{name: "a removal that raises", code: propagation.CodeRefused}
	remove.add, remove.cure = raiseFor("span", "DELETE OR UPDATE", "OLD.employee_id = 7")
	return []poison{
		write, remove,
		{
			name: "a constraint", code: propagation.CodeRefused,
			add:  []string{`ALTER TABLE span ADD CONSTRAINT poison CHECK (employee_id <> 7 OR pattern_id = 1) NOT VALID`},
			cure: []string{`ALTER TABLE span DROP CONSTRAINT poison`},
		},
		{
			name: "a read that raises", code: propagation.CodeRefused,
			add: []string{
				`CREATE FUNCTION raise_poison() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '` + secret + `'; END $$`,
				`INSERT INTO day_lock (tenant_id, employee_id, from_date, to_date) VALUES (1, 7, '2040-01-01', '2041-01-01')`,
				`CREATE POLICY poison ON day_lock AS RESTRICTIVE USING (CASE WHEN employee_id = 7 THEN raise_poison() ELSE true END)`,
			},
			cure: []string{`DROP POLICY poison ON day_lock`, `DELETE FROM day_lock WHERE employee_id = 7`, `DROP FUNCTION raise_poison()`},
		},
		{
			name: "a conflict without an end", code: propagation.CodeRefused,
			add: []string{
				`CREATE FUNCTION raise_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '` + secret + `' USING ERRCODE = '40001'; END $$`,
				`CREATE TRIGGER poison BEFORE INSERT ON span FOR EACH ROW WHEN (NEW.employee_id = 7) EXECUTE FUNCTION raise_poison()`,
			},
			cure: []string{`DROP TRIGGER poison ON span`, `DROP FUNCTION raise_poison()`}, backoff: 10 * time.Millisecond, deliver: 1,
		},
	}
}

func (w *fixture) execAll(statements []string) {
	w.t.Helper()
	for _, sql := range statements {
		w.exec(sql)
	}
}

// TestOneFailingEmployeeHoldsNobodyUp changes a term twenty-one times while every
// attempt at one of its thirty members fails, with a window that six failing batches
// fill and a broker that does not repeat a message within the test. An idle machine takes
// some seconds.
func TestOneFailingEmployeeHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for _, kind := range poisons() {
		t.Run(kind.name, func(t *testing.T) {
			w := newFixture(t)
			// The broken batch is not delivered again within the test.
			w.backoff, w.patience = cmp.Or(kind.backoff, time.Hour), 2*time.Minute
			w.term(5)
			w.term(6)
			w.members(5, "2026-01-01", "3000-01-01", ids(1, 30)...)
			w.members(6, "2026-01-01", "3000-01-01", ids(5001, 5010)...)
			w.assign(assignment{id: 40, term: 5, from: "2026-01-05", pattern: 1})
			w.assign(assignment{id: 41, term: 6, from: "2026-01-05", pattern: 1})
			w.apply(w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5, 6}}))
			w.execAll(kind.add)

			w.run(natstest.New(t), Config{Window: 6, SweepEvery: time.Hour, MaxDeliver: kind.deliver})
			began := time.Now()
			var changes []int64
			change := func(id, term int64, pattern int) int64 {
				w.assign(assignment{id: id, term: term, from: "2026-01-05", pattern: pattern, override: true})
				started := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{term}})
				return started
			}
			for n := range int64(20) {
				changes = append(changes, change(50+n, 5, int(2+n%10)))
			}
			changes = append(changes, change(70, 5, 20))
			beside := change(71, 6, 20)
			elsewhere := w.startIn(2, propagation.Request{Cause: propagation.CauseMembership, EmployeeIDs: []int64{7, 8}})
			w.awaitState(beside, propagation.StateFinished)
			w.await("another tenant's change finishes", func() bool {
				var state string
				err := w.pool.QueryRow(tenant.With(t.Context(), 2), "SELECT state FROM propagation WHERE id = $1", elsewhere).Scan(&state)
				return err == nil && state == propagation.StateFinished
			})
			for _, id := range changes {
				w.awaitState(id, propagation.StateFailed)
				// No attempt has reached the employee in the meantime. A later change tries again.
				w.await("all others are done", func() bool {
					got := w.get(id)
					return got.GetEmployeesDone() == 29 && got.GetEmployeesFailed() == 1
				})
			}
			t.Log("all others were done after", time.Since(began))
			assert.Equal(t, 29, w.count("SELECT count(*) FROM span WHERE pattern_id = 20 AND employee_id <= 30"), "all others have the last pattern")
			for _, id := range changes {
				w.requireFailed(id, kind.code, 7)
				assert.Equal(t, int64(29), w.get(id).GetEmployeesDone(), "each is counted once")
			}
			assert.Empty(t, w.listBatches(), "what failed does not occupy the window")

			w.execAll(kind.cure)
			require.NoError(t, Replay(w.ctx, w.pool, changes[0], time.Now()))
			for _, id := range changes {
				w.awaitState(id, propagation.StateFinished)
				got := w.get(id)
				assert.Equal(t, int64(30), got.GetEmployeesDone())
				assert.Empty(t, got.GetError())
				assert.Empty(t, got.GetFailures())
				assert.Zero(t, got.GetEmployeesFailed())
			}
			w.requireVerified()
		})
	}
}

// requireFailed compares the failed employees of a propagation.
func (w *fixture) requireFailed(id int64, code string, employees ...int64) {
	w.t.Helper()
	got := w.get(id)
	require.Equal(w.t, int64(len(employees)), got.GetEmployeesFailed())
	require.Len(w.t, got.GetFailures(), len(employees))
	for i, failure := range got.GetFailures() {
		assert.Equal(w.t, employees[i], failure.GetEmployee().GetId())
		assert.Equal(w.t, code, failure.GetErrorCode())
		assert.NotEmpty(w.t, failure.GetMessage())
		assert.NotContains(w.t, failure.GetMessage()+got.GetError(), secret)
	}
	assert.NotEmpty(w.t, got.GetError())
}

// TestSlowEmployeeIsSeparated has a statement about one employee take longer than it may.
func TestSlowEmployeeIsSeparated(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.patience = 90 * time.Second
	w.cfg.StatementTimeout = 500 * time.Millisecond
	w.backoff = 10 * time.Millisecond
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 100)...)
	w.assign(assignment{id: 40, term: 5, from: "2026-01-05"})
	w.execAll([]string{
		`CREATE FUNCTION sleep_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$`,
		`CREATE TRIGGER poison BEFORE INSERT ON span FOR EACH ROW WHEN (NEW.employee_id = 7) EXECUTE FUNCTION sleep_poison()`,
	})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.run(natstest.New(t), Config{SweepEvery: 100 * time.Millisecond, SweepAfter: 500 * time.Millisecond})
	w.await("all others are done", func() bool { return w.get(id).GetEmployeesDone() == 99 })
	w.awaitState(id, propagation.StateFailed)
	w.requireFailed(id, propagation.CodeSlow, 7)
	w.exec(`DROP TRIGGER poison ON span`)
	w.awaitState(id, propagation.StateFinished)
	assert.Equal(t, int64(100), w.get(id).GetEmployeesDone())
	w.requireVerified()
}

// TestDeathsWhileABatchIsDivided ends connections and processes while batches are divided.
// Each employee is counted once.
func TestDeathsWhileABatchIsDivided(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.patience = 90 * time.Second
	server := natstest.New(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 300)...)
	w.assign(assignment{id: 40, term: 5, from: "2026-01-05"})
	add, cure := raiseFor("span", "INSERT", "NEW.employee_id IN (7, 150, 151, 300)")
	w.execAll(add)
	var changes []int64
	for range 3 {
		changes = append(changes, w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}}))
		w.plan(w.propagator(Config{}))
	}
	cfg := Config{SweepEvery: 100 * time.Millisecond, SweepAfter: 2 * time.Second}
	first, second := w.run(server, cfg), w.run(server, cfg)
	kills := 0
	for deadline := time.Now().Add(w.patience); kills < 40 && time.Now().Before(deadline); {
		kills += w.count(`SELECT count(pg_terminate_backend(pid)) FROM (
			SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'
				AND query LIKE '%propagation%' LIMIT 1) AS busy`)
		if kills == 20 {
			first.stop()
			first = w.run(server, cfg)
		}
	}
	second.stop()
	assert.Equal(t, 40, kills)
	for _, id := range changes {
		w.await("all others are done", func() bool { return w.get(id).GetEmployeesDone() == 296 })
		w.await("the failed are named", func() bool { return w.get(id).GetEmployeesFailed() == 4 })
		w.requireFailed(id, propagation.CodeRefused, 7, 150, 151, 300)
	}
	w.execAll(cure)
	for _, id := range changes {
		w.awaitState(id, propagation.StateFinished)
		assert.Equal(t, int64(300), w.get(id).GetEmployeesDone())
	}
	w.requireVerified()
}

// Each attempt fails. The propagation reports it soon, and finishes when the cause is removed.
func TestAllEmployeesFail(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.patience = 90 * time.Second
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", ids(1, 1000)...)
	w.assign(assignment{id: 40, term: 5, from: "2026-01-05"})
	add, cure := raiseFor("span", "INSERT", "true")
	w.execAll(add)
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.run(natstest.New(t), Config{SweepEvery: 100 * time.Millisecond, SweepAfter: time.Second})
	w.await("it shows", func() bool { return w.get(id).GetEmployeesFailed() == 1000 })
	got := w.get(id)
	assert.Len(t, got.GetFailures(), 100, "the list is bounded")
	assert.Equal(t, propagation.StateFailed, got.GetState())
	w.execAll(cure)
	w.awaitState(id, propagation.StateFinished)
	assert.Equal(t, int64(1000), w.get(id).GetEmployeesDone())
	w.requireVerified()
}

// TestFailuresNameOnlyVisibleEmployees reads a propagation as a caller who sees one of two
// employees that failed.
func TestFailuresNameOnlyVisibleEmployees(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version) VALUES (1, 8, 'N-8', 'Eight', 'UTC', 1)`)
	for _, employee := range []int64{7, 8} {
		w.assign(assignment{id: 60 + employee, employee: employee, from: "2026-01-05", lane: 99})
	}
	id := w.start(propagation.Request{Cause: propagation.CausePattern, EmployeeIDs: []int64{7, 8, 9}})
	w.apply(id)
	for _, test := range []struct {
		name string
		sees rowvisibility.Set
		want []int64
	}{
		{"everybody", rowvisibility.AllPersons(), []int64{7, 8}},
		{"one of them", rowvisibility.Persons(8, 9), []int64{8}},
		{"nobody", rowvisibility.Set{}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := propagation.NewHandler(w.pool, func(context.Context) (rowvisibility.Set, error) { return test.sees, nil }, propagation.Undos{}, pgtest.Log(w.t))
			page, err := h.MultiReadPropagations(w.ctx, &schedulingv1.MultiReadPropagationsRequest{})
			require.NoError(t, err)
			one, err := h.GetPropagation(w.ctx, &schedulingv1.GetPropagationRequest{Id: id})
			require.NoError(t, err)
			for _, got := range append(page.GetPropagations().GetPropagations(), one) {
				assert.Equal(t, int64(2), got.GetEmployeesFailed())
				var named []int64
				for _, failure := range got.GetFailures() {
					named = append(named, failure.GetEmployee().GetId())
					assert.Equal(t, propagation.CodeInternal, failure.GetErrorCode())
				}
				assert.Equal(t, test.want, named)
			}
			if len(test.want) > 0 {
				assert.Equal(t, "N-8", one.GetFailures()[len(test.want)-1].GetEmployee().GetQualifier())
			}
		})
	}
}
