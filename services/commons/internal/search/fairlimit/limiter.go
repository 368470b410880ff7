// Package fairlimit bounds how many pieces of work run at the same time, and is fair
// to tenants and users.
package fairlimit

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// maxWaiting bounds the queries of one user that wait for a turn.
const maxWaiting = 32

// Holder is who takes a turn. Work that no user asked for has an empty name.
type Holder struct {
	Tenant int64
	User   string
}

// Limiter bounds how many queries run at the same time, and gives turns to tenants
// and users fairly: no user has more than half of the turns, no tenant all of
// them, and the next turn is of the tenant, and there of the user, with the
// fewest turns, who got the last one the longest ago. So slow queries of one
// tenant leave a turn to all others, however many of them wait.
type Limiter struct {
	max, maxOfTenant, maxOfUser int

	mu      sync.Mutex
	running int
	tenants map[int64]*share
	users   map[Holder]*share
	// waiting has who waits, the longest first.
	waiting []*waiter
	// given counts turns.
	given int
}

// share is what a tenant or a user has of the turns. It is forgotten when it has
// none and waits for none.
type share struct {
	running, waiting int
	// last is when the last turn was given: the count of all turns by then.
	last int
}

type waiter struct {
	Holder
	admitted chan struct{}
}

// New makes a Limiter for at most so many at the same time.
func New(limit int) *Limiter {
	return &Limiter{
		max: limit, maxOfTenant: max(1, limit-1), maxOfUser: max(1, limit/2),
		tenants: map[int64]*share{}, users: map[Holder]*share{},
	}
}

// Acquire waits for a turn and returns how to release it.
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
	// The turn came in the same moment.
	return func() { t.release(who) }, nil
}

func (t *Limiter) release(who Holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.count(who, func(s *share) { s.running-- })
	t.admit()
}

// Load returns how many turns are taken and how many wait for one.
func (t *Limiter) Load() (running, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running, len(t.waiting)
}

// count changes the shares of a user and their tenant.
func (t *Limiter) count(who Holder, change func(*share)) {
	changed(t.tenants, who.Tenant, change)
	changed(t.users, who, change)
}

func changed[K comparable](shares map[K]*share, key K, change func(*share)) {
	s := shares[key]
	if s == nil {
		s = &share{}
		shares[key] = s
	}
	if change(s); s.running == 0 && s.waiting == 0 {
		delete(shares, key)
	}
}

// admit gives the turns that are free.
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

// before reports whether a holder comes before another one who has waited longer.
func (t *Limiter) before(a, b Holder) bool {
	if a.Tenant != b.Tenant {
		return t.tenants[a.Tenant].compare(t.tenants[b.Tenant]) < 0
	}
	return t.users[a].compare(t.users[b]) < 0
}

func (s *share) compare(other *share) int {
	return cmp.Or(cmp.Compare(s.running, other.running), cmp.Compare(s.last, other.last))
}
