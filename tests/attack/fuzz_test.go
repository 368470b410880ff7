package attack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	shortFuzz = 3_000
	longFuzz  = 200_000
	// fuzzers is the number of concurrent senders.
	fuzzers = 8
	// checkEvery is the number of requests after which the administrator logs in again.
	checkEvery = 1_000
	// maxGrowth bounds the growth of memory in the second half of the run, in bytes.
	maxGrowth = 128 << 20
)

// Every operation is called with requests that an attacker who knows the contract might send. Some
// are valid requests with a few changes. Others are generated from the descriptors, with values at
// and over every bound, of wrong types, huge, deep, or with ids and names of another tenant.
// ROTALOOM_ATTACK_SEED repeats a run, ROTALOOM_ATTACK_FROM sets its first request, and
// ROTALOOM_ATTACK_REQUESTS its last.
func TestEveryOperationIsFuzzed(t *testing.T) {
	t.Parallel()
	seed := uint64(1) // The short form is the same every time.
	if long() {
		seed = uint64(time.Now().UnixNano())
	}
	if given := os.Getenv("ROTALOOM_ATTACK_SEED"); given != "" {
		var err error
		seed, err = strconv.ParseUint(given, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("ROTALOOM_ATTACK_SEED=%d", seed)
	// Connections that the client opened ahead are not ended while it may take them.
	w := newFixture(t, "--no-throttle", "--log-level", "warn", "--header-timeout", "1h")
	f := newFuzz(t, w, seed)
	last := int64(shortFuzz)
	if long() {
		last = longFuzz
	}
	last = numberFrom(t, "ROTALOOM_ATTACK_REQUESTS", last)
	first := numberFrom(t, "ROTALOOM_ATTACK_FROM", 1)
	f.next.Store(first - 1)
	half := f.run(t, first+(last-first)/2)
	end := f.run(t, last)
	f.report(t)
	t.Logf("memory: %d MiB after one half, %d MiB at the end", half>>20, end>>20)
	assert.Less(t, end, int64(maxMemory))
	assert.Less(t, end-half, int64(maxGrowth), "memory is flat")
	w.requireUnharmed(t)
}

// numberFrom returns the number in an environment variable, or a default.
func numberFrom(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	given := os.Getenv(variable)
	if given == "" {
		return otherwise
	}
	number, err := strconv.ParseInt(given, 10, 64)
	require.NoError(t, err, variable)
	return number
}

// fuzz is a run with its findings.
type fuzz struct {
	w     *fixture
	seed  uint64
	calls []httpOperation
	words words
	// good holds requests that succeeded, by operation.
	good map[string][]request
	// secrets matches texts of the other tenant that no response may contain, unless the request sent
	// them.
	secrets *regexp.Regexp
	other   []string // ids and names of the other tenant

	next     atomic.Int64
	statuses sync.Map // counters, by status
	mu       sync.Mutex
	token    string
	faults   map[string]string // by operation and kind of fault
	reached  map[string]int    // successes, by operation
	// changes lists the changes between the last two log-ins, and since the last one.
	changes [2][]string
	// ended is set when the administrator can no longer log in; later results would mean nothing.
	ended atomic.Bool
}

// request is one request of the fuzzer.
type request struct {
	call         httpOperation
	method, path string
	body         any
	none         bool // no body at all
}

// newFuzz fills two tenants; one of them attacks the other.
func newFuzz(t *testing.T, w *fixture, seed uint64) *fuzz {
	t.Helper()
	f := &fuzz{
		w: w, seed: seed, calls: calls(t), token: w.admin.Token, good: map[string][]request{}, faults: map[string]string{}, reached: map[string]int{},
	}
	own := record(t, w.admin.Target)
	victim := record(t, w.tenant(t, strings.ToLower(scenario.Unique("victim"))).Target)
	f.secrets, f.other = ownedValues(victim)
	f.words = newWords(own)
	operations := contract.Operations()
	for _, asked := range own {
		operation, _ := asked.Called(operations)
		if operation == nil || asked.Step.Status >= 300 || asked.Step.Anonymous {
			continue
		}
		filled := contract.Filled(asked)
		r := request{method: filled.Method, path: filled.Path, none: filled.Body == nil}
		for _, c := range f.calls {
			if c.name == operation.Name {
				r.call = c
			}
		}
		if filled.Body != nil && decode(filled.Body, &r.body) != nil {
			continue
		}
		f.good[operation.Name] = append(f.good[operation.Name], r)
	}
	require.NotEmpty(t, f.good)
	return f
}

// ownedValues returns the secret texts of a tenant, and its ids and names. Ids and names are not
// secret: the fuzzer sends them, and may receive them as values of its own tenant.
func ownedValues(asked []contract.RecordedStep) (secrets *regexp.Regexp, known []string) {
	var hidden []string
	for _, a := range asked {
		if unique := a.Values["unique"]; unique != "" && unique[len(unique)-1]%2 == 0 {
			hidden = append(hidden, unique)
		}
	}
	secrets = regexp.MustCompile(strings.Join(slices.Compact(slices.Sorted(slices.Values(hidden))), "|"))
	for _, a := range asked {
		for name, value := range a.Values {
			if name != "password" && name != "client_secret" && len(value) < 40 && !secrets.MatchString(value) {
				known = append(known, value)
			}
		}
	}
	return secrets, slices.Compact(slices.Sorted(slices.Values(known)))
}

// elsewhere lists contract cases that do not fit here: they need rate limits, which this server
// does not apply, or the tenant with the name default, or must run first.
var elsewhere = []string{
	"platform/rate_limit/refused", "platform/rate_limit/settings", "platform/limit/get", "platform/audit_event/refusals", "scheduling/propagation/read",
	"auth/token/by_tenant",
}

// record runs contract cases up to the steps that delete their objects. The short form runs some of
// the cases.
func record(t *testing.T, target contract.Target) []contract.RecordedStep {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	asked := make([][]contract.RecordedStep, len(all))
	removes := func(s contract.Step) bool {
		return strings.HasPrefix(s.Do, "DELETE ") || strings.Contains(s.Do, "delete")
	}
	t.Run("fill", func(t *testing.T) {
		for i, c := range all {
			if !long() && i%4 != 0 || slices.Contains(elsewhere, c.Path) {
				continue
			}
			t.Run(c.Path, func(t *testing.T) {
				t.Parallel()
				var err error
				asked[i], err = contract.Record(t.Context(), target, c, removes)
				require.NoError(t, err)
			})
		}
	})
	return slices.Concat(asked...)
}

// run sends requests up to a number, and returns the memory of the server afterwards.
func (f *fuzz) run(t *testing.T, until int64) int64 {
	t.Helper()
	var all sync.WaitGroup
	for range fuzzers {
		all.Go(func() {
			for !f.ended.Load() {
				n := f.next.Add(1)
				if n > until {
					return
				}
				f.try(t.Context(), n)
				if n%checkEvery == 0 {
					f.check(t.Context(), n)
				}
			}
		})
	}
	all.Wait()
	f.next.Store(until)
	return memory(t, f.w.Process.Process.Pid)
}

// try sends the nth request, which follows from the seed and n.
func (f *fuzz) try(ctx context.Context, n int64) {
	g := &generator{rand.New(rand.NewPCG(f.seed, uint64(n))), f.words, f.other}
	r := g.request(f)
	var payload []byte
	if !r.none {
		payload = encode(r.body)
	}
	f.mu.Lock()
	token := f.token
	f.mu.Unlock()
	began, over := time.Now(), "none"
	trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { over = fmt.Sprintf("one reused %t after %s", c.Reused, c.IdleTime) }}
	got, err := f.w.send(httptrace.WithClientTrace(ctx, trace), token, r.method, r.path, payload)
	if err != nil {
		f.addFault(r, payload, n, fmt.Sprintf("no response: %v, after %s, connection: %s", err, time.Since(began), over))
		return
	}
	count, _ := f.statuses.LoadOrStore(got.status, new(atomic.Int64))
	count.(*atomic.Int64).Add(1)
	switch {
	case got.status == http.StatusUnauthorized:
		f.relogin(ctx, token)
	case got.status >= 500 && got.status != http.StatusServiceUnavailable:
		f.addFault(r, payload, n, fmt.Sprintf("%d %s", got.status, got.body))
	case got.status == http.StatusRequestHeaderFieldsTooLarge: // The HTTP server answers this itself, in its own words.
	case r.call.file && !strings.HasPrefix(got.header.Get("Content-Type"), "application/json"):
		f.reach(r, payload, n)
	case got.status != http.StatusNoContent && !json.Valid(got.body):
		f.addFault(r, payload, n, fmt.Sprintf("%d with no JSON: %.200s", got.status, got.body))
	case got.status < 300:
		f.reach(r, payload, n)
	}
	if leaked := f.secrets.Find(got.body); len(leaked) > 0 && !strings.Contains(r.path+string(payload), string(leaked)) {
		f.addFault(r, payload, n, fmt.Sprintf("shows %s of another tenant: %.300s", leaked, got.body))
	}
}

// reach records a request that succeeded.
func (f *fuzz) reach(r request, payload []byte, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reached[r.call.name]++
	if r.method != http.MethodGet {
		f.changes[1] = append(f.changes[1], fmt.Sprintf("%d %s %s %.200s", n, r.method, r.path, payload))
	}
}

// check requires that the administrator can log in. A log-in fails because of an earlier request,
// so check it often, while the recent changes are known.
func (f *fuzz) check(ctx context.Context, n int64) {
	_, err := contract.Login(ctx, f.w.admin.Target)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.changes = [2][]string{f.changes[1], nil}
		return
	}
	f.lockedOut(n, err)
}

// relogin gets another token: a request may have ended the first one.
func (f *fuzz) relogin(ctx context.Context, old string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != old || f.ended.Load() {
		return
	}
	token, err := contract.Login(ctx, f.w.admin.Target)
	if err != nil {
		f.lockedOut(f.next.Load(), err)
		return
	}
	f.token = token
}

// lockedOut ends the run, and reports the changes since the last log-ins. The caller holds f.mu.
func (f *fuzz) lockedOut(n int64, err error) {
	if f.ended.Swap(true) {
		return
	}
	made := slices.Concat(f.changes[0], f.changes[1])
	// Sort requests about log-ins first.
	slices.SortStableFunc(made, func(a, b string) int {
		return cmp.Compare(strings.Index(b, "/v1/auth/"), strings.Index(a, "/v1/auth/"))
	})
	f.faults["log-in"] = fmt.Sprintf("request %d: the administrator can no longer log in: %v\nafter one of\n%s",
		n, err, strings.Join(made[:min(len(made), 200)], "\n"))
}

// isOwnClient reports whether a path leads to the client that the administrator uses to log in; its
// id is the same in every tenant. The administrator may change its secret and scopes, and later
// log-ins would then fail rightly.
func (f *fuzz) isOwnClient(path string) bool {
	own := "/v1/auth/clients/" + f.w.Ready.Credentials.ClientID
	return path == own || strings.HasPrefix(path, own+"/")
}

func (f *fuzz) addFault(r request, payload []byte, n int64, what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := r.call.name + " " + ids.ReplaceAllString(fmt.Sprintf("%.60s", what), "n")
	if _, known := f.faults[kind]; !known && len(f.faults) < 100 {
		f.faults[kind] = fmt.Sprintf("request %d: %s %s\n%.1500s\n-> %.500s", n, r.method, r.path, payload, what)
	}
}

var ids = regexp.MustCompile(`[0-9a-f-]{6,}|\d+`)

func (f *fuzz) report(t *testing.T) {
	t.Helper()
	f.statuses.Range(func(status, n any) bool {
		t.Logf("%d: %d", status, n.(*atomic.Int64).Load())
		return true
	})
	t.Logf("%d operations of %d succeeded at least once", len(f.reached), len(f.calls))
	for _, what := range f.faults {
		t.Errorf("seed %d, %s", f.seed, what)
	}
}
