package gateway

import (
	"bytes"
	"errors"
	"strconv"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/rotaloom/rotaloom/pkg/authn"
)

const (
	// maxPublicBody is the largest body in bytes of an operation that needs no token:
	// log-ins, which are forms of a few hundred bytes.
	maxPublicBody = 64 << 10
	// smallBody is the size in bytes up to which a body is not counted among the large
	// ones, of which few are worked on at a time. An object in it counts for
	// bytesOfObject at least: it may be an empty one, and take much memory.
	smallBody     = 32 << 10
	bytesOfObject = 64
	// firstBuffer is what a body is read into first, in bytes.
	firstBuffer = 4 << 10
)

// Parts of the memory for bodies, as divisors.
const (
	// strangersPart is what those have together whom no token names.
	strangersPart = 4
	// addressPart is what callers of one address have together (one /64 of IPv6); of
	// strangers it is a part of theirs.
	addressPart = 2
	// userPart is what one user has, by however many tokens.
	userPart = 8
)

// bodies is the memory for bodies that are on their way or worked on. Whoever sends
// slowly holds it for as long as that takes, so nobody gets more than a part of it:
// neither strangers together, nor one address, nor one user.
type bodies struct {
	max, large int64
	// working bounds the bytes of large bodies that are worked on at a time. What is made
	// of them takes many times their size.
	working *semaphore.Weighted

	mu   sync.Mutex
	held map[string]int64 // by part; "" is all
}

func newBodies(cfg Config) *bodies {
	large := max(cfg.LargeBodies, cfg.BodyLimit)
	return &bodies{max: cfg.BodyMemory, large: large, working: semaphore.NewWeighted(large), held: map[string]int64{}}
}

// portion is a part of the memory that a body is counted in.
type portion struct {
	name string
	max  int64
}

// portions returns the parts of a caller, nil is a stranger.
func (b *bodies) portions(p *authn.Principal, address string) []portion {
	all := portion{"", b.max}
	if p == nil {
		strangers := max(b.max/strangersPart, 1)
		return []portion{all, {"strangers", strangers}, {"stranger at " + address, max(strangers/addressPart, 1)}}
	}
	user := "user " + strconv.FormatInt(p.Tenant, 10) + " " + p.Subject
	if p.Subject == "" {
		user += callerOf(p)
	}
	return []portion{all, {"at " + address, max(b.max/addressPart, 1)}, {user, max(b.max/userPart, 1)}}
}

// take counts bytes, unless one of the portions would be too large.
func (b *bodies) take(of []portion, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range of {
		if b.held[p.name]+bytes > p.max {
			return false
		}
	}
	for _, p := range of {
		b.held[p.name] += bytes
	}
	return true
}

// give counts bytes no longer.
func (b *bodies) give(of []portion, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range of {
		if b.held[p.name] -= bytes; b.held[p.name] == 0 {
			delete(b.held, p.name)
		}
	}
}

// held is what a request holds of the memory for bodies.
type held struct {
	of    []portion
	bytes int64
}

var errBodyMemory = errors.New("too many bodies at a time")

// hold counts some more bytes of a request, unless there is no memory for them.
func (b *bodies) hold(h *held, size int64) bool {
	if !b.take(h.of, size) {
		return false
	}
	h.bytes += size
	return true
}

// release gives back what a request holds.
func (b *bodies) release(h *held) {
	b.give(h.of, h.bytes)
	h.bytes = 0
}

// work returns how much a body counts among the large ones, of which few are worked on
// at a time; 0 for a small one, and for none.
func (b *bodies) work(body *requestBody) int64 {
	if body == nil {
		return 0
	}
	size := max(int64(len(body.text)), bytesOfObject*int64(bytes.Count(body.text, []byte("{"))))
	if size <= smallBody {
		return 0
	}
	return min(size, b.large)
}
