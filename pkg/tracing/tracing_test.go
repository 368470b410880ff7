package tracing_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	chosen  = "00-" + traceID + "-b7ad6b7169203331-01"
	left    = "00-" + traceID + "-b7ad6b7169203331-00"
)

func request(traceparent string) context.Context {
	return obs.WithRequest(context.Background(), obs.Request{ID: "request-1", Traceparent: traceparent})
}

// These tests share global state of the process, so they take turns.
func start(t *testing.T, ratio float64) {
	t.Helper()
	// The test does not need a listener.
	stop, err := tracing.Start(t.Context(), tracing.Config{Endpoint: "http://127.0.0.1:1", Ratio: ratio}, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.True(t, tracing.Enabled())
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel() // The remaining spans are not sent.
		assert.ErrorIs(t, stop(ended), context.Canceled)
		assert.False(t, tracing.Enabled())
	})
}

func TestNoSpansWithoutAReceiver(t *testing.T) {
	stop, err := tracing.Start(t.Context(), tracing.Config{Ratio: 1}, "test", slog.Default())
	require.NoError(t, err)
	assert.False(t, tracing.Enabled())
	before := request(chosen)
	ctx, span := tracing.Begin(before, "work", trace.SpanKindServer)
	assert.Equal(t, before, ctx)
	assert.False(t, span.Seen())
	span.LinkTo(chosen)
	span.Set("work")
	span.End("failed")
	require.NoError(t, stop(t.Context()))
}

func TestSamplingDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		ratio   float64
		begin   func(context.Context) (context.Context, tracing.Span)
		parent  string
		flags   string
		ofTrace bool
	}{
		"a sender does not choose":            {0, edge, chosen, "-00", true},
		"nor refuse":                          {1, edge, left, "-01", true},
		"without a sender the share decides":  {1, edge, "", "-01", false},
		"of none, none is taken":              {0, edge, "", "-00", false},
		"services do as the edge did":         {0, service, chosen, "-01", true},
		"and leave out what the edge did not": {1, service, left, "-00", true},
		"what is no context begins a trace":   {1, service, "nonsense", "-01", false},
	} {
		t.Run(name, func(t *testing.T) {
			start(t, c.ratio)
			ctx, span := c.begin(request(c.parent))
			got := obs.RequestFrom(ctx)
			assert.Equal(t, "request-1", got.ID)
			require.True(t, obs.ValidTraceparent(got.Traceparent), got.Traceparent)
			assert.Equal(t, c.flags, got.Traceparent[52:])
			assert.Equal(t, c.flags == "-01", span.Seen())
			assert.Equal(t, c.ofTrace, got.TraceID() == traceID)
			of := trace.SpanContextFromContext(ctx)
			if c.flags == "-01" {
				assert.NotEqual(t, c.parent, got.Traceparent, "it is a span of its own")
				assert.Equal(t, got.TraceID(), of.TraceID().String(), "for the statements of the database")
			} else {
				assert.False(t, of.IsSampled(), "no statement is seen")
				assert.Equal(t, c.ofTrace, got.Traceparent == left, "what is not traced belongs to what its sender said")
			}
			span.End("")
		})
	}
}

// Work of a process may be traced although the request behind it is not.
func TestARequestWithoutASpanHidesTheOneAround(t *testing.T) {
	start(t, 1)
	outer, span := tracing.Begin(request(chosen), "work", trace.SpanKindServer)
	require.True(t, trace.SpanFromContext(outer).IsRecording())
	inner, none := tracing.Begin(obs.WithRequest(outer, obs.Request{Traceparent: left}), "work", trace.SpanKindServer)
	assert.False(t, none.Seen())
	assert.False(t, trace.SpanFromContext(inner).IsRecording(), "statements belong to no span")
	root, own := tracing.Begin(obs.WithRequest(outer, obs.Request{}), "work", trace.SpanKindServer)
	assert.True(t, own.Seen())
	assert.NotEqual(t, traceID, obs.RequestFrom(root).TraceID(), "a trace of its own")
	span.End("")
}

func edge(ctx context.Context) (context.Context, tracing.Span) {
	return tracing.BeginRequest(ctx, "GET")
}

func service(ctx context.Context) (context.Context, tracing.Span) {
	return tracing.Begin(ctx, "call", trace.SpanKindServer)
}

func TestWrongSettings(t *testing.T) {
	for name, cfg := range map[string]tracing.Config{
		"no URL":           {Endpoint: "collector:4317"},
		"no host":          {Endpoint: "https://"},
		"a negative share": {Endpoint: "https://collector:4317", Ratio: -1},
		"too large":        {Endpoint: "https://collector:4317", Ratio: 1.1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tracing.Start(t.Context(), cfg, "test", slog.Default())
			require.ErrorContains(t, err, "tracing: ")
			assert.False(t, tracing.Enabled())
		})
	}
}
