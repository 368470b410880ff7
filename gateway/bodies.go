package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	// mostPublicBody is the largest body in bytes of an operation that needs no token:
	// log-ins, which are forms of a few hundred bytes.
	mostPublicBody = 64 << 10
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
	most, large int64
	// work bounds the bytes of large bodies that are worked on at a time. What is made
	// of them takes many times their size.
	work *semaphore.Weighted

	mu   sync.Mutex
	held map[string]int64 // by part; "" is all
}

func newBodies(cfg Config) *bodies {
	large := max(cfg.LargeBodies, cfg.BodyLimit)
	return &bodies{most: cfg.BodyMemory, large: large, work: semaphore.NewWeighted(large), held: map[string]int64{}}
}

// portion is a part of the memory that a body is counted in.
type portion struct {
	name string
	most int64
}

// portions answers the parts of a caller, nil is a stranger.
func (b *bodies) portions(x *exchange, address string) []portion {
	all := portion{"", b.most}
	p := x.principal
	if p == nil {
		strangers := max(b.most/strangersPart, 1)
		return []portion{all, {"strangers", strangers}, {"stranger at " + address, max(strangers/addressPart, 1)}}
	}
	user := "user " + strconv.FormatInt(p.Tenant, 10) + " " + p.Subject
	if p.Subject == "" {
		user += callerOf(p)
	}
	return []portion{all, {"at " + address, max(b.most/addressPart, 1)}, {user, max(b.most/userPart, 1)}}
}

// take counts bytes, unless one of the portions would be too large.
func (b *bodies) take(of []portion, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range of {
		if b.held[p.name]+bytes > p.most {
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

// held is what an exchange holds of the memory for bodies.
type held struct {
	of    []portion
	bytes int64
	// working are the bytes that count as worked on.
	working int64
}

var errBodyMemory = errors.New("too many bodies at a time")

// readBody reads the whole body, within its limit, as far as there is memory for it.
func (x *exchange) readBody() ([]byte, *fault.Error) {
	var b []byte
	for {
		if len(b) == cap(b) {
			grown := x.grown(cap(b))
			if !x.hold(int64(grown - cap(b))) {
				return b, x.unread(errBodyMemory)
			}
			b = append(make([]byte, 0, grown), b...)
		}
		n, err := x.body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return b, x.unread(err)
		}
	}
}

// grown answers the size of the next buffer for a body that has filled one: twice as
// large, but no larger than the body can be, and room to see its end.
func (x *exchange) grown(size int) int {
	next := max(2*size, firstBuffer)
	if whole := int(x.announced) + bytes.MinRead; x.announced > 0 && size < whole {
		next = min(next, whole)
	}
	return next
}

func (x *exchange) hold(size int64) bool {
	if !x.edge.bodies.take(x.held.of, size) {
		return false
	}
	x.held.bytes += size
	return true
}

// workOn waits until a large body may be worked on. Those that wait hold nothing else.
func (x *exchange) workOn(ctx context.Context) *fault.Error {
	size := max(int64(len(x.text)), bytesOfObject*int64(bytes.Count(x.text, []byte("{"))))
	if size <= smallBody {
		return nil
	}
	size = min(size, x.edge.bodies.large)
	ctx, cancel := context.WithTimeout(ctx, x.edge.cfg.StallTimeout)
	defer cancel()
	if err := x.edge.bodies.work.Acquire(ctx, size); err != nil {
		x.edge.metrics.overload(x.classOf(), reasonBodies)
		return overloaded()
	}
	x.held.working = size
	return nil
}

// release gives back what the body of an exchange took.
func (x *exchange) release() {
	x.edge.bodies.give(x.held.of, x.held.bytes)
	if x.held.working > 0 {
		x.edge.bodies.work.Release(x.held.working)
	}
	x.held = held{}
}
