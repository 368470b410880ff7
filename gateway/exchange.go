package gateway

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

// exchange is one request and its answer. It is the ResponseWriter that the
// generated code writes to, so it decides what goes out.
type exchange struct {
	http.ResponseWriter
	paced   *listener.PacedWriter // to the same
	edge    *Edge
	method  string
	path    string // escaped, without the prefix /api
	request obs.Request
	began   time.Time
	ctx     context.Context // of the request, for the log

	route *route
	form  bool      // whether the body is a form
	body  io.Reader // bounded
	most  int64     // bytes that the body may have
	// announced is how long the body will be, as its sender says; 0 when it does not.
	announced int64
	text      []byte            // the body, once it was read
	held      held              // memory for it
	fault     *fault.Error      // what was wrong with the body
	success   int               // status of a success that is not the route's
	buf       *[]byte           // holds the answer's JSON
	joined    *transcode.Joined // writes an answer that comes in parts
	taken     int               // bytes of its parts
	status    int               // that was written, or 0
	cut       bool              // whether the answer must not end as if it were whole
	cause     error             // of a failure, for the log
	keyed     *keyed            // of a request with an Idempotency-Key, or nil
	// principal is who is calling, and token by which token; nil for strangers.
	principal *authn.Principal
	token     string
}

type exchangeKey struct{}

func (e *Edge) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{
		ResponseWriter: w,
		edge:           e,
		method:         r.Method,
		path:           trimAPI(r.URL.EscapedPath()),
		request:        requestOf(r),
		began:          time.Now(),
	}
	x.paced = listener.NewPacedWriter(w, listener.Pace{Stall: e.cfg.StallTimeout, End: x.began.Add(e.cfg.Timeout + grace)})
	x.ctx = obs.WithRequest(r.Context(), x.request)
	h := w.Header()
	h["X-Request-Id"] = []string{x.request.ID}
	h["Kronos-Tid"] = []string{x.request.ID}
	h["Strict-Transport-Security"] = []string{"max-age=31536000"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	return x
}

// checkBody checks the type and the announced size of the body. A request to a
// route without a body may have none.
func (x *exchange) checkBody(r *http.Request) *fault.Error {
	if !x.route.body {
		x.body = http.NoBody
		return nil
	}
	if x.most = x.edge.cfg.BodyLimit; x.route.policy.Public {
		x.most = min(x.most, mostPublicBody)
	}
	if r.ContentLength > x.most {
		return x.tooLarge()
	}
	x.announced = max(r.ContentLength, 0)
	// It gets no response writer: it would have the connection closed at once, and
	// whoever still sends would not see the answer.
	x.body = http.MaxBytesReader(nil, r.Body, x.most)
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		x.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 12.5.3.
		return mediaType("The body must not be encoded (Content-Encoding).")
	}
	kind := "application/json"
	if x.form = x.route.policy.OAuthErrors; x.form { // OAuth knows forms only.
		kind = "application/x-www-form-urlencoded"
	}
	declared := r.Header.Get("Content-Type")
	if declared == "" {
		return nil
	}
	if given, _, err := mime.ParseMediaType(declared); err != nil || given != kind {
		return mediaType("The body must be " + kind + ".")
	}
	return nil
}

func mediaType(message string) *fault.Error {
	return fault.New(fault.CodeMediaType, http.StatusUnsupportedMediaType, message)
}

func (x *exchange) tooLarge() *fault.Error {
	return fault.TooLarge(fault.CodeTooLarge, fmt.Sprintf(
		"The body is larger than %d bytes. Split it into several requests.", x.most))
}

// forward answers the request as the generated code gets it: with the headers
// that services may see, and with the query's values already read.
func (x *exchange) forward(ctx context.Context, r *http.Request, query url.Values) *http.Request {
	f := r.WithContext(ctx)
	f.Header = passedHeaders(r, x.edge.proxies.trust(r))
	f.Body = &body{x}
	f.Form, f.PostForm = query, url.Values{}
	if query == nil {
		f.Form = url.Values{}
	}
	return f
}

// body carries the exchange to the marshaler, which the generated code gives
// nothing but the body of the request.
type body struct{ x *exchange }

func (b *body) Read(p []byte) (int, error) { return b.x.body.Read(p) }
func (b *body) Close() error               { return nil }

// WriteHeader writes the status, once.
func (x *exchange) WriteHeader(status int) {
	if x.status != 0 {
		return
	}
	x.status = status
	if !x.keyed.holds() {
		x.ResponseWriter.WriteHeader(status)
	}
}

// Write writes the answer of a success: nothing else writes before the status
// is known.
func (x *exchange) Write(p []byte) (int, error) {
	if x.status == 0 {
		status := x.successStatus()
		if status == http.StatusNoContent {
			x.Header().Del("Content-Type")
			x.Header().Del("Content-Length")
		}
		x.WriteHeader(status)
	}
	if x.status == http.StatusNoContent {
		return len(p), nil
	}
	if x.keyed.take(p) {
		return len(p), nil
	}
	n, err := x.paced.Write(p)
	if err != nil {
		// HTTP/2 may still be reading the buffer of a stream that was given up.
		x.buf = nil
	}
	return n, err
}

func (x *exchange) successStatus() int {
	switch {
	case x.success != 0:
		return x.success
	case x.route != nil:
		return x.route.policy.SuccessStatus
	}
	return http.StatusOK
}

// finish ends the exchange, also after a panic.
func (x *exchange) finish() {
	if p := recover(); p != nil {
		x.edge.log.ErrorContext(x.ctx, "panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		x.fail(fault.Internal(fmt.Errorf("panic: %v", p)))
		x.keyed.end()
	}
	if x.joined != nil {
		x.joined.Close()
	}
	x.edge.bufs.put(x.buf)
	x.release()
	x.edge.metrics.answered(x.classOf(), x.status)
	level := slog.LevelInfo
	if x.status >= http.StatusInternalServerError || x.cut && x.ctx.Err() == nil {
		level = slog.LevelError
	}
	if x.edge.log.Enabled(x.ctx, level) {
		x.edge.log.LogAttrs(x.ctx, level, "http", x.attrs()...)
	}
	if x.cut {
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) attrs() []slog.Attr {
	// The path itself is not logged: it may hold names of people.
	path := ""
	if x.route != nil {
		path = x.route.path
	}
	attrs := []slog.Attr{
		slog.String("method", x.method), slog.String("route", path), slog.Int("status", x.status),
		slog.Int("bytes", x.paced.Written()), slog.Float64("ms", float64(time.Since(x.began).Microseconds())/1000),
	}
	if x.cause != nil {
		attrs = append(attrs, slog.String("error", x.cause.Error()))
	}
	return attrs
}
