package model

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	// short is the length of a run in the whole test suite.
	short = 10 * time.Second
	// clients is the number of concurrent planners, each with employees of their own.
	clients = 3
)

// shared is the state that the clients share.
type shared struct {
	deployment *launch.Deployment
	// turn is held by each client that calls the product. A client takes it alone for comparisons that
	// need all changes to be applied.
	turn sync.RWMutex
}

// fixture is the product with its model.
type fixture struct {
	company

	t         *testing.T
	shared    *shared
	kills     bool // this client ends processes
	api       scenario.API
	loggedIn  time.Time
	random    *rand.Rand
	terms     []int64  // by the numbers of the model; 0 is none
	open      []string // propagations that may not have finished
	undoable  undoable
	unsettled bool      // an employment changed since the last settle
	log       []string  // the operations so far
	last      []shown   // the entries that the last comparison read
	locks     []dayLock // the locks that the last comparison read
	past      []remembered
	// previewed are the shifts of employees that the preview of the last change showed; nil without one.
	previewed map[int64][]string
	moved     bool // something else has changed since the last comparison
	labels    int
	ids       map[int64]shown // the entry that each id of a generated entry has named
	counts    map[string]int
	longest   time.Duration // longest time that the product took to become consistent
}

// TestTheProductEqualsTheModel performs random operations, with processes killed, and compares
// after every few operations.
func TestTheProductEqualsTheModel(t *testing.T) {
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
	s := &shared{
		deployment: launch.Deployed(t, "ROTALOOM_LOG_LEVEL=warn", "ROTALOOM_PROPAGATION_SWEEP_EVERY=250ms", "ROTALOOM_PROPAGATION_SWEEP_AFTER=1s"),
	}
	// All have their employees before the first process is killed.
	var fixtures []*fixture
	for client := range clients {
		fixtures = append(fixtures, newFixture(t, s, seed, client))
	}
	for client, w := range fixtures {
		t.Run(fmt.Sprint("client ", client), func(t *testing.T) {
			t.Parallel()
			w.t = t
			for end := time.Now().Add(duration); time.Now().Before(end); {
				w.round()
			}
			t.Logf("ROTALOOM_MODEL_SEED=%d: %v, no difference; right again after %s at most", seed, w.counts, w.longest)
		})
	}
}

func newFixture(t *testing.T, s *shared, seed uint64, client int) *fixture {
	t.Helper()
	w := &fixture{
		t: t, shared: s, kills: client == 0, random: rand.New(rand.NewPCG(seed, uint64(client))),
		terms: []int64{0}, company: company{silent: map[int]bool{}}, ids: map[int64]shown{}, counts: map[string]int{},
	}
	w.logIn()
	for range 2 {
		crew, err := scenario.NewCrew(t.Context(), w.api, 3, earliest.date())
		require.NoError(t, err)
		w.terms = append(w.terms, crew.TermID)
		for _, id := range crew.Persons {
			e := &employee{
				id: id, terms: map[day]int{}, terminated: map[day]bool{}, leave: map[day]int64{}, timeOff: map[day]int64{},
				frozen: map[day][]layer{}, frozenLeave: map[day]bool{},
			}
			for d := earliest; d < latest; d++ {
				e.terms[d] = len(w.terms) - 1
			}
			w.employees = append(w.employees, e)
		}
	}
	return w
}

// tokenAge is the age of a token when its client replaces it. Every token is valid for at least
// twice as long.
const tokenAge = 10 * time.Minute

func (w *fixture) logIn() {
	w.api, w.loggedIn = scenario.API{Target: launch.Login(w.t, w.shared.deployment.Client, w.shared.deployment.Ready)}, time.Now()
}

// round lets planners perform some operations, sometimes with a process killed, and compares. Then
// employees and planners change entries that they see.
func (w *fixture) round() {
	w.t.Helper()
	w.shared.turn.RLock()
	defer w.shared.turn.RUnlock()
	if time.Since(w.loggedIn) > tokenAge {
		w.logIn()
	}
	for range 1 + w.random.IntN(4) {
		switch n := w.random.IntN(100); {
		case n < 25:
			w.did("moves", w.move())
		case n < 29:
			w.did("inheritance", w.inherit())
		default:
			w.did("changes", w.planner())
		}
		if w.kills && w.chance(12) {
			w.kill()
		}
	}
	w.compare()
	for range w.random.IntN(4) {
		switch n := w.random.IntN(18); {
		case n == 0:
			w.did("locks", w.freeze())
		case n == 1 && len(w.locks) > 0:
			w.did("unlocks", w.unfreeze())
		case n < 3:
			w.did("entries", w.enter())
		case n == 3:
			w.did("leave", w.takeLeave())
		case n == 4:
			w.did("leave", w.endLeave())
		case n == 5:
			w.did("employments", w.employ())
		case n == 6:
			w.did("time off", w.grantTimeOff())
		case n == 7:
			w.did("time off", w.cancelTimeOff())
		case n < 10:
			w.did("undos", w.undo())
		default:
			w.did("edits", w.touch())
		}
		w.compare()
		if w.unsettled || w.chance(2) {
			w.settle()
		}
	}
}

func (w *fixture) did(kind, what string) {
	if kind != "changes" && kind != "kills" {
		w.previewed, w.moved = nil, true
	}
	if what != "" {
		w.counts[kind]++
		w.log = append(w.log, what)
	}
}

// kill ends a process as a crash does, and starts it again. No client waits for a response in that
// moment, because the effect of a request without a response is unknown.
func (w *fixture) kill() {
	names := []string{"propagator", "propagator", "scheduling", "timekeeping", "commons"}
	name := names[w.random.IntN(len(names))]
	w.alone(func() {
		w.shared.deployment.Services[name].Kill(w.t)
		w.shared.deployment.Start(name)
	})
	w.did("kills", "kill "+name)
}

// alone runs a function while no other client calls the product.
func (w *fixture) alone(run func()) {
	w.shared.turn.RUnlock()
	w.shared.turn.Lock()
	defer func() {
		w.shared.turn.Unlock()
		w.shared.turn.RLock()
	}()
	run()
}

// compare waits until the product shows the entries of the model, and checks the other rules.
func (w *fixture) compare() {
	w.t.Helper()
	for _, open := range w.open {
		launch.Await(w.t, waitTimeout, open+" finishes", func() bool {
			var p scenario.Propagation
			_, err := w.call(http.MethodGet, open, nil, &p)
			require.NoError(w.t, err)
			require.NotEqual(w.t, "FAILED", p.State, p.Error)
			return p.State == "FINISHED"
		})
	}
	w.open = nil
	w.counts["comparisons"]++
	want := w.schedule()
	var difference string
	var got seen
	began := time.Now()
	defer func() { w.longest = max(w.longest, time.Since(began)) }()
	deadline := time.Now().Add(waitTimeout)
	for difference = "nothing was read"; difference != "" && time.Now().Before(deadline); {
		var err error
		got, err = w.read("")
		if status(err) != http.StatusServiceUnavailable {
			require.NoError(w.t, err)
			difference = w.differences(want, got)
		}
		if difference != "" {
			time.Sleep(betweenReads) // Reads without a pause use up the rate of their class.
		}
	}
	if difference != "" {
		w.fail(difference)
	}
	w.last, w.locks = got.entries, got.locks
	w.checkPreview(got.entries)
	w.checkIDs(got.entries)
	w.checkHyperfind()
	w.checkExplanations(got.entries)
	w.remember(got)
	w.checkPast()
}

func (w *fixture) fail(what string) {
	w.t.Helper()
	for _, a := range w.assignments {
		w.t.Logf("assignment %+v", *a)
	}
	require.Fail(w.t, "the product and the model differ", "%s\nafter\n%v", what, lines(w.log[max(0, len(w.log)-25):]))
}

func lines(list []string) (out string) {
	for _, line := range list {
		out += "  " + line + "\n"
	}
	return out
}

// differences describes the differences, or returns "".
func (w *fixture) differences(want []shown, got seen) (out string) {
	count := map[shown]int{}
	plain := func(s shown) shown {
		if s.generated || s.payCode {
			s.id = 0
		}
		return s
	}
	for _, s := range want {
		count[plain(s)]++
	}
	for _, s := range got.entries {
		count[plain(s)]--
	}
	for s, n := range count {
		switch {
		case n > 0:
			out += fmt.Sprintf("missing %v\n", s)
		case n < 0:
			out += fmt.Sprintf("surplus %v\n", s)
		}
	}
	for i, e := range w.employees {
		for d := day(0); d < window; d++ {
			locked := slices.ContainsFunc(got.locks, func(l dayLock) bool { return l.on(i, d) })
			if e.isLocked(d) != locked {
				out += fmt.Sprintf("employee %d, day %d: locked %t\n", i, d, locked)
			}
			if leave := got.leave[leaveDay{i, d}]; leave > 1 || (leave == 1) != (e.leave[d] != 0) {
				out += fmt.Sprintf("employee %d, day %d: %d edits of leave\n", i, d, leave)
			}
		}
	}
	return out
}

// checkIDs requires that each id always names the same entry, and that the ids of deleted entries
// name none.
func (w *fixture) checkIDs(got []shown) {
	w.t.Helper()
	now := map[int64]bool{}
	for _, s := range got {
		require.False(w.t, now[s.id], "two entries have the id %d", s.id)
		now[s.id] = true
		if !s.generated {
			continue
		}
		s.locked = false
		// An assignment that was split keeps its ids under another number.
		s.assignment = 0
		if was, known := w.ids[s.id]; known {
			require.Equal(w.t, was, s, "the id %d names another entry", s.id)
		}
		w.ids[s.id] = s
	}
	for range 2 {
		if len(got) == 0 {
			return
		}
		s := got[w.random.IntN(len(got))]
		if !s.payCode {
			var shift struct{ StartDateTime, Label string }
			w.must(http.MethodGet, path(shifts, s.id), nil, &shift)
			require.Equal(w.t, [2]string{clock(s.day, s.start), s.label}, [2]string{shift.StartDateTime, shift.Label})
		}
	}
	var gone []int64
	for id, s := range w.ids {
		if !now[id] && !s.payCode && !w.isCovered(id, s) {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	if len(gone) > 0 {
		id := gone[w.random.IntN(len(gone))]
		_, err := w.call(http.MethodDelete, path(shifts, id), nil, nil)
		if status(err) != http.StatusNotFound {
			w.fail(fmt.Sprintf("the id %d named %v, which is gone, and is deleted: %v", id, w.ids[id], err))
		}
	}
}

// isCovered reports whether leave covers an entry that is not shown: on the day to which an edit
// has moved it, or on the day of its pattern. Such an entry exists, and its id still names it.
func (w *fixture) isCovered(id int64, generated shown) bool {
	for _, t := range w.touched {
		if t.made != nil && t.made.id == id {
			return w.employees[t.made.employee].isCovered(t.made.day)
		}
	}
	return w.employees[generated.employee].isCovered(generated.day)
}

// checkHyperfind waits until a hyperfind finds the employees who are scheduled on a day.
func (w *fixture) checkHyperfind() {
	w.t.Helper()
	d, want := w.anyDay(), map[int64]bool{}
	for _, s := range w.schedule() {
		// Hyperfind queries do not find persons on days without an employment.
		if s.day == d && !s.payCode && !w.employees[s.employee].terminated[d] {
			want[w.employees[s.employee].id] = true
		}
	}
	var found map[int64]bool
	equal := func() bool {
		var err error
		if found, err = w.find(d); status(err) == http.StatusServiceUnavailable {
			return false
		}
		require.NoError(w.t, err)
		return !slices.ContainsFunc(w.employees, func(e *employee) bool { return found[e.id] != want[e.id] })
	}
	// the pause between two reads
	for deadline := time.Now().Add(waitTimeout); !equal(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.fail(fmt.Sprintf("on day %d a hyperfind finds %v instead of %v", d, found, want))
		}
	}
}
