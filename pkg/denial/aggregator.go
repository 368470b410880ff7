// Package denial aggregates the denials of requests for the audit log, so that a flood of denials
// does not become a flood of writes. Denials of one kind share one entry, entries are stored in
// batches, and their number is bounded.
package denial

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// window is the time over which denials of one kind are aggregated.
	window = 5 * time.Second
	// maxKinds bounds the kinds in memory, perTenant the kinds of one tenant, and perUser the kinds
	// of one user, so that no caller displaces the others.
	maxKinds, perTenant, perUser = 1000, 50, 20
	// A tenant may use one share-th of the free places. So some places stay free, however many
	// tenants are flooded.
	share = 10
	// maxText bounds each text of a Kind, in bytes.
	maxText = 200
	// storeTimeout bounds the storing of one window, and lastTimeout the storing of the last one,
	// when the program stops.
	storeTimeout, lastTimeout = 5 * time.Second, 2 * time.Second
)

// Further is the outcome of the entry that counts the denials without their own entry: those of a
// user, or those of the whole tenant if the entry names no user. It names no operation.
const Further = "further_refusals"

// Kind holds the properties that the denials of one entry share.
type Kind struct {
	// Tenant is never 0: without a tenant there is no audit log to write to.
	Tenant int64
	// User is the subject of the token, and Client its OAuth client.
	User, Client string
	// Operation is the full name of an operation without the leading slash, or "".
	Operation string
	// Outcome is the code of the error.
	Outcome string
}

// Denial counts the denials of one kind. Times are by the clock of this process.
type Denial struct {
	Kind
	PersonID int64
	// RequestID is the id of the first request.
	RequestID   string
	First, Last time.Time
	Times       int64
}

// Store stores denials of the tenant of the context, all or none.
type Store func(ctx context.Context, denials []*Denial) error

// Aggregator aggregates denials until they are stored. It is safe for concurrent use. A nil
// Aggregator drops them.
type Aggregator struct {
	store Store
	log   *slog.Logger
	lost  prometheus.Counter

	mu sync.Mutex
	entries
}

// entries holds the denials in memory, and the number of kinds of each tenant and user.
type entries struct {
	held    map[Kind]*Denial
	tenants map[int64]int
	users   map[user]int
	// rest is the number of held entries that are Further of a tenant.
	rest int
}

type user struct {
	tenant int64
	name   string
}

func newEntries() entries {
	return entries{held: map[Kind]*Denial{}, tenants: map[int64]int{}, users: map[user]int{}}
}

// New returns an Aggregator.
func New(keep Store, log *slog.Logger, registry prometheus.Registerer) (*Aggregator, error) {
	a := &Aggregator{
		store: keep, log: log, entries: newEntries(),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_audit_denials_lost_total",
			Help: "Denied requests that are missing in the audit log: too many tenants had some, or storing them failed.",
		}),
	}
	if err := registry.Register(a.lost); err != nil {
		return nil, fmt.Errorf("registering the metrics of denials: %w", err)
	}
	return a, nil
}

// Add records a denial. It costs a map lookup, and never waits for storage.
func (a *Aggregator) Add(kind Kind, personID int64, requestID string, at time.Time) {
	if a == nil || kind.Tenant < 1 {
		return
	}
	// One text that cannot be stored would block the whole batch of its tenant.
	kind.User, kind.Client = clean(kind.User), clean(kind.Client)
	kind.Operation, kind.Outcome = clean(kind.Operation), clean(kind.Outcome)
	a.add(&Denial{Kind: kind, PersonID: personID, RequestID: clean(requestID), First: at, Last: at, Times: 1})
}

// add records a denial under its kind. If there is no place, it counts under Further of its user or
// tenant.
func (a *Aggregator) add(r *Denial) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, kind := range [...]Kind{r.Kind, {Tenant: r.Tenant, User: r.User, Outcome: Further}, {Tenant: r.Tenant, Outcome: Further}} {
		if same := a.held[kind]; same != nil {
			same.join(r)
			return
		}
		if a.hasCapacity(kind) {
			a.addEntry(kind, r)
			return
		}
	}
	a.lost.Add(float64(r.Times))
}

func (r *Denial) join(other *Denial) {
	if other.First.Before(r.First) {
		r.First, r.RequestID = other.First, other.RequestID
	}
	if other.Last.After(r.Last) {
		r.Last = other.Last
	}
	r.Times += other.Times
}

// hasCapacity reports whether there is a place for the kind.
func (e *entries) hasCapacity(kind Kind) bool {
	free := maxKinds - (len(e.held) - e.rest)
	switch {
	case kind.isRest():
		return e.rest < maxKinds // In addition to the others, so that no tenant is hidden by their number.
	case free <= 0 || e.tenants[kind.Tenant] >= min(perTenant, free/share+1):
		return false
	}
	return kind.Outcome == Further || e.users[user{kind.Tenant, kind.User}] < perUser
}

// isRest reports whether the kind is Further of a tenant.
func (k Kind) isRest() bool { return k == Kind{Tenant: k.Tenant, Outcome: Further} }

func (e *entries) addEntry(kind Kind, r *Denial) {
	own := *r
	if own.Kind = kind; kind.User != r.User {
		own.PersonID = 0
	}
	if kind.isRest() {
		e.rest++
	}
	e.held[kind] = &own
	e.tenants[kind.Tenant]++
	e.users[user{kind.Tenant, kind.User}]++
}

// clean returns the text in a form that can be stored: valid, without control characters, and at
// most maxText bytes.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// Run stores the aggregated denials, window by window, until ctx ends, and then the remaining ones.
func (a *Aggregator) Run(ctx context.Context) error {
	ticker := time.NewTicker(window)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			a.flush(context.WithoutCancel(ctx), lastTimeout)
			a.lose()
			return nil
		case <-ticker.C:
			a.flush(ctx, storeTimeout)
		}
	}
}

// flush stores the held denials. It holds those that cannot be stored for another window, within
// the bounds.
func (a *Aggregator) flush(ctx context.Context, timeout time.Duration) {
	a.mu.Lock()
	held := a.held
	a.entries = newEntries()
	a.mu.Unlock()
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	of := map[int64][]*Denial{}
	for _, r := range held {
		of[r.Tenant] = append(of[r.Tenant], r)
	}
	var failed error
	for id, denials := range of {
		if err := a.store(tenant.With(ctx, id), denials); err != nil {
			failed = err
			for _, r := range denials {
				a.add(r)
			}
		}
	}
	if failed != nil {
		a.log.WarnContext(ctx, "denials could not be stored in the audit log; trying again", "error", failed)
	}
}

// lose counts the denials that are held at the end as lost.
func (a *Aggregator) lose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.held {
		a.lost.Add(float64(r.Times))
	}
	a.entries = newEntries()
}
