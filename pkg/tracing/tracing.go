// Package tracing records OpenTelemetry spans of the work for a request: at the edge, in each
// service, in the database, and in the consumers of the resulting events, so that one request is
// one trace. Processes pass the trace on in the W3C trace context, which obs.Request carries
// anyway. Without Start, no spans are recorded.
package tracing

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rotaloom/rotaloom/pkg/obs"
)

// Config configures the receiver of traces.
type Config struct {
	Endpoint string  `name:"tracing-endpoint" help:"Receiver of traces, OTLP over gRPC: https://host:4317, or http://host:4317 without TLS. Empty means no tracing."`
	Ratio    float64 `name:"tracing-ratio" default:"0.1" help:"Share of the requests that are traced, from 0 to 1. The edge decides for all programs."`
}

// tracer creates spans; nil means that tracing is off.
var tracer atomic.Pointer[sampled]

// sampled creates spans for a share of the requests.
type sampled struct {
	trace.Tracer
	share sdktrace.Sampler
}

// flushTimeout is how long a stopping process waits for the receiver to accept its remaining spans.
const flushTimeout = 3 * time.Second

// Enabled reports whether spans are recorded.
func Enabled() bool { return tracer.Load() != nil }

// Start begins to send the spans of the process to the receiver, if one is configured, under the
// name of the program. The queue is bounded: an unavailable receiver loses traces, and fails no
// request. stop sends the remaining spans.
func Start(ctx context.Context, cfg Config, program string, log *slog.Logger) (stop func(context.Context) error, err error) {
	if cfg.Endpoint == "" {
		return func(context.Context) error { return nil }, nil
	}
	at, err := url.Parse(cfg.Endpoint)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
		return nil, fmt.Errorf("tracing: %q is not a URL such as https://host:4317", cfg.Endpoint)
	}
	if cfg.Ratio < 0 || cfg.Ratio > 1 {
		return nil, fmt.Errorf("tracing: the ratio %v is not between 0 and 1", cfg.Ratio)
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(cfg.Endpoint))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	share := sdktrace.TraceIDRatioBased(cfg.Ratio)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithSampler(sdktrace.ParentBased(share)), sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", program))))
	otel.SetTracerProvider(provider)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are lost", "error", err) }))
	tracer.Store(&sampled{provider.Tracer("github.com/rotaloom/rotaloom"), share})
	return func(ctx context.Context) error {
		tracer.Store(nil)
		within, cancel := context.WithTimeout(ctx, flushTimeout)
		defer cancel()
		err := provider.Shutdown(within)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			log.Warn("traces are lost", "error", err)
			return nil
		}
		return err
	}, nil
}

// Span is a piece of work. The zero Span is not recorded.
type Span struct{ span trace.Span }

// Begin begins a span in the request of a context. Work in the returned context, here and in other
// processes, belongs to the span. For a request that is not traced, it records no span, and the
// work stays in its previous trace.
func Begin(ctx context.Context, name string, kind trace.SpanKind) (context.Context, Span) {
	by := tracer.Load()
	if by == nil {
		return ctx, Span{}
	}
	r := obs.RequestFrom(ctx)
	if of := parseTraceparent(r.Traceparent); of.IsValid() {
		ctx = withSpanContext(ctx, of)
		if !of.IsSampled() {
			return ctx, Span{}
		}
	} else {
		ctx = withSpanContext(ctx, of)
		id, span := ids{}.NewIDs(context.Background())
		if !by.chooses(id) {
			r.Traceparent = formatTraceparent(trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span}))
			return obs.WithRequest(ctx, r), Span{}
		}
		ctx = context.WithValue(ctx, chosenID{}, id)
	}
	ctx, span := by.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attribute.String("request_id", r.ID)))
	r.Traceparent = formatTraceparent(span.SpanContext())
	return obs.WithRequest(ctx, r), Span{span}
}

// withSpanContext returns a context whose statements belong to a span, unless neither the span nor
// the context is recorded.
func withSpanContext(ctx context.Context, of trace.SpanContext) context.Context {
	if of.IsSampled() || trace.SpanContextFromContext(ctx).IsValid() {
		return trace.ContextWithSpanContext(ctx, of)
	}
	return ctx
}

// BeginRequest is Begin for a request from outside. The sender may determine the trace id, but not
// whether the request is traced, because that costs resources.
func BeginRequest(ctx context.Context, name string) (context.Context, Span) {
	by := tracer.Load()
	if by == nil {
		return ctx, Span{}
	}
	r := obs.RequestFrom(ctx)
	if parent := parseTraceparent(r.Traceparent); parent.IsValid() {
		r.Traceparent = formatTraceparent(parent.WithTraceFlags(trace.TraceFlags(0).WithSampled(by.chooses(parent.TraceID()))))
		ctx = obs.WithRequest(ctx, r)
	}
	return Begin(ctx, name, trace.SpanKindServer)
}

// chooses reports whether the trace with an id belongs to the traced share.
func (s *sampled) chooses(id trace.TraceID) bool {
	return s.share.ShouldSample(sdktrace.SamplingParameters{TraceID: id}).Decision == sdktrace.RecordAndSample
}

// ids generates ids of traces and spans. A new trace uses the id that Begin chose, if any.
type ids struct{}

type chosenID struct{}

// NewIDs returns the ids of a trace and its first span.
func (ids) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	id, chosen := ctx.Value(chosenID{}).(trace.TraceID)
	for !chosen && !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id, ids{}.NewSpanID(ctx, id)
}

// NewSpanID returns the id of a span.
func (ids) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	for !span.IsValid() {
		binary.NativeEndian.PutUint64(span[:], rand.Uint64())
	}
	return span
}

// TraceID returns the id of the recorded trace of a context, or "".
func TraceID(ctx context.Context) string {
	if of := trace.SpanContextFromContext(ctx); of.IsSampled() && of.IsValid() {
		return of.TraceID().String()
	}
	return ""
}

// Seen reports whether the span is recorded.
func (s Span) Seen() bool { return s.span != nil && s.span.IsRecording() }

// LinkTo links the span to another request that caused it.
func (s Span) LinkTo(traceparent string) {
	if other := parseTraceparent(traceparent); s.span != nil && other.IsValid() {
		s.span.AddLink(trace.Link{SpanContext: other})
	}
}

// Set sets the name of the span and adds attributes.
func (s Span) Set(name string, attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetName(name)
		s.span.SetAttributes(attributes...)
	}
}

// End ends the span, as failed if failure is not empty.
func (s Span) End(failure string) {
	if s.span == nil {
		return
	}
	if failure != "" {
		s.span.SetStatus(codes.Error, failure)
	}
	s.span.End()
}

// parseTraceparent parses a W3C traceparent; a malformed one yields an invalid span context.
func parseTraceparent(traceparent string) trace.SpanContext {
	if !obs.ValidTraceparent(traceparent) {
		return trace.SpanContext{}
	}
	var id [25]byte // trace id, span id and flags
	text := traceparent[3:35] + traceparent[36:52] + traceparent[53:]
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(id[:16]), SpanID: trace.SpanID(id[16:24]), TraceFlags: trace.TraceFlags(id[24]) & trace.FlagsSampled, Remote: true,
	})
}

func formatTraceparent(of trace.SpanContext) string {
	id, span := of.TraceID(), of.SpanID()
	text := append(make([]byte, 0, 55), "00-"...)
	text = append(hex.AppendEncode(text, id[:]), '-')
	text = append(hex.AppendEncode(text, span[:]), '-')
	return string(hex.AppendEncode(text, []byte{byte(of.TraceFlags() & trace.FlagsSampled)}))
}
