// Package denial aggregates what callers were refused, so that it can be kept and
// a flood of denials is no flood of writes. Refusals of one kind share one
// entry, entries are kept together now and then, and their number is bounded.
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
	// window is for how long denials of one kind are aggregated.
	window = 5 * time.Second
	// maxKinds bounds the kinds that are held, perTenant those of one tenant, and
	// perUser those of one of its users, so that nobody takes the place of others.
	maxKinds, perTenant, perUser = 1000, 50, 20
	// share is the part of the places that are free that one tenant may take. Some
	// are free then, however many tenants are flooded.
	share = 10
	// maxText bounds each text of a Kind, in bytes.
	maxText = 200
	// storeTimeout bounds the keeping of what one window has aggregated, lastTimeout
	// that of the last one, when the program stops.
	storeTimeout, lastTimeout = 5 * time.Second, 2 * time.Second
)

// Further is the outcome of the entry that counts what has no entry of its own:
// that of a user, or when no user is named that of the tenant. It names no
// operation.
const Further = "further_refusals"

// Kind is what denials have in common that share an entry.
type Kind struct {
	// Tenant is never 0: what nobody known was refused has no trail to stand in.
	Tenant int64
	// User is the subject of the token, Client what it was issued to.
	User, Client string
	// Operation is the full name of an operation without the slash, or "" for none.
	Operation string
	// Outcome is the code of the error.
	Outcome string
}

// Denial is how often something was refused. All times are those of this
// process.
type Denial struct {
	Kind
	PersonID int64
	// RequestID is that of the first request.
	RequestID   string
	First, Last time.Time
	Times       int64
}

// Store stores denials of one tenant, that of the context, all or none.
type Store func(ctx context.Context, denials []*Denial) error

// Aggregator aggregates denials until they are kept. It is safe for concurrent use.
// A nil Aggregator keeps nothing.
type Aggregator struct {
	store Store
	log   *slog.Logger
	lost  prometheus.Counter

	mu sync.Mutex
	entries
}

// entries are what is held, and how many kinds of each tenant and user.
type entries struct {
	held    map[Kind]*Denial
	tenants map[int64]int
	users   map[user]int
	// rest is how many of them are Further of a tenant.
	rest int
}

type user struct {
	tenant int64
	name   string
}

func noEntries() entries {
	return entries{held: map[Kind]*Denial{}, tenants: map[int64]int{}, users: map[user]int{}}
}

// New makes a Aggregator.
func New(keep Store, log *slog.Logger, registry prometheus.Registerer) (*Aggregator, error) {
	a := &Aggregator{
		store: keep, log: log, entries: noEntries(),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_audit_denials_lost_total",
			Help: "Refused requests of known tenants that are not in the audit trail: too many tenants had some, or they could not be stored.",
		}),
	}
	if err := registry.Register(a.lost); err != nil {
		return nil, fmt.Errorf("registering the metrics of refusals: %w", err)
	}
	return a, nil
}

// Add notes a denial. It costs a look into a map, and never waits for storage.
func (a *Aggregator) Add(kind Kind, personID int64, requestID string, at time.Time) {
	if a == nil || kind.Tenant < 1 {
		return
	}
	// One text that cannot be stored would keep all others of its tenant out.
	kind.User, kind.Client = clean(kind.User), clean(kind.Client)
	kind.Operation, kind.Outcome = clean(kind.Operation), clean(kind.Outcome)
	a.add(&Denial{Kind: kind, PersonID: personID, RequestID: clean(requestID), First: at, Last: at, Times: 1})
}

// add notes a denial under its kind, or what there is no place for under
// Further of its user or tenant.
func (a *Aggregator) add(r *Denial) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, kind := range [...]Kind{r.Kind, {Tenant: r.Tenant, User: r.User, Outcome: Further}, {Tenant: r.Tenant, Outcome: Further}} {
		if same := a.held[kind]; same != nil {
			same.join(r)
			return
		}
		if a.hasCapacity(kind) {
			a.hold(kind, r)
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

// room reports whether there is a place for one more kind.
func (e *entries) hasCapacity(kind Kind) bool {
	free := maxKinds - (len(e.held) - e.rest)
	switch {
	case kind.ofRest():
		return e.rest < maxKinds // Beside the others, so that their number hides no tenant.
	case free <= 0 || e.tenants[kind.Tenant] >= min(perTenant, free/share+1):
		return false
	}
	return kind.Outcome == Further || e.users[user{kind.Tenant, kind.User}] < perUser
}

// ofRest reports whether the kind is Further of a tenant.
func (k Kind) ofRest() bool { return k == Kind{Tenant: k.Tenant, Outcome: Further} }

func (e *entries) hold(kind Kind, r *Denial) {
	own := *r
	if own.Kind = kind; kind.User != r.User {
		own.PersonID = 0
	}
	if kind.ofRest() {
		e.rest++
	}
	e.held[kind] = &own
	e.tenants[kind.Tenant]++
	e.users[user{kind.Tenant, kind.User}]++
}

// clean returns a text that can be stored: valid, without control characters,
// and not longer than one may be.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), maxText)], ""))
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}

// Run keeps what was aggregated, window by window, until ctx ends, and then what
// is left.
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

// flush keeps what is held. What cannot be kept is held again, within the
// bounds.
func (a *Aggregator) flush(ctx context.Context, timeout time.Duration) {
	a.mu.Lock()
	held := a.held
	a.entries = noEntries()
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
		a.log.WarnContext(ctx, "refusals could not be kept for the audit trail, and are tried again", "error", failed)
	}
}

// lose counts what is held at the end as lost.
func (a *Aggregator) lose() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.held {
		a.lost.Add(float64(r.Times))
	}
	a.entries = noEntries()
}
