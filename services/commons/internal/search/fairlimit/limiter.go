// Package fairlimit limits the number of concurrent operations, and shares it fairly among
// tenants and users.
package fairlimit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// maxWaiting limits the waiting queries of one user.
const maxWaiting = 32

// Holder is the tenant and user of a turn. The user is empty for work without a user.
type Holder struct {
	Tenant int64
	User   string
}

// Limiter limits the number of concurrent queries, and gives turns to tenants and users
// fairly. A user has at most half of the turns, and a tenant all but one. The next turn goes
// to the tenant with the fewest turns, and there to the user with the fewest turns; if
// several have equally few, the one whose last turn is longest ago comes first. So the slow
// queries of one tenant, however many, leave a turn to the others.
type Limiter struct {
	max, maxOfTenant, maxOfUser int

	mu      sync.Mutex
	running int
	tenants map[int64]*share
	users   map[Holder]*share
	// waiting has the waiting holders, the oldest first.
	waiting []*waiter
	// given counts the turns given so far.
	given int
}

// share counts the turns of a tenant or a user. It is removed when both counts are 0.
type share struct {
	running, waiting int
	// last is the value of given at the last turn.
	last int
}

type waiter struct {
	Holder
	admitted chan struct{}
}

// New returns a Limiter for the given number of concurrent queries.
func New(limit int) *Limiter {
	return &Limiter{
		max: limit, maxOfTenant: max(1, limit-1), maxOfUser: max(1, limit/2),
		tenants: map[int64]*share{}, users: map[Holder]*share{},
	}
}

// Acquire waits for a turn and returns the function that releases it.
func (t *Limiter) Acquire(ctx context.Context, who Holder) (release func(), err error) {
	t.mu.Lock()
	if s := t.users[who]; who.User != "" && s != nil && s.waiting >= maxWaiting {
		t.mu.Unlock()
		return nil, fault.TooMany("Too many of your hyperfinds wait for their turn. Ask again when some of them have ended.", time.Second)
	}
	w := &waiter{who, make(chan struct{})}
	t.waiting = append(t.waiting, w)
	t.count(who, func(s *share) { s.waiting++ })
	t.admit()
	t.mu.Unlock()
	select {
	case <-w.admitted:
		return func() { t.release(who) }, nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.count(who, func(s *share) { s.waiting-- })
		return nil, ctx.Err()
	}
	// The turn arrived at the moment of the cancellation.
	return func() { t.release(who) }, nil
}

func (t *Limiter) release(who Holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.count(who, func(s *share) { s.running-- })
	t.admit()
}

// Load returns the numbers of running and of waiting queries.
func (t *Limiter) Load() (running, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running, len(t.waiting)
}

// count applies a change to the shares of a user and of the tenant.
func (t *Limiter) count(who Holder, change func(*share)) {
	changeShare(t.tenants, who.Tenant, change)
	changeShare(t.users, who, change)
}

func changeShare[K comparable](shares map[K]*share, key K, change func(*share)) {
	s := shares[key]
	if s == nil {
		s = &share{}
		shares[key] = s
	}
	if change(s); s.running == 0 && s.waiting == 0 {
		delete(shares, key)
	}
}

// admit gives out the free turns.
func (t *Limiter) admit() {
	for t.running < t.max {
		next := -1
		for i, w := range t.waiting {
			if t.tenants[w.Tenant].running < t.maxOfTenant && t.users[w.Holder].running < t.maxOfUser &&
				(next < 0 || t.before(w.Holder, t.waiting[next].Holder)) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		t.running++
		t.given++
		t.count(w.Holder, func(s *share) { s.running, s.waiting, s.last = s.running+1, s.waiting-1, t.given })
		close(w.admitted)
	}
}

// before reports whether a gets the next turn before b, although b has waited longer.
func (t *Limiter) before(a, b Holder) bool {
	if a.Tenant != b.Tenant {
		return t.tenants[a.Tenant].compare(t.tenants[b.Tenant]) < 0
	}
	return t.users[a].compare(t.users[b]) < 0
}

func (s *share) compare(other *share) int {
	return cmp.Or(cmp.Compare(s.running, other.running), cmp.Compare(s.last, other.last))
}
