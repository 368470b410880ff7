package password

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

var quick = Params{Memory: 64, Time: 1, Threads: 1}

func TestMatches(t *testing.T) {
	t.Parallel()
	h, err := New(quick, 2, 4)
	require.NoError(t, err)
	hash, err := h.Hash(t.Context(), "secret")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(hash, "$argon2id$v=19$m=64,t=1,p=1$"), hash)
	other, err := New(Params{Memory: 128, Time: 2, Threads: 1}, 1, 0)
	require.NoError(t, err)

	for name, c := range map[string]struct {
		hash, password string
		want           bool
	}{
		"the password":         {hash, "secret", true},
		"another password":     {hash, "Secret", false},
		"a control character":  {hash, "sec\x00ret", false},
		"no user":              {"", "secret", false},
		"no user, no password": {"", "", false},
		"a very long password": {hash, strings.Repeat("x", maxBytes+1), false},
	} {
		t.Run(name, func(t *testing.T) {
			before := other.work.Load()
			got, err := other.Matches(t.Context(), c.hash, c.password)
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, other.params.cost(), other.work.Load()-before, "every log-in costs the same, whoever it is of")
		})
	}
	assert.True(t, other.Outdated(hash))
	assert.False(t, h.Outdated(hash))
	assert.False(t, h.Outdated(""), "there is none")
	_, err = h.Matches(t.Context(), "$2a$10$bcrypt", "secret")
	assert.ErrorIs(t, err, errHash)
	_, err = h.Hash(t.Context(), strings.Repeat("x", maxBytes+1))
	assert.True(t, fault.HasStatus(err, 400), err)
}

func TestParametersArePositive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params            Params
		concurrent, queue int
	}{
		"memory":      {Params{Time: 1, Threads: 1}, 1, 0},
		"time":        {Params{Memory: 64, Threads: 1}, 1, 0},
		"threads":     {Params{Memory: 64, Time: 1}, 1, 0},
		"concurrency": {quick, 0, 0},
		"queue":       {quick, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(c.params, c.concurrent, c.queue)
			assert.Error(t, err)
		})
	}
	_, err := New(quick, 1, 0)
	assert.NoError(t, err, "nobody has to wait")
	assert.EqualValues(t, 384, Params{Memory: 128, Time: 3, Threads: 1}.cost())
}

// An unreadable stored hash is an error, for each malformed part.
func TestUnreadableHashes(t *testing.T) {
	t.Parallel()
	const good = "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$a2V5a2V5"
	_, _, _, err := parse(good)
	require.NoError(t, err)
	for name, replaced := range map[string][2]string{
		"another algorithm":  {"argon2id", "argon2i"},
		"a text in front":    {"$argon2id", "x$argon2id"},
		"a part too many":    {"a2V5a2V5", "a2V5a2V5$"},
		"another version":    {"v=19", "v=18"},
		"no version":         {"v=19", "version"},
		"no parameters":      {"m=64,t=1,p=1", "m=64"},
		"no time":            {"t=1", "t=0"},
		"no threads":         {"p=1", "p=0"},
		"a salt in no form":  {"c2FsdHNhbHQ", "*"},
		"a key in no form":   {"a2V5a2V5", "*"},
		"a key without text": {"a2V5a2V5", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, _, err := parse(strings.Replace(good, replaced[0], replaced[1], 1))
			assert.ErrorIs(t, err, errHash)
		})
	}
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	h, err := New(quick, 1, 1)
	require.NoError(t, err)
	require.NoError(t, h.acquire(t.Context()), "the slot")

	waiting, giveUp := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.acquire(waiting) }()
	require.Eventually(t, func() bool { return h.waiting.Load() == 1 }, 10*time.Second, time.Millisecond)

	_, err = h.Hash(t.Context(), "x")
	assert.True(t, fault.HasCode(err, fault.CodeOverloaded), err)
	assert.Positive(t, fault.FromError(err).RetrySeconds())

	giveUp()
	require.ErrorIs(t, <-done, context.Canceled)
	assert.Zero(t, h.waiting.Load())
	h.release()
	_, err = h.Hash(t.Context(), "x")
	assert.NoError(t, err, "the line is empty again")
}
