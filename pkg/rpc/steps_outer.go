package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/panics"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// requestID adopts the id and the trace of the caller's request; the call becomes a span of that
// trace. If the request has no id, requestID creates one and returns it to the caller.
func (ch *Chain) requestID(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		r := obs.Request{ID: c.incoming(client.HeaderRequestID)}
		if trace := c.incoming(client.HeaderTraceparent); obs.ValidTraceparent(trace) {
			r.Traceparent = trace
		}
		if !obs.ValidRequestID(r.ID) {
			r.ID = obs.NewRequestID()
			if err := grpc.SetHeader(ctx, metadata.Pairs(client.HeaderRequestID, r.ID)); err != nil {
				ch.log.WarnContext(ctx, "the request id cannot be returned", "error", err)
			}
		}
		ctx = obs.WithRequest(ctx, r)
		if c.health || !tracing.Enabled() {
			return next(ctx, c, req)
		}
		ctx, span := tracing.Begin(ctx, strings.TrimPrefix(c.name, "/"), trace.SpanKindServer)
		resp, err := next(ctx, c, req)
		span.End(failureCode(err))
		return resp, err
	}
}

// failureCode returns the code of an error that the caller did not cause, or "".
func failureCode(err error) string {
	switch code := status.Code(err); code {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		return code.String()
	default:
		return ""
	}
}

// accessLog writes one line per call at debug level, because the edge logs each request of a client. A call that
// failed through the fault of a service is logged as an error.
func (ch *Chain) accessLog(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		resp, err := next(ctx, c, req)
		level := slog.LevelDebug
		f := fault.FromError(c.err)
		if f != nil && f.Status >= http.StatusInternalServerError && f.Code != fault.CodeCanceled && !c.stopping {
			level = slog.LevelError
		}
		if ch.log.Enabled(ctx, level) {
			ch.log.LogAttrs(ctx, level, "rpc", c.attrs(err, f)...)
		}
		return resp, err
	}
}

func (c *call) attrs(err error, f *fault.Error) []slog.Attr {
	attrs := make([]slog.Attr, 0, 9)
	attrs = append(attrs,
		slog.String("method", c.name),
		slog.String("code", status.Code(err).String()),
		slog.Float64("ms", float64(c.took.Microseconds())/1000),
	)
	if p := c.principal; p != nil {
		// The handler's context has the tenant; the context of this line does not.
		attrs = append(attrs, slog.Int64("tenant", p.Tenant), slog.String("subject", p.Subject))
		if p.Service != "" {
			attrs = append(attrs, slog.String("caller", p.Service))
		}
	}
	if c.policy != nil && c.policy.Permission != "" {
		attrs = append(attrs, slog.String("permission", c.policy.Permission))
	}
	if f != nil {
		attrs = append(attrs, slog.String("error_code", f.Code), slog.Any("error", c.err))
	}
	return attrs
}

// measure counts calls and records their durations.
func (ch *Chain) measure(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		took := clock.Start()
		ch.metrics.inFlight.Inc()
		resp, err := next(ctx, c, req)
		ch.metrics.inFlight.Dec()
		c.took = took.Elapsed()
		ch.metrics.observe(ctx, c.method, c.took)
		ch.metrics.count(c.method, status.Code(err))
		return resp, err
	}
}

// recoverPanic turns a panic into an error. It lies inside the log and metrics steps, so that
// panics are logged and counted.
func (ch *Chain) recoverPanic(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		resp, err := callRecovered(ctx, c, req, next)
		var panicked *panics.Error // In this goroutine, or in one that worked for it.
		if !errors.As(err, &panicked) {
			return resp, err
		}
		ch.metrics.panics.Inc()
		ch.log.ErrorContext(ctx, "panic", "method", c.name, "panic", fmt.Sprint(panicked.Value), "stack", string(panicked.Stack))
		c.err = fault.Internal(fmt.Errorf("panic: %v", panicked.Value))
		return nil, fault.FromError(c.err).GRPCStatus().Err()
	}
}

func callRecovered(ctx context.Context, c *call, req any, next handler) (resp any, err error) {
	defer panics.ToError(&err)
	return next(ctx, c, req)
}

// faultToStatus turns errors into the statuses that callers see. No other place does.
func (ch *Chain) faultToStatus(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		resp, err := next(ctx, c, req)
		if err == nil {
			return resp, nil
		}
		c.err = ch.explainError(err)
		st := fault.FromError(c.err).GRPCStatus()
		if st.Code() == codes.OK {
			st = fault.Internal(err).GRPCStatus()
		}
		return nil, st.Err()
	}
}

// explainError returns err, or the fault that explains it.
func (ch *Chain) explainError(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	if f = ch.explain(err); f != nil {
		return f
	}
	return err
}

// deadline limits the duration of every call.
func (ch *Chain) deadline(next handler) handler {
	return func(ctx context.Context, c *call, req any) (any, error) {
		limit := ch.cfg.Deadline
		if at, ok := ctx.Deadline(); ok {
			if time.Until(at) <= ch.cfg.MaxDeadline {
				return next(ctx, c, req)
			}
			limit = ch.cfg.MaxDeadline
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return next(ctx, c, req)
	}
}

// limitInFlight rejects calls above the limit, and all new calls while the service stops.
func (ch *Chain) limitInFlight(next handler) handler {
	const retry = time.Second
	return func(ctx context.Context, c *call, req any) (any, error) {
		if c.health {
			return next(ctx, c, req)
		}
		defer ch.leave()
		if ch.inFlight.Add(1) > int64(ch.cfg.MaxInFlight) {
			return nil, fault.New(fault.CodeOverloaded, http.StatusServiceUnavailable, "The service is busy. Try again in a moment.").WithRetryAfter(retry)
		}
		if ch.draining.Load() {
			c.stopping = true
			return nil, fault.Unavailable("The service is stopping. Try again in a moment.", retry)
		}
		return next(ctx, c, req)
	}
}

func (ch *Chain) leave() {
	if ch.inFlight.Add(-1) > 0 || !ch.draining.Load() {
		return
	}
	select {
	case ch.idle <- struct{}{}:
	default:
	}
}
