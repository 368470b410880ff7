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
			assert.Equal(t, other.params.work(), other.work.Load()-before, "every log-in costs the same, whoever it is of")
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
	h.release()
	_, err = h.Hash(t.Context(), "x")
	assert.NoError(t, err, "the line is empty again")
}
