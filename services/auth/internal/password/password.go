// Package password hashes and checks passwords with argon2id. Hashing is slow
// and takes memory on purpose, so it is done by few at a time, and not more
// than a bounded number wait.
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
	saltBytes = 16
	keyBytes  = 32
	// maxPassword bounds what is hashed, in bytes.
	maxPassword = 1024
	retryAfter  = time.Second
)

// Params say how hard hashing is. Hashes keep the parameters they were made
// with, so changing these concerns new hashes only.
type Params struct {
	// Memory in KiB.
	Memory uint32
	// Time is the number of passes.
	Time uint32
	// Threads of one hash.
	Threads uint8
}

// DefaultParams take about 20 ms and 19 MiB (OWASP's recommendation).
var DefaultParams = Params{Memory: 19 << 10, Time: 2, Threads: 1}

// Hasher hashes passwords. It is safe for concurrent use.
type Hasher struct {
	params Params
	slots  chan struct{}
	// waiting counts those in line, of whom there are at most queue.
	waiting atomic.Int64
	queue   int64
	// dummy is checked for users who do not exist, so that they take as long
	// as those who do.
	dummy string
}

// New makes a Hasher that hashes for at most concurrent callers at a time and
// lets at most queue more wait.
func New(params Params, concurrent, queue int) (*Hasher, error) {
	if params.Memory == 0 || params.Time == 0 || params.Threads == 0 || concurrent < 1 || queue < 0 {
		return nil, errors.New("password: parameters must be positive")
	}
	h := &Hasher{params: params, slots: make(chan struct{}, concurrent), queue: int64(queue)}
	h.dummy = h.hash(rand.Text())
	return h, nil
}

// Concurrency is how many callers are served at a time.
func (h *Hasher) Concurrency() int { return cap(h.slots) }

// Hash answers the hash of a password in PHC form.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if len(password) > maxPassword {
		return "", fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("A password has at most %d bytes.", maxPassword))
	}
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.release()
	return h.hash(password), nil
}

// Matches reports whether a hash is that of the password. It takes equally
// long for every password, and for an empty hash, which nothing matches.
func (h *Hasher) Matches(ctx context.Context, hash, password string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.release()
	exists := hash != "" && len(password) <= maxPassword
	if !exists {
		hash, password = h.dummy, ""
	}
	params, salt, want, err := parse(hash)
	if err != nil {
		return false, err
	}
	got := argon2.IDKey([]byte(password), salt, params.Time, params.Memory, params.Threads, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1 && exists, nil
}

func (h *Hasher) hash(password string) string {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // It never fails.
	key := argon2.IDKey([]byte(password), salt, h.params.Time, h.params.Memory, h.params.Threads, keyBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.params.Memory, h.params.Time, h.params.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// acquire waits for a slot. Too long a line answers 503.
func (h *Hasher) acquire(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	default:
	}
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > h.queue {
		return fault.New(fault.CodeOverloaded, http.StatusServiceUnavailable, "Too many log in at the moment. Try again.").
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

// errHash says that a stored hash cannot be read. It never holds the hash.
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
