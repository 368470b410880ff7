package fairlimit

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// queue lets holders ask for turns one after another, and records the order of the turns. The test
// decides when holders return their turns.
type queue struct {
	turns *Limiter
	order []Holder
	held  map[Holder][]func()
}

func newQueue(most int) *queue { return &queue{turns: New(most), held: map[Holder][]func(){}} }

// ask asks for a turn, and waits until it is granted or no goroutine can proceed.
func (q *queue) ask(t *testing.T, ctx context.Context, who Holder) {
	t.Helper()
	go func() {
		if giveBack, err := q.turns.Acquire(ctx, who); err == nil {
			q.turns.mu.Lock()
			defer q.turns.mu.Unlock()
			q.order = append(q.order, who)
			q.held[who] = append(q.held[who], giveBack)
		}
	}()
	synctest.Wait()
}

func (q *queue) end(who Holder) {
	giveBack := q.held[who][0]
	q.held[who] = q.held[who][1:]
	giveBack()
	synctest.Wait()
}

func TestNoHolderTakesAllTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(4)
		greedy, colleague, other := Holder{1, "greedy"}, Holder{1, "colleague"}, Holder{2, "other"}
		for range 24 {
			q.ask(t, t.Context(), greedy)
		}
		assert.Equal(t, []Holder{greedy, greedy}, q.order, "half of the turns")
		q.ask(t, t.Context(), colleague)
		q.ask(t, t.Context(), colleague)
		assert.Equal(t, []Holder{greedy, greedy, colleague}, q.order, "one turn is left to other tenants")
		q.ask(t, t.Context(), other)
		assert.Equal(t, []Holder{greedy, greedy, colleague, other}, q.order, "who does not wait")
		q.end(colleague)
		assert.Equal(t, colleague, q.order[4], "before the 22 who asked earlier")
		for _, who := range []Holder{greedy, greedy, colleague, other} {
			q.end(who)
		}
		for len(q.held[greedy]) > 0 {
			q.end(greedy)
		}
		assert.Len(t, q.order, 24+3)
		assert.Empty(t, q.turns.tenants)
		assert.Empty(t, q.turns.users)
		assert.Zero(t, q.turns.running)
	})
}

func TestTurnsGoRound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		first := Holder{9, "first"}
		q.ask(t, t.Context(), first)
		for _, who := range []Holder{{1, "a"}, {1, "a"}, {1, "a"}, {1, "b"}, {2, "c"}, {2, "c"}, {3, ""}} {
			q.ask(t, t.Context(), who)
		}
		q.end(first)
		var got []string
		for len(q.order) > len(got)+1 {
			who := q.order[len(got)+1]
			got = append(got, fmt.Sprint(who.Tenant, who.User))
			q.end(who)
		}
		assert.Equal(t, []string{"1a", "2c", "3", "1b", "2c", "1a", "1a"}, got)
	})
}

func TestCancelledRequestsTakeNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		first, second := Holder{1, "a"}, Holder{2, "b"}
		q.ask(t, t.Context(), first)
		ctx, cancel := context.WithCancel(t.Context())
		q.ask(t, ctx, second)
		cancel()
		synctest.Wait()
		assert.Empty(t, q.turns.waiting)
		q.end(first)
		assert.Zero(t, q.turns.running)
		_, err := q.turns.Acquire(t.Context(), second)
		require.NoError(t, err)
	})
}

func TestAUserHasABoundedLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		who := Holder{1, "a"}
		for range 1 + maxWaiting {
			q.ask(t, ctx, who)
		}
		_, err := q.turns.Acquire(ctx, who)
		assert.True(t, fault.HasStatus(err, 429) && fault.HasCode(err, fault.CodeThrottled), err)
		assert.NotZero(t, fault.FromError(err).RetryAfter)
		cancel()
		synctest.Wait()
		assert.Empty(t, q.turns.waiting)
		q.end(who)
	})
}
