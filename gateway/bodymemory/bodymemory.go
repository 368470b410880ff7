// Package bodymemory bounds the memory of request bodies that are on their way or worked
// on.
package bodymemory

import (
	"bytes"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// smallBody is the size in bytes up to which a body is not counted among the large
	// ones, of which few are worked on at a time. An object in it counts for
	// bytesOfObject at least: it may be an empty one, and take much memory.
	smallBody     = 32 << 10
	bytesOfObject = 64
)

// Parts of the memory for bodies, as divisors.
const (
	// anonymousShare is what those have together whom no token names.
	anonymousShare = 4
	// addressPart is what callers of one address have together (one /64 of IPv6); of
	// anonymous callers it is a part of theirs.
	addressPart = 2
	// userPart is what one user has, by however many tokens.
	userPart = 8
)

// Memory is the memory for bodies that are on their way or worked on. Whoever sends
// slowly holds it for as long as that takes, so nobody gets more than a part of it:
// neither anonymous callers together, nor one address, nor one user.
type Memory struct {
	max, large int64
	// Working bounds the bytes of large bodies that are worked on at a time. What is made
	// of them takes many times their size.
	Working *semaphore.Weighted

	mu   sync.Mutex
	held map[string]int64 // by part; "" is all
}

// New makes a Memory of max bytes, of which large are of large bodies that are worked on
// at a time.
func New(max, large int64) *Memory {
	return &Memory{max: max, large: large, Working: semaphore.NewWeighted(large), held: map[string]int64{}}
}

// Portion is a part of the memory that a body is counted in.
type Portion struct {
	name string
	max  int64
}

// Portions returns the parts of a user, "" is an anonymous caller.
func (b *Memory) Portions(user, address string) []Portion {
	all := Portion{"", b.max}
	if user == "" {
		anonymous := max(b.max/anonymousShare, 1)
		return []Portion{all, {"anonymous", anonymous}, {"anonymous at " + address, max(anonymous/addressPart, 1)}}
	}
	return []Portion{all, {"at " + address, max(b.max/addressPart, 1)}, {"user " + user, max(b.max/userPart, 1)}}
}

// take counts bytes, unless one of the portions would be too large.
func (b *Memory) take(of []Portion, bytes int64) bool {
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
func (b *Memory) give(of []Portion, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range of {
		if b.held[p.name] -= bytes; b.held[p.name] == 0 {
			delete(b.held, p.name)
		}
	}
}

// Held is what a request holds of the memory for bodies.
type Held struct {
	of    []Portion
	bytes int64
}

// HeldOf returns what a request holds that is counted in some portions: nothing yet.
func HeldOf(of []Portion) *Held { return &Held{of: of} }

// Bytes is how much it is.
func (h *Held) Bytes() int64 { return h.bytes }

// Empty reports whether no request holds anything.
func (b *Memory) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.held) == 0
}

// Hold counts some more bytes of a request, unless there is no memory for them.
func (b *Memory) Hold(h *Held, size int64) bool {
	if !b.take(h.of, size) {
		return false
	}
	h.bytes += size
	return true
}

// Release gives back what a request holds.
func (b *Memory) Release(h *Held) {
	b.give(h.of, h.bytes)
	h.bytes = 0
}

// Work returns how much a body counts among the large ones, of which few are worked on
// at a time; 0 for a small one.
func (b *Memory) Work(body []byte) int64 {
	size := max(int64(len(body)), bytesOfObject*int64(bytes.Count(body, []byte("{"))))
	if size <= smallBody {
		return 0
	}
	return min(size, b.large)
}
