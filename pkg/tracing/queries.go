package tracing

import (
	"context"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/otel/trace"
)

// Queries returns a tracer that records a span for each database statement within a span. Spans
// contain statements, but no values.
func Queries() pgx.QueryTracer { return queries{otelpgx.NewTracer()} }

// queries skips statements outside of a span: most requests are not traced, and otelpgx takes the
// time of each of their statements, for metrics that we do not use.
type queries struct{ *otelpgx.Tracer }

var (
	_ pgx.QueryTracer       = queries{}
	_ pgx.BatchTracer       = queries{}
	_ pgx.PrepareTracer     = queries{}
	_ pgx.CopyFromTracer    = queries{}
	_ pgxpool.AcquireTracer = queries{}
)

func isRecorded(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

func (q queries) TraceQueryStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	if !isRecorded(ctx) {
		return ctx
	}
	return q.Tracer.TraceQueryStart(ctx, conn, data)
}

func (q queries) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	if isRecorded(ctx) {
		q.Tracer.TraceQueryEnd(ctx, conn, data)
	}
}

func (q queries) TraceBatchStart(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	if !isRecorded(ctx) {
		return ctx
	}
	return q.Tracer.TraceBatchStart(ctx, conn, data)
}

func (q queries) TraceBatchQuery(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchQueryData) {
	if isRecorded(ctx) {
		q.Tracer.TraceBatchQuery(ctx, conn, data)
	}
}

func (q queries) TraceBatchEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceBatchEndData) {
	if isRecorded(ctx) {
		q.Tracer.TraceBatchEnd(ctx, conn, data)
	}
}

func (q queries) TraceAcquireStart(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireStartData) context.Context {
	if !isRecorded(ctx) {
		return ctx
	}
	return q.Tracer.TraceAcquireStart(ctx, pool, data)
}

func (q queries) TraceAcquireEnd(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	if isRecorded(ctx) {
		q.Tracer.TraceAcquireEnd(ctx, pool, data)
	}
}
