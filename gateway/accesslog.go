package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tracing"
)

// accessLog is the outermost handler. It writes one log line for each request, counts the request, and turns
// panics into errors.
type accessLog struct {
	next    handler
	log     *slog.Logger
	metrics *metrics.Edge
	// stall is how long a client may read nothing of its response. timeout bounds the whole
	// request.
	stall, timeout time.Duration
	// docs reports whether errors name the page of their code, which this server then serves.
	docs bool
}

// ServeHTTP serves one request.
func (h *accessLog) ServeHTTP(rw http.ResponseWriter, hr *http.Request) {
	r := newRequest(hr)
	pace := listener.RollingDeadline{Stall: h.stall, End: r.began.Add(h.timeout + grace)}
	w := &response{ResponseWriter: rw, body: listener.NewDeadlineWriter(rw, hr, pace), success: http.StatusOK}
	w.about.Docs = h.docs
	w.begin(r.id.ID)
	ctx := obs.WithRequest(r.Context(), r.id)
	if tracing.Enabled() {
		ctx, r.span = tracing.BeginRequest(ctx, r.Method)
		r.id = obs.RequestFrom(ctx) // The services receive the id of the new span.
	}
	defer h.finish(ctx, w, r)
	h.next(ctx, w, r)
}

// finish ends a request, also after a panic.
func (h *accessLog) finish(ctx context.Context, w *response, r *request) {
	if p := recover(); p != nil {
		h.log.ErrorContext(ctx, "panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		w.fail(fault.Internal(fmt.Errorf("panic: %v", p)))
		w.recording.end()
	}
	h.metrics.Served(r.class(), w.status)
	endSpan(w, r)
	level := slog.LevelInfo
	// A request that its caller canceled is not an error of the server.
	if w.status >= http.StatusInternalServerError && !fault.HasCode(w.cause, fault.CodeCanceled) || w.truncated && ctx.Err() == nil {
		level = slog.LevelError
	}
	if h.log.Enabled(ctx, level) {
		h.log.LogAttrs(ctx, level, "http", attrs(w, r)...)
	}
	if w.truncated {
		// Nothing may follow. The end of a compressed text would make the response look complete.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Unix(1, 0))
		panic(http.ErrAbortHandler)
	}
}

// endSpan ends the span of a request.
func endSpan(w *response, r *request) {
	failure := ""
	if w.status >= http.StatusInternalServerError {
		failure = http.StatusText(w.status)
	}
	if r.span.Seen() {
		name := r.Method
		if r.route != nil {
			name += " " + r.route.Path
			r.span.Set(name, attribute.String("http.route", r.route.Path))
		}
		r.span.Set(name, attribute.String("http.request.method", r.Method), attribute.Int("http.response.status_code", w.status))
	}
	r.span.End(failure)
}

// maxLoggedPath is the maximum length in bytes of a path in the log: clients choose paths.
const maxLoggedPath = 200

// attrs returns the attributes of the line of a request. The query is not logged, because it can contain names of
// people. A log-in has the user and the client of its token, and none if it failed: an unknown name can be a
// password in the wrong field.
func attrs(w *response, r *request) []slog.Attr {
	attrs := make([]slog.Attr, 0, 9)
	attrs = append(attrs,
		slog.String("method", r.Method), slog.String("path", strings.ToValidUTF8(r.URL.Path[:min(len(r.URL.Path), maxLoggedPath)], "")),
		slog.Int("status", w.status), slog.Float64("ms", float64(time.Since(r.began).Microseconds())/1000), slog.Int("bytes", w.body.Written()),
	)
	if p := r.caller; p != nil {
		attrs = appendUser(attrs, p.Tenant, p.Subject, p.Client)
	} else if o := r.tokenOwner; o != nil {
		attrs = appendUser(attrs, o.Tenant, o.User, o.Client)
	}
	if w.cause != nil {
		attrs = append(attrs, slog.String("error", w.cause.Error()))
	}
	return attrs
}

func appendUser(attrs []slog.Attr, tenant int64, user, client string) []slog.Attr {
	return append(attrs, slog.Int64("tenant", tenant), slog.String("user", user), slog.String("client", client))
}
