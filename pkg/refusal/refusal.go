// Package refusal gathers what callers were refused, so that it can be kept and
// a flood of refusals is no flood of writes. Refusals of one kind share one
// entry, entries are kept together now and then, and their number is bounded.
package refusal

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	// window is for how long refusals of one kind are gathered.
	window = 5 * time.Second
	// maxKinds bounds the kinds that are held, perTenant those of one tenant, so
	// that nobody takes the place of others.
	maxKinds, perTenant = 1000, 50
	// keepTimeout bounds the keeping of what one window has gathered, lastTimeout
	// that of the last one, when the program stops.
	keepTimeout, lastTimeout = 5 * time.Second, 2 * time.Second
)

// Kind is what refusals have in common that share an entry.
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

// Refusal is how often something was refused. All times are those of this
// process.
type Refusal struct {
	Kind
	PersonID int64
	// RequestID is that of the first request.
	RequestID   string
	First, Last time.Time
	Times       int64
}

// Keep stores refusals of one tenant, that of the context, all or none.
type Keep func(ctx context.Context, refusals []*Refusal) error

// Gatherer gathers refusals until they are kept. It is safe for concurrent use.
// A nil Gatherer keeps nothing.
type Gatherer struct {
	keep Keep
	log  *slog.Logger
	lost prometheus.Counter

	mu      sync.Mutex
	held    map[Kind]*Refusal
	tenants map[int64]int // how many kinds are held of each
}

// New makes a Gatherer.
func New(keep Keep, log *slog.Logger, registry prometheus.Registerer) (*Gatherer, error) {
	g := &Gatherer{
		keep: keep, log: log, held: map[Kind]*Refusal{}, tenants: map[int64]int{},
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "rotaloom_audit_refusals_lost_total",
			Help: "Refused requests of known tenants that are not in the audit trail: there were too many kinds, or they could not be stored.",
		}),
	}
	if err := registry.Register(g.lost); err != nil {
		return nil, fmt.Errorf("registering the metrics of refusals: %w", err)
	}
	return g, nil
}

// Add notes a refusal. It costs a look into a map, and never waits for storage.
func (g *Gatherer) Add(kind Kind, personID int64, requestID string, at time.Time) {
	if g == nil || kind.Tenant < 1 {
		return
	}
	g.add(&Refusal{Kind: kind, PersonID: personID, RequestID: requestID, First: at, Last: at, Times: 1})
}

func (g *Gatherer) add(r *Refusal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if same := g.held[r.Kind]; same != nil {
		if r.First.Before(same.First) {
			same.First, same.RequestID = r.First, r.RequestID
		}
		if r.Last.After(same.Last) {
			same.Last = r.Last
		}
		same.Times += r.Times
		return
	}
	if len(g.held) >= maxKinds || g.tenants[r.Tenant] >= perTenant {
		g.lost.Add(float64(r.Times))
		return
	}
	g.held[r.Kind] = r
	g.tenants[r.Tenant]++
}

// Run keeps what was gathered, window by window, until ctx ends, and then what
// is left.
func (g *Gatherer) Run(ctx context.Context) error {
	ticker := time.NewTicker(window)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			g.flush(context.WithoutCancel(ctx), lastTimeout)
			g.lose()
			return nil
		case <-ticker.C:
			g.flush(ctx, keepTimeout)
		}
	}
}

// flush keeps what is held. What cannot be kept is held again, within the
// bounds.
func (g *Gatherer) flush(ctx context.Context, timeout time.Duration) {
	g.mu.Lock()
	held := g.held
	g.held, g.tenants = map[Kind]*Refusal{}, map[int64]int{}
	g.mu.Unlock()
	if len(held) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	of := map[int64][]*Refusal{}
	for _, r := range held {
		of[r.Tenant] = append(of[r.Tenant], r)
	}
	var failed error
	for id, refusals := range of {
		if err := g.keep(tenant.With(ctx, id), refusals); err != nil {
			failed = err
			for _, r := range refusals {
				g.add(r)
			}
		}
	}
	if failed != nil {
		g.log.WarnContext(ctx, "refusals could not be kept for the audit trail, and are tried again", "error", failed)
	}
}

// lose counts what is held at the end as lost.
func (g *Gatherer) lose() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range g.held {
		g.lost.Add(float64(r.Times))
	}
	clear(g.held)
	clear(g.tenants)
}
