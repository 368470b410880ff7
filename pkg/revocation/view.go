// Package revocation lets every process know which access tokens ended before
// their time.
//
// The truth is a table of the auth service. Its entries come by a NATS
// key-value bucket that a View watches, which takes milliseconds, and by asking
// auth now and then, which makes sure: only a response of auth confirms that a
// view is complete as of the moment of asking. A view that was not confirmed
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
	// rounds is how often auth is asked within the bound, so that a few
	// failures do no harm.
	rounds = 6
	// roundTimeout bounds one round, and with it how long a request waits that
	// comes when the view is too old.
	roundTimeout = 5 * time.Second
	// retryAfter keeps requests that come meanwhile from asking again.
	retryAfter = 500 * time.Millisecond
	sweepEvery = time.Minute
)

// Config of a view. Its zero value means the defaults.
type Config struct {
	// Staleness is the longest time for which a revoked token may still be
	// accepted when neither the broker nor auth can be reached; 30 s.
	Staleness time.Duration `name:"revocation-staleness" default:"30s" help:"Age at which the list of revoked tokens is too old to accept tokens by it."`
}

// List calls add for each revocation since a horizon (0 for all there are), and
// returns the horizon at which the next list begins.
type List func(ctx context.Context, since int64, add func(key string, until time.Time)) (horizon int64, err error)

// Deps are what a view works with.
type Deps struct {
	// Auth lists revocations.
	Auth List
	// NATS has the bucket.
	NATS  *nats.Conn
	Clock clock.Clock
	Log   *slog.Logger
}

// View is what one process knows of revocations. It is an authn.Revocations,
// and safe for concurrent use.
type View struct {
	staleness time.Duration
	auth      List
	conn      *nats.Conn
	clock     clock.Clock
	log       *slog.Logger

	flight singleflight.Group
	// since, tried and failed are those of the rounds, of which there is one at
	// a time.
	since  int64
	tried  time.Time
	failed error

	mu sync.RWMutex
	// until holds when each revocation may be forgotten. Its size is bounded by
	// the revocations within the life of an access token.
	until map[string]time.Time
	// bound is the largest time of a bound: tokens that were issued up to then are revoked.
	bound     int64
	confirmed time.Time // when the round began that auth responded last
	swept     time.Time
}

// New makes a view that knows nothing yet. It asks for the first time when Run
// begins or a token comes, whichever is first.
func New(cfg Config, deps Deps) (*View, error) {
	if deps.Auth == nil || deps.NATS == nil || deps.Clock == nil || deps.Log == nil {
		return nil, errors.New("revocations: a view needs auth, a broker, a clock and a log")
	}
	return &View{
		staleness: defaults.Fill(cfg).Staleness, auth: deps.Auth, conn: deps.NATS, clock: deps.Clock, log: deps.Log,
		until: map[string]time.Time{},
	}, nil
}

// Run keeps the view up to date until ctx ends.
func (v *View) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { v.watch(ctx); return nil })
	group.Go(func() error { v.pollAuth(ctx); return nil })
	return group.Wait()
}

// Revoked reports whether the principal's token was revoked. When the view is
// too old it asks auth first, and returns an error when auth does not respond.
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

// errStale says that auth responded so slowly that its response is too old.
var errStale = errors.New("revocations: auth responds later than the bound permits")

func (v *View) lookup(p *authn.Principal) (revoked, recent bool) {
	now := v.clock.Now()
	v.mu.RLock()
	defer v.mu.RUnlock()
	_, token := v.until[TokenKey(p.JTI)]
	_, family := v.until[FamilyKey(p.SID)]
	early := v.bound > 0 && p.IssuedAt.Unix() <= v.bound
	age := now.Sub(v.confirmed)
	// A clock that was set back says nothing about the age.
	return token || family || early, age >= 0 && age <= v.staleness
}

func (v *View) add(key string, until time.Time) {
	if !until.After(v.clock.Now()) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if issued, is := boundOf(key); is {
		v.bound = max(v.bound, issued)
	}
	if until.After(v.until[key]) {
		v.until[key] = until
	}
}

// Len is how many revocations the view holds.
func (v *View) Len() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return len(v.until)
}
