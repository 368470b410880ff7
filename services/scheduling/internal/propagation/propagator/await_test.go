package propagator

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/preference"
	"github.com/rotaloom/rotaloom/pkg/testkit/syncbuffer"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// headers collects the headers of a response.
type headers struct {
	grpc.ServerTransportStream
	metadata.MD
}

func (h *headers) SetHeader(md metadata.MD) error {
	h.MD = metadata.Join(h.MD, md)
	return nil
}

// A bounded number of requests waits for the end of a propagation. Further requests do not wait, and
// their responses do not say that they did.
func TestFewRequestsWait(t *testing.T) {
	t.Parallel()
	const maxWaiting = 16
	w := newFixture(t)
	w.term(5)
	w.members(5, "2026-01-01", "3000-01-01", 1)
	w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	type result struct {
		finished bool
		applied  []string
	}
	results := make(chan result)
	h := w.handler()
	for range maxWaiting + 1 {
		go func() {
			sent := &headers{}
			ctx := grpc.NewContextWithServerTransportStream(preference.WithWait(w.ctx, preference.MaxWait), sent)
			_, finished := h.AwaitWarnings(ctx, id)
			results <- result{finished, sent.Get("preference-applied")}
		}()
	}
	first := <-results
	assert.False(t, first.finished, "one request does not wait")
	assert.Empty(t, first.applied)
	w.apply(id)
	for range maxWaiting {
		r := <-results
		assert.True(t, r.finished)
		assert.Equal(t, []string{"wait=20"}, r.applied)
	}
	_, finished := h.AwaitWarnings(w.ctx, id)
	assert.False(t, finished, "the caller does not wait")
}

// A change is committed before its response waits. So the response does not report that the
// propagation could not be read.
func TestAResponseIsNoErrorBecauseItCannotWait(t *testing.T) {
	t.Parallel()
	w, log := newFixture(t), &syncbuffer.Buffer{}
	closed := w.openPool()
	closed.Close()
	h := propagation.NewHandler(closed, seesEverybody, propagation.Undos{}, slog.New(slog.NewTextHandler(log, nil)))
	sent := &headers{}
	ctx := grpc.NewContextWithServerTransportStream(preference.WithWait(w.ctx, preference.MaxWait), sent)
	warnings, finished := h.AwaitWarnings(ctx, 7)
	assert.False(t, finished)
	assert.Empty(t, warnings)
	assert.Empty(t, sent.Get("preference-applied"))
	assert.Contains(t, log.String(), "propagation=7")
	assert.Contains(t, log.String(), "closed pool")
}
