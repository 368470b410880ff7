// Package tracing makes spans of OpenTelemetry of the work for a request: at the edge, in
// each service, in the database, and in the consumers of the events that the request leads
// to, so that one request is one trace. The trace goes from process to process in the
// W3C trace context that obs.Request carries anyway. Without Start nothing is made.
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

// Config says where traces go.
type Config struct {
	Endpoint string  `name:"tracing-endpoint" help:"Receiver of traces, OTLP over gRPC: https://host:4317, or http://host:4317 without TLS. Nothing is traced when empty."`
	Ratio    float64 `name:"tracing-ratio" default:"0.1" help:"Share of the requests that are traced, from 0 to 1. The edge decides for all programs."`
}

// tracer is what spans are made by; nil when nothing is traced.
var tracer atomic.Pointer[sampled]

// sampled makes spans of a share of the requests.
type sampled struct {
	trace.Tracer
	share sdktrace.Sampler
}

// flushTimeout is how long a process that ends waits for the receiver to take what is left.
const flushTimeout = 3 * time.Second

// Enabled reports whether spans are made.
func Enabled() bool { return tracer.Load() != nil }

// Start begins to send spans of the process to the receiver, if there is one, as those of
// a program. What waits to be sent is bounded; a receiver that is away costs traces, and no
// request. The function that it returns sends what is left.
func Start(ctx context.Context, cfg Config, program string, log *slog.Logger) (stop func(context.Context) error, err error) {
	if cfg.Endpoint == "" {
		return func(context.Context) error { return nil }, nil
	}
	at, err := url.Parse(cfg.Endpoint)
	if err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
		return nil, fmt.Errorf("tracing: %q is no URL as https://host:4317", cfg.Endpoint)
	}
	if cfg.Ratio < 0 || cfg.Ratio > 1 {
		return nil, fmt.Errorf("tracing: the ratio %v is not from 0 to 1", cfg.Ratio)
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

// Span is a piece of work. Its zero value is one that nobody sees.
type Span struct{ span trace.Span }

// Begin begins a span of the request that a context belongs to. What is done in the context
// that it returns, here and in other processes, belongs to the span. Of a request that is
// not traced there is no span: what is done belongs to what it belonged to before.
func Begin(ctx context.Context, name string, kind trace.SpanKind) (context.Context, Span) {
	by := tracer.Load()
	if by == nil {
		return ctx, Span{}
	}
	r := obs.RequestFrom(ctx)
	if of := contextOf(r.Traceparent); of.IsValid() {
		ctx = within(ctx, of)
		if !of.IsSampled() {
			return ctx, Span{}
		}
	} else {
		ctx = within(ctx, of)
		id, span := ids{}.NewIDs(context.Background())
		if !by.chooses(id) {
			r.Traceparent = textOf(trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span}))
			return obs.WithRequest(ctx, r), Span{}
		}
		ctx = context.WithValue(ctx, chosenID{}, id)
	}
	ctx, span := by.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attribute.String("request_id", r.ID)))
	r.Traceparent = textOf(span.SpanContext())
	return obs.WithRequest(ctx, r), Span{span}
}

// within returns a context of which statements belong to a span, or to none when nobody
// will see it.
func within(ctx context.Context, of trace.SpanContext) context.Context {
	if of.IsSampled() || trace.SpanContextFromContext(ctx).IsValid() {
		return trace.ContextWithSpanContext(ctx, of)
	}
	return ctx
}

// BeginRequest is Begin for a request that comes from outside. Its sender may say which
// trace it belongs to, and not whether it is traced, since that costs us.
func BeginRequest(ctx context.Context, name string) (context.Context, Span) {
	by := tracer.Load()
	if by == nil {
		return ctx, Span{}
	}
	r := obs.RequestFrom(ctx)
	if parent := contextOf(r.Traceparent); parent.IsValid() {
		r.Traceparent = textOf(parent.WithTraceFlags(trace.TraceFlags(0).WithSampled(by.chooses(parent.TraceID()))))
		ctx = obs.WithRequest(ctx, r)
	}
	return Begin(ctx, name, trace.SpanKindServer)
}

// chooses reports whether the trace with an id is one of the share.
func (s *sampled) chooses(id trace.TraceID) bool {
	return s.share.ShouldSample(sdktrace.SamplingParameters{TraceID: id}).Decision == sdktrace.RecordAndSample
}

// ids makes ids of traces and spans. That of a trace which begins is the one that was
// chosen, when it was.
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

// TraceOf is the id of the trace that the work of a context is seen in, or "" when nobody
// will see it.
func TraceOf(ctx context.Context) string {
	if of := trace.SpanContextFromContext(ctx); of.IsSampled() && of.IsValid() {
		return of.TraceID().String()
	}
	return ""
}

// Seen reports whether somebody will see the span.
func (s Span) Seen() bool { return s.span != nil && s.span.IsRecording() }

// LinkTo says that the span also follows from another request.
func (s Span) LinkTo(traceparent string) {
	if other := contextOf(traceparent); s.span != nil && other.IsValid() {
		s.span.AddLink(trace.Link{SpanContext: other})
	}
}

// Set adds what became known while the span ran.
func (s Span) Set(name string, attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetName(name)
		s.span.SetAttributes(attributes...)
	}
}

// End ends the span, as failed when failure is not empty.
func (s Span) End(failure string) {
	if s.span == nil {
		return
	}
	if failure != "" {
		s.span.SetStatus(codes.Error, failure)
	}
	s.span.End()
}

// contextOf reads a W3C traceparent; what is none gives an invalid context.
func contextOf(traceparent string) trace.SpanContext {
	if !obs.ValidTraceparent(traceparent) {
		return trace.SpanContext{}
	}
	var id [25]byte // of the trace and of the span, and the flags
	text := traceparent[3:35] + traceparent[36:52] + traceparent[53:]
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(id[:16]), SpanID: trace.SpanID(id[16:24]), TraceFlags: trace.TraceFlags(id[24]) & trace.FlagsSampled, Remote: true,
	})
}

func textOf(of trace.SpanContext) string {
	id, span := of.TraceID(), of.SpanID()
	text := append(make([]byte, 0, 55), "00-"...)
	text = append(hex.AppendEncode(text, id[:]), '-')
	text = append(hex.AppendEncode(text, span[:]), '-')
	return string(hex.AppendEncode(text, []byte{byte(of.TraceFlags() & trace.FlagsSampled)}))
}
