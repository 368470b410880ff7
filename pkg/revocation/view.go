// Package revocation tells every process which access tokens were revoked before they expired.
//
// The source is a table of the auth service. Entries arrive in two ways: over a NATS key-value
// bucket that a View watches, within milliseconds; and by asking auth at intervals, which is
// reliable. Only a response of auth confirms that a view is complete as of the time of the request.
// A view that was not confirmed for longer than its bound makes no decision.
// for longer than its bound refuses to decide.
package revocation

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
)

const (
	// rounds is how often auth is asked within the bound, so that a few failures do no harm.
	rounds = 6
	// roundTimeout bounds one round, and with it the wait of a request that finds the view too old.
	roundTimeout = 5 * time.Second
	// retryAfter is the time after a failed round in which requests do not ask again.
	retryAfter = 500 * time.Millisecond
	sweepEvery = time.Minute
)

// Config configures a view. Its zero value means the defaults.
type Config struct {
	// Staleness is the longest time that a revoked token may still be accepted while neither the
	// broker nor auth can be reached; 30 s.
	Staleness time.Duration `name:"revocation-staleness" default:"30s" help:"Age at which the list of revoked tokens is too old to accept tokens."`
}

// List calls add for each revocation since a horizon (0 for all), and returns the horizon for the
// next call.
type List func(ctx context.Context, since int64, add func(key string, until time.Time)) (horizon int64, err error)

// Deps are the dependencies of a view.
type Deps struct {
	// Auth lists revocations.
	Auth List
	// NATS is the connection to the broker with the bucket.
	NATS  *nats.Conn
	Clock clock.Clock
	Log   *slog.Logger
}

// View holds the revocations that one process knows. It is an authn.Revocations, and safe for
// concurrent use.
type View struct {
	staleness time.Duration
	auth      List
	conn      *nats.Conn
	clock     clock.Clock
	log       *slog.Logger

	flight singleflight.Group
	// The rounds own since, tried and failed; only one round runs at a time.
	since  int64
	tried  time.Time
	failed error

	mu sync.RWMutex
	// until holds the time after which each revocation may be removed. Its size is bounded by the
	// revocations within the life of an access token.
	until map[string]time.Time
	// bound is the latest bound: tokens that were issued up to this time are revoked.
	bound     int64
	confirmed time.Time // start of the last round that auth responded to
	swept     time.Time
}

// New returns an empty view. It first asks auth when Run starts or a token arrives, whichever comes
// first.
func New(cfg Config, deps Deps) (*View, error) {
	if deps.Auth == nil || deps.NATS == nil || deps.Clock == nil || deps.Log == nil {
		return nil, errors.New("revocations: a view needs auth, a broker, a clock and a log")
	}
	return &View{
		staleness: defaults.Fill(cfg).Staleness, auth: deps.Auth, conn: deps.NATS, clock: deps.Clock, log: deps.Log,
		until: map[string]time.Time{},
	}, nil
}

// Run updates the view until ctx ends.
func (v *View) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { v.watch(ctx); return nil })
	group.Go(func() error { v.pollAuth(ctx); return nil })
	return group.Wait()
}

// Revoked reports whether the principal's token was revoked. If the view is too old, it asks auth
// first, and returns an error if auth does not respond.
func (v *View) Revoked(ctx context.Context, p *authn.Principal) (bool, error) {
	revoked, recent := v.lookup(p)
	if revoked || recent {
		return revoked, nil
	}
	if err := v.refresh(ctx); err != nil {
		return false, err
	}
	if revoked, recent = v.lookup(p); revoked || recent {
		return revoked, nil
	}
	return false, errStale
}

// errStale means that auth responded, but later than the bound allows.
var errStale = errors.New("revocations: auth responds later than the bound permits")

func (v *View) lookup(p *authn.Principal) (revoked, recent bool) {
	now := v.clock.Now()
	v.mu.RLock()
	defer v.mu.RUnlock()
	_, token := v.until[TokenKey(p.JTI)]
	_, family := v.until[SessionKey(p.SID)]
	early := v.bound > 0 && p.IssuedAt.Unix() <= v.bound
	age := now.Sub(v.confirmed)
	// A clock that was set back gives no valid age.
	return token || family || early, age >= 0 && age <= v.staleness
}

func (v *View) add(key string, until time.Time) {
	if !until.After(v.clock.Now()) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if issued, is := parseBound(key); is {
		v.bound = max(v.bound, issued)
	}
	if until.After(v.until[key]) {
		v.until[key] = until
	}
}

// Len returns the number of revocations in the view.
func (v *View) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.until)
}
