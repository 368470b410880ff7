// Package password hashes and checks passwords with argon2id. Hashing is deliberately slow and
// memory-intensive, so the number of concurrent hashes and of waiting callers is bounded.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	saltBytes  = 16
	keyBytes   = 32
	retryAfter = time.Second
)

// Params are the cost parameters of hashing. Each hash contains its own parameters, so changes apply to new
// hashes only.
type Params struct {
	// Memory in KiB.
	Memory uint32
	// Time is the number of passes.
	Time uint32
	// Threads of one hash.
	Threads uint8
}

// Hasher hashes passwords. It is safe for concurrent use.
type Hasher struct {
	params Params
	slots  chan struct{}
	// waiting is the number of waiting callers, at most queue.
	waiting atomic.Int64
	queue   int64
	// dummy is checked for users who do not exist, so that they take the same time.
	dummy string
	// work is the total cost of all hashes, in KiB times passes. A test uses it to prove that all log-ins cost
	// the same.
	work atomic.Int64
}

// New returns a Hasher that computes at most concurrent hashes at a time, while at most queue further callers
// wait.
func New(params Params, concurrent, queue int) (*Hasher, error) {
	if params.Memory == 0 || params.Time == 0 || params.Threads == 0 || concurrent < 1 || queue < 0 {
		return nil, errors.New("password: parameters must be positive")
	}
	h := &Hasher{params: params, slots: make(chan struct{}, concurrent), queue: int64(queue)}
	h.dummy = h.hash(rand.Text())
	return h, nil
}

// Concurrency returns the number of hashes that run at a time.
func (h *Hasher) Concurrency() int { return cap(h.slots) }

// Hash returns the hash of a password in PHC format.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	prepared, err := prepare(password)
	if err != nil {
		return "", unfitError()
	}
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	return h.hash(prepared), nil
}

// Matches reports whether the password has the hash. It costs the same for all passwords and hashes, including
// an empty hash, which matches nothing, and a hash with cheaper parameters.
func (h *Hasher) Matches(ctx context.Context, hash, password string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	prepared, err := prepare(password)
	exists := hash != "" && err == nil
	if !exists {
		hash, prepared = h.dummy, ""
	}
	params, salt, want, err := parse(hash)
	if err != nil {
		return false, err
	}
	got := h.key(prepared, salt, params, len(want))
	h.pad(h.params.cost() - params.cost())
	return subtle.ConstantTimeCompare(got, want) == 1 && exists, nil
}

// Outdated reports whether a hash has other parameters than the current ones, so that it should be renewed at
// the next log-in.
func (h *Hasher) Outdated(hash string) bool {
	params, _, _, err := parse(hash)
	return err == nil && params != h.params
}

func (h *Hasher) hash(prepared string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // rand.Read never fails.
	key := h.key(prepared, salt, h.params, keyBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.params.Memory, h.params.Time, h.params.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// key computes the hash. All hashing passes through it.
func (h *Hasher) key(prepared string, salt []byte, p Params, length int) []byte {
	h.work.Add(p.cost())
	return argon2.IDKey([]byte(prepared), salt, p.Time, p.Memory, p.Threads, uint32(length))
}

// pad does the work that a cheaper hash saved.
func (h *Hasher) pad(work int64) {
	for work > 0 {
		p := Params{Time: 1, Memory: uint32(min(work, int64(h.params.Memory))), Threads: h.params.Threads}
		h.key("", make([]byte, saltBytes), p, keyBytes)
		work -= p.cost()
	}
}

// cost returns the cost of one hash, in KiB times passes.
func (p Params) cost() int64 { return int64(p.Memory) * int64(p.Time) }

// acquire waits for a slot. It returns 503 if the queue is full.
func (h *Hasher) acquire(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	default:
	}
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > h.queue {
		return fault.New(fault.CodeOverloaded, http.StatusServiceUnavailable, "Too many users log in at the moment. Try again in a moment.").
			WithRetryAfter(retryAfter)
	}
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Hasher) release() { <-h.slots }

var errLong = errors.New("password: too long")

// errHash reports an unreadable stored hash. It never contains the hash.
var errHash = errors.New("password: stored hash is not an argon2id hash")

func parse(hash string) (params Params, salt, key []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" {
		return params, nil, nil, errHash
	}
	var version int
	if _, err := fmt.Sscanf(parts[2], "v=%d", &version); err != nil || version != argon2.Version {
		return params, nil, nil, errHash
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &params.Memory, &params.Time, &params.Threads); err != nil || params.Time == 0 || params.Threads == 0 {
		return params, nil, nil, errHash
	}
	if salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return params, nil, nil, errHash
	}
	if key, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil || len(key) == 0 {
		return params, nil, nil, errHash
	}
	return params, salt, key, nil
}
