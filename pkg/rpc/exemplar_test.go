package rpc

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
)

// From a slow call in a graph one gets to its trace.
func TestLatenciesNameTheirTraces(t *testing.T) {
	t.Parallel()
	id, err := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
	require.NoError(t, err)
	span := trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}}
	for name, c := range map[string]struct {
		flags trace.TraceFlags
		want  string
	}{
		"a call that is traced":  {trace.FlagsSampled, id.String()},
		"a call without a trace": {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			metrics, err := newMetrics(prometheus.NewRegistry())
			require.NoError(t, err)
			m := &method{name: "/a/B"}
			span := span
			span.TraceFlags = c.flags
			metrics.observe(trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(span)), m, 30*time.Millisecond)
			var written dto.Metric
			require.NoError(t, (*m.seconds.Load()).(prometheus.Metric).Write(&written))
			assert.EqualValues(t, 1, written.GetHistogram().GetSampleCount())
			found := ""
			for _, bucket := range written.GetHistogram().GetBucket() {
				for _, label := range bucket.GetExemplar().GetLabel() {
					found += label.GetValue()
				}
			}
			assert.Equal(t, c.want, found)
		})
	}
}
