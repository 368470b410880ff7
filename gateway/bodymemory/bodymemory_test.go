package bodymemory

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Nobody gets more than a part of the memory: anonymous callers, an address, a user.
func TestMemoryOfBodiesIsShared(t *testing.T) {
	t.Parallel()
	const all = 64 << 10
	b := New(all, all, 1)
	of := b.Portions
	for name, test := range map[string]struct {
		first []Portion
		limit int64
		other []Portion
	}{
		"a user, by any address":           {of("1 ada", "a"), all / userPart, of("1 eve", "a")},
		"anonymous clients of one address": {of("", "a"), all / anonymousShare / addressPart, of("", "b")},
		"the client behind no user":        {of("1 c", "a"), all / userPart, of("1 d", "a")},
		"users of different tenants":       {of("1 ada", "a"), all / userPart, of("2 ada", "a")},
		"anonymous clients, and users":     {of("", "a"), all / anonymousShare / addressPart, of("1 ada", "a")},
	} {
		t.Run(name, func(t *testing.T) {
			require.True(t, b.take(test.first, test.limit))
			assert.False(t, b.take(test.first, 1))
			assert.True(t, b.take(test.other, all/16), "there is room for others")
			b.give(test.other, all/16)
			b.give(test.first, test.limit)
			assert.True(t, b.Empty())
		})
	}
	for i := range userPart / addressPart {
		require.True(t, b.take(of(strings.Repeat("x", i+1), "a"), all/userPart))
	}
	assert.False(t, b.take(of("1 ada", "a"), 1), "an address with many users")
	assert.True(t, b.take(of("1 ada", "b"), 1))
}

// A user can send the largest body even if the shares of the memory are smaller.
func TestTheLargestBodyFits(t *testing.T) {
	t.Parallel()
	const largest = 6 << 20
	b := New(8<<20, 1<<20, largest)
	assert.True(t, b.take(b.Portions("1 ada", "a"), largest))
	assert.False(t, b.take(b.Portions("1 ada", "a"), 1))
	assert.False(t, b.take(b.Portions("1 eve", "b"), largest), "the memory is used up")

	small := New(9600, 1<<20, largest)
	assert.True(t, small.take(small.Portions("1 ada", "a"), 9600/userPart))
	assert.False(t, small.take(small.Portions("1 ada", "a"), 1), "the limit of the operator counts, and so do the shares")
}

func TestWaitingForMemory(t *testing.T) {
	t.Parallel()
	b := New(8<<10, 8<<10, 8<<10)
	first, second := NewHeld(b.Portions("1 ada", "a")), NewHeld(b.Portions("1 ada", "a"))
	require.NoError(t, b.Wait(t.Context(), first, 8<<10), "there is memory")
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, b.Wait(ended, second, 1), context.Canceled)
	assert.Zero(t, second.Bytes())
	waited := make(chan error, 1)
	go func() { waited <- b.Wait(t.Context(), second, 8<<10) }()
	b.Release(first)
	require.NoError(t, <-waited)
	b.Release(second)
	assert.True(t, b.Empty())
}
