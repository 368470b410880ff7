package operation

import (
	"context"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// receiver accepts traces as an OpenTelemetry collector does.
type receiver struct {
	collectorv1.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []*tracev1.Span
}

// Export stores spans.
func (r *receiver) Export(_ context.Context, req *collectorv1.ExportTraceServiceRequest) (*collectorv1.ExportTraceServiceResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, resource := range req.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
	return &collectorv1.ExportTraceServiceResponse{}, nil
}

// findSpans returns the spans of a trace.
func (r *receiver) findSpans(trace string) []*tracev1.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*tracev1.Span
	for _, span := range r.spans {
		if hex.EncodeToString(span.GetTraceId()) == trace {
			found = append(found, span)
		}
	}
	return found
}

// receiveTraces starts a receiver, and returns its URL.
func receiveTraces(t *testing.T) (*receiver, string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r, server := &receiver{}, grpc.NewServer()
	collectorv1.RegisterTraceServiceServer(server, r)
	go func() { assert.NoError(t, server.Serve(listener)) }()
	t.Cleanup(server.Stop)
	return r, "http://" + listener.Addr().String()
}

func names(spans []*tracev1.Span) []string {
	var names []string
	for _, span := range spans {
		names = append(names, span.GetName())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// withHeader adds a header to each request.
type withHeader struct {
	http.RoundTripper
	name, value string
}

// RoundTrip sends a request.
func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h.name, h.value)
	return h.RoundTripper.RoundTrip(r)
}

// A change of a rotation is one trace, from the edge to the last batch, with its SQL statements.
// The caller sets the trace id, but not the sampling flag.
func TestAChangeIsOneTrace(t *testing.T) {
	t.Parallel()
	traces, url := receiveTraces(t)
	server := launch.Standalone(t, "--tracing-endpoint", url, "--tracing-ratio", "1")
	target := server.Target(t)
	crew, assigned := working(t, scenario.API{Target: target}, 10)

	const trace, sender = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	client := *target.Client
	client.Transport = withHeader{client.Transport, "Traceparent", "00-" + trace + "-" + sender + "-00"}
	target.Client = &client
	changed, err := crew.Recreate(t.Context(), scenario.API{Target: target}, assigned.ID, late, day)
	require.NoError(t, err)
	_, err = scenario.Finish(t.Context(), scenario.API{Target: server.Target(t)}, changed.Propagation)
	require.NoError(t, err)
	stop(t, server) // The stop sends the remaining spans.

	spans := traces.findSpans(trace)
	ids := map[string]bool{sender: true}
	for _, span := range spans {
		ids[hex.EncodeToString(span.GetSpanId())] = true
	}
	for _, span := range spans {
		assert.True(t, ids[hex.EncodeToString(span.GetParentSpanId())], "%s belongs to no other span", span.GetName())
		for _, attribute := range span.GetAttributes() {
			assert.NotContains(t, attribute.GetValue().String(), target.Token, span.GetName())
		}
	}
	have := names(spans)
	t.Log(have)
	for _, name := range []string{
		"POST /v1/scheduling/employment_term_schedule_patterns/apply_update",
		"rotaloom.scheduling.v1.EmploymentTermSchedulePatternService/ApplyUpdateEmploymentTermSchedulePatterns",
		"process propagator-propagation-requested",
		"process propagator-propagation_small_batch-requested",
	} {
		assert.Contains(t, have, name)
	}
	assert.True(t, slices.ContainsFunc(spans, func(span *tracev1.Span) bool {
		return slices.ContainsFunc(span.GetAttributes(), func(a *commonv1.KeyValue) bool { return a.GetKey() == "db.query.text" })
	}), "statements are spans too")
}

// While the receiver is away, traces are lost, but no request fails.
func TestAReceiverOfTracesIsAway(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t, "--tracing-endpoint", "http://127.0.0.1:1", "--tracing-ratio", "1")
	working(t, scenario.API{Target: server.Target(t)}, 10)
	server.Stop(t)
	require.Contains(t, server.Output(), "traces are lost")
}

// An invalid receiver is refused at the start.
func TestWrongReceiversOfTraces(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no URL":            {"--tracing-endpoint", "collector:4317"},
		"another scheme":    {"--tracing-endpoint", "ftp://collector"},
		"a ratio above one": {"--tracing-endpoint", "http://collector:4317", "--tracing-ratio", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, errs, code := launch.Run(t, launch.Build(t, "services/standalone/cmd/rotaloom"), nil,
				append([]string{"serve", "--listen", "127.0.0.1:0", "--state-dir", t.TempDir()}, args...)...)
			assert.Equal(t, 1, code)
			assert.Contains(t, errs, "tracing: ")
		})
	}
}
