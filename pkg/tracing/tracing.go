// Package tracing makes spans of OpenTelemetry of the work for a request: at the edge, in
// each service, in the database, and in the consumers of the events that the request leads
// to, so that one request is one trace. The trace goes from process to process in the
// W3C trace context that obs.Request carries anyway. Without Start nothing is made.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
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
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithSampler(sdktrace.ParentBased(share)),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", program))))
	otel.SetTracerProvider(provider)
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are lost", "error", err) }))
	tracer.Store(&sampled{provider.Tracer("github.com/rotaloom/rotaloom"), share})
	return func(ctx context.Context) error {
		tracer.Store(nil)
		return provider.Shutdown(ctx)
	}, nil
}

// Queries makes spans of the statements of a database connection that belong to a span. They
// show statements, and no values.
func Queries() pgx.QueryTracer { return otelpgx.NewTracer() }

// Span is a piece of work. Its zero value is one that nobody sees.
type Span struct{ span trace.Span }

// Begin begins a span of the request that a context belongs to. What is done in the context
// that it returns, here and in other processes, belongs to the span.
func Begin(ctx context.Context, name string, kind trace.SpanKind) (context.Context, Span) {
	by := tracer.Load()
	if by == nil {
		return ctx, Span{}
	}
	r := obs.RequestFrom(ctx)
	ctx, span := by.Start(trace.ContextWithSpanContext(ctx, contextOf(r.Traceparent)), name,
		trace.WithSpanKind(kind), trace.WithAttributes(attribute.String("request_id", r.ID)))
	r.Traceparent = textOf(span.SpanContext())
	return obs.WithRequest(ctx, r), Span{span}
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
		chosen := by.share.ShouldSample(sdktrace.SamplingParameters{TraceID: parent.TraceID()}).Decision == sdktrace.RecordAndSample
		r.Traceparent = textOf(parent.WithTraceFlags(parent.TraceFlags().WithSampled(chosen)))
		ctx = obs.WithRequest(ctx, r)
	}
	return Begin(ctx, name, trace.SpanKindServer)
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

const header = "traceparent"

// contextOf reads a W3C traceparent; what is none gives an invalid context.
func contextOf(traceparent string) trace.SpanContext {
	carrier := propagation.MapCarrier{header: traceparent}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

func textOf(of trace.SpanContext) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), of), carrier)
	return carrier[header]
}
