// Package bodymemory bounds the memory of request bodies that the edge is receiving or processing.
package bodymemory

import (
	"bytes"
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

const (
	// smallBody is the largest body in bytes that does not count as large; few large bodies are processed at a
	// time. Each object in a body counts for bytesOfObject at least, because even an empty object can take much
	// memory.
	smallBody     = 32 << 10
	bytesOfObject = 64
)

// Divisors of the memory for bodies.
const (
	// anonymousShare is the share of all callers without a token together.
	anonymousShare = 4
	// addressPart is the share of all callers at one address (one /64 of IPv6); for anonymous callers it is a
	// part of the anonymous share.
	addressPart = 2
	// userPart is the share of one user, over all tokens of the user.
	userPart = 8
)

// Memory counts the memory of bodies that the edge is receiving or processing. A slow sender occupies memory
// for a long time, so that anonymous callers, each address and each user are limited to a part of it.
type Memory struct {
	max, large int64
	// largest is the size of the largest body, which each caller may send.
	largest int64
	// Working bounds the bytes of large bodies that are processed at a time. Processing takes many times their
	// size.
	Working *semaphore.Weighted

	mu   sync.Mutex
	held map[string]int64 // bytes by portion; "" is the total
	// released is closed at the next release of memory.
	released chan struct{}
}

// New returns a Memory of limit bytes. At most large bytes of large bodies are processed at a time. No share is
// smaller than largest, the bytes of the largest body of a known caller, unless limit is: then such a body fits
// nowhere, and is refused.
func New(limit, large, largest int64) *Memory {
	if largest > limit {
		largest = 1
	}
	return &Memory{max: limit, large: large, largest: largest, Working: semaphore.NewWeighted(large), held: map[string]int64{}, released: make(chan struct{})}
}

// Portion is a part of the memory with its own limit. Each body counts in several portions.
type Portion struct {
	name string
	max  int64
}

// Portions returns the portions of a user; user is "" for an anonymous caller.
func (b *Memory) Portions(user, address string) []Portion {
	all := Portion{"", b.max}
	if user == "" {
		anonymous := max(b.max/anonymousShare, 1)
		return []Portion{all, {"anonymous", anonymous}, {"anonymous at " + address, max(anonymous/addressPart, 1)}}
	}
	return []Portion{all, {"at " + address, max(b.max/addressPart, b.largest)}, {"user " + user, max(b.max/userPart, b.largest)}}
}

// take reserves bytes in all portions, unless that exceeds the limit of one.
func (b *Memory) take(portions []Portion, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range portions {
		if b.held[p.name]+bytes > p.max {
			return false
		}
	}
	for _, p := range portions {
		b.held[p.name] += bytes
	}
	return true
}

// give releases bytes.
func (b *Memory) give(portions []Portion, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range portions {
		if b.held[p.name] -= bytes; b.held[p.name] == 0 {
			delete(b.held, p.name)
		}
	}
	close(b.released)
	b.released = make(chan struct{})
}

// nextRelease returns a channel that is closed at the next release of memory.
func (b *Memory) nextRelease() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.released
}

// Held is the memory that one request has reserved.
type Held struct {
	portions []Portion
	bytes    int64
}

// NewHeld returns a reservation of no bytes in the given portions.
func NewHeld(portions []Portion) *Held { return &Held{portions: portions} }

// Bytes returns the number of reserved bytes.
func (h *Held) Bytes() int64 { return h.bytes }

// Empty reports whether no request has reserved memory.
func (b *Memory) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.held) == 0
}

// Hold reserves more bytes for a request, unless a limit is reached.
func (b *Memory) Hold(h *Held, size int64) bool {
	if !b.take(h.portions, size) {
		return false
	}
	h.bytes += size
	return true
}

// Wait reserves the memory of a whole body for a request, and waits until other requests have released
// enough. A request that waits holds no memory, so that requests never wait for each other. Wait fails when
// the context ends.
func (b *Memory) Wait(ctx context.Context, h *Held, size int64) error {
	for {
		released := b.nextRelease()
		if b.Hold(h, size) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-released:
		}
	}
}

// Release releases the memory of a request.
func (b *Memory) Release(h *Held) {
	b.give(h.portions, h.bytes)
	h.bytes = 0
}

// Work returns the bytes that a body counts in Working; 0 for a small body.
func (b *Memory) Work(body []byte) int64 {
	size := max(int64(len(body)), bytesOfObject*int64(bytes.Count(body, []byte("{"))))
	if size <= smallBody {
		return 0
	}
	return min(size, b.large)
}
