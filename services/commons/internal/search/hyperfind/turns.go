package hyperfind

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// mostWaiting bounds the queries of one user that wait for a turn.
const mostWaiting = 32

// holder is who takes a turn. Work that no user asked for has an empty name.
type holder struct {
	tenant int64
	user   string
}

// turns bounds how many queries run at the same time, and gives turns to tenants
// and users fairly: no user has more than half of the turns, no tenant all of
// them, and the next turn is of the tenant, and there of the user, with the
// fewest turns, who got the last one the longest ago. So slow queries of one
// tenant leave a turn to all others, however many of them wait.
type turns struct {
	most, ofTenant, ofUser int

	mu      sync.Mutex
	running int
	tenants map[int64]*share
	users   map[holder]*share
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
	holder
	admitted chan struct{}
}

func newTurns(most int) *turns {
	return &turns{
		most: most, ofTenant: max(1, most-1), ofUser: max(1, most/2),
		tenants: map[int64]*share{}, users: map[holder]*share{},
	}
}

// take waits for a turn and answers how it is given back.
func (t *turns) take(ctx context.Context, who holder) (giveBack func(), err error) {
	t.mu.Lock()
	if s := t.users[who]; who.user != "" && s != nil && s.waiting >= mostWaiting {
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
		return func() { t.giveBack(who) }, nil
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
	return func() { t.giveBack(who) }, nil
}

func (t *turns) giveBack(who holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	t.count(who, func(s *share) { s.running-- })
	t.admit()
}

// count changes the shares of a user and their tenant.
func (t *turns) count(who holder, change func(*share)) {
	changed(t.tenants, who.tenant, change)
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
func (t *turns) admit() {
	for t.running < t.most {
		next := -1
		for i, w := range t.waiting {
			if t.tenants[w.tenant].running < t.ofTenant && t.users[w.holder].running < t.ofUser &&
				(next < 0 || t.before(w.holder, t.waiting[next].holder)) {
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
		t.count(w.holder, func(s *share) { s.running, s.waiting, s.last = s.running+1, s.waiting-1, t.given })
		close(w.admitted)
	}
}

// before reports whether a holder comes before another one who has waited longer.
func (t *turns) before(a, b holder) bool {
	if a.tenant != b.tenant {
		return t.tenants[a.tenant].compare(t.tenants[b.tenant]) < 0
	}
	return t.users[a].compare(t.users[b]) < 0
}

func (s *share) compare(other *share) int {
	return cmp.Or(cmp.Compare(s.running, other.running), cmp.Compare(s.last, other.last))
}
