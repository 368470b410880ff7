package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/gateway/bodymemory"
	"github.com/rotaloom/rotaloom/gateway/compression"
	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/gateway/upload"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// requestBody is the body of a request.
type requestBody struct {
	text []byte // the whole body, after it was read
	form bool   // whether it is a form
	// file is the file in the body, or nil.
	file *upload.Body

	from  io.Reader // bounded
	limit int64     // largest size in bytes
	// announced is the declared length; 0 when the client declares none.
	announced int64
}

// bytes returns the body, or nil for a request without one.
func (b *requestBody) bytes() []byte {
	if b == nil {
		return nil
	}
	return b.text
}

// parts returns the body in the form in which requests with the same content are the same: the boundary of a form
// differs each time that it is sent.
func (b *requestBody) parts() [][]byte {
	if b != nil && b.file != nil {
		return [][]byte{b.file.Fields, b.file.Content}
	}
	return [][]byte{b.bytes()}
}

const (
	// maxPublicBody is the largest body in bytes of an operation that needs no token. These are log-ins: forms
	// of a few hundred bytes.
	maxPublicBody = 64 << 10
	// firstBuffer is the size of the first read buffer, in bytes.
	firstBuffer = 4 << 10
)

var errBodyMemory = errors.New("too many bodies at a time")

// bodyReader reads the bodies of requests while there is memory for them.
type bodyReader struct {
	limit          int64
	stall, timeout time.Duration
	// stopping ends when the server begins to stop.
	stopping context.Context
	bodies   *bodymemory.Memory
	metrics  *metrics.Edge
	proxies  headers.Proxies
	rejecter rejecter
}

// check checks the type and the declared size of the body. A route without a body ignores it.
func (br *bodyReader) check(_ context.Context, w *response, r *request) *fault.Error {
	if !r.route.HasBody {
		return nil
	}
	b := &requestBody{limit: br.limit, announced: max(r.ContentLength, 0)}
	switch {
	case r.route.Upload != nil:
		b.file = upload.NewBody(r.route.Upload)
		b.limit = b.file.Limit()
	case r.route.Policy.Public:
		b.limit = min(b.limit, maxPublicBody)
	}
	if r.ContentLength > b.limit {
		return b.tooLarge()
	}
	// http.MaxBytesReader gets no response writer. With one, it would close the connection at once, and a
	// client that still sends would not see the response.
	b.from = http.MaxBytesReader(nil, r.Body, b.limit)
	r.body = b
	if bad := b.decompress(w, r); bad != nil {
		return bad
	}
	if b.file != nil {
		return b.file.CheckType(r.Header)
	}
	kind := "application/json"
	if b.form = r.route.Policy.OAuthErrors; b.form { // OAuth only uses forms.
		kind = "application/x-www-form-urlencoded"
	}
	declared := r.Header.Get("Content-Type")
	if declared == "" {
		return nil
	}
	mediaKind, _, err := mime.ParseMediaType(declared)
	if err == nil && mediaKind == "application/json" && strings.HasPrefix(r.path, "/authn/") {
		b.form = false // Clients of the reference product send forms or JSON to this path.
		return nil
	}
	if err != nil || mediaKind != kind {
		return mediaType("The body must be " + kind + ".")
	}
	return nil
}

// decompress makes the body readable if it is compressed. Both the sent body and its content have the limit of the
// body. Files and the forms of log-ins are not compressed.
func (b *requestBody) decompress(w *response, r *request) *fault.Error {
	encoding := r.Header.Get("Content-Encoding")
	if !compression.IsEncoded(encoding) {
		return nil
	}
	if b.file != nil || r.route.Policy.Public {
		w.Header().Set("Accept-Encoding", "identity") // RFC 9110, section 12.5.3.
		return mediaType("The body must not be encoded (Content-Encoding).")
	}
	if !compression.IsAccepted(encoding) {
		w.Header().Set("Accept-Encoding", compression.Accepted)
		return mediaType("The Content-Encoding of the body must be gzip, or absent.")
	}
	b.announced = 0 // The length of the content is unknown.
	b.from = http.MaxBytesReader(nil, io.NopCloser(compression.NewReader(b.from)), b.limit)
	return nil
}

func mediaType(message string) *fault.Error {
	return fault.New(fault.CodeMediaType, http.StatusUnsupportedMediaType, message)
}

func (b *requestBody) tooLarge() *fault.Error {
	if b.file != nil {
		return b.file.TooLarge()
	}
	return fault.TooLarge(fault.CodeTooLarge, fmt.Sprintf(
		"The body is larger than %d bytes. Split it into several requests.", b.limit))
}

// read is the step that reads the body before the request is admitted, so that a slow client occupies no slot.
// The memory is reserved until the request has ended.
func (br *bodyReader) read(next handler) handler {
	return func(ctx context.Context, w *response, r *request) {
		if r.body == nil {
			next(ctx, w, r)
			return
		}
		held := bodymemory.NewHeld(br.bodies.Portions(userKey(r.caller), br.proxies.Address(r.Request)))
		defer br.bodies.Release(held)
		bad := br.waitForUpload(ctx, w, r, held)
		if bad == nil {
			bad = br.readAll(w, r, held)
		}
		if bad == nil && r.body.file != nil {
			bad = r.body.file.Parse(r.body.text)
		}
		if bad != nil {
			br.rejecter.reject(w, r, bad)
			return
		}
		next(ctx, w, r)
	}
}

// waitForUpload reserves the memory of a file with a declared length before it is read. Without that, several
// files of one caller could each hold a part of the caller's share, and refuse each other.
func (br *bodyReader) waitForUpload(ctx context.Context, w *response, r *request, held *bodymemory.Held) *fault.Error {
	if r.body.file == nil || r.body.announced == 0 {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, br.stall)
	defer cancel()
	size := r.body.announced + bytes.MinRead
	if err := br.bodies.Wait(wait, held, size); err != nil {
		if ctx.Err() != nil { // The client has disconnected, or the server is stopping.
			return fault.FromError(ctx.Err())
		}
		return br.readFault(w, r, errBodyMemory)
	}
	r.body.text = make([]byte, 0, size)
	return nil
}

// readAll reads the whole body within its limit, while there is memory for it.
func (br *bodyReader) readAll(w *response, r *request, held *bodymemory.Held) *fault.Error {
	pace := listener.RollingDeadline{Stall: br.stall, End: r.began.Add(br.timeout)}
	from := listener.NewDeadlineReader(br.stopping, r.body.from, w.ResponseWriter, pace)
	defer from.Done()
	b := r.body.text
	for {
		if len(b) == cap(b) {
			size := r.body.nextBufferSize(cap(b))
			if !br.bodies.Hold(held, int64(size-cap(b))) {
				return br.readFault(w, r, errBodyMemory)
			}
			b = append(make([]byte, 0, size), b...)
		}
		n, err := from.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			r.body.text = b
			return nil
		}
		if err != nil {
			return br.readFault(w, r, err)
		}
	}
}

// nextBufferSize returns the size of the next buffer for a body that has filled one: twice as large, but no
// larger than the body can be plus some bytes to detect its end.
func (b *requestBody) nextBufferSize(size int) int {
	next := max(2*size, firstBuffer)
	if whole := int(b.announced) + bytes.MinRead; b.announced > 0 && size < whole {
		return min(next, whole)
	}
	if whole := int(b.limit) + bytes.MinRead; size < whole {
		return min(next, whole)
	}
	return next
}

// readFault returns the error for a body that could not be read.
func (br *bodyReader) readFault(w *response, r *request, err error) *fault.Error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return r.body.tooLarge()
	case errors.Is(err, errBodyMemory):
		br.metrics.Overload(r.class(), metrics.ReasonBodies)
		return overloadFault()
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return fault.New(fault.CodeSlow, http.StatusRequestTimeout, "The body did not arrive in time. Send it again, faster.").WithCause(err)
	case compression.IsMalformed(err):
		return fault.Invalid(fault.CodeBadRequest, "The body is not valid gzip. Compress it, or send it without Content-Encoding.").WithCause(err)
	}
	return fault.Invalid(fault.CodeBadRequest, "The body is incomplete or malformed. Send it again.").WithCause(err)
}

// limitLarge is the step that waits until a large body may be processed. Waiting requests occupy no slot.
func (br *bodyReader) limitLarge(next handler) handler {
	return func(ctx context.Context, w *response, r *request) {
		size := br.bodies.Work(r.body.bytes())
		if size == 0 {
			next(ctx, w, r)
			return
		}
		wait, cancel := context.WithTimeout(ctx, br.stall)
		defer cancel()
		if err := br.bodies.Working.Acquire(wait, size); err != nil {
			if ctx.Err() != nil { // The client has disconnected, or the server is stopping.
				w.fail(fault.FromError(ctx.Err()))
				return
			}
			br.metrics.Overload(r.class(), metrics.ReasonBodies)
			w.fail(overloadFault())
			return
		}
		defer br.bodies.Working.Release(size)
		next(ctx, w, r)
	}
}

// userKey identifies a user; it is "" for anonymous clients.
func userKey(p *authn.Principal) string {
	if p == nil {
		return ""
	}
	name := p.Subject
	if name == "" {
		name = callerName(p)
	}
	return strconv.FormatInt(p.Tenant, 10) + " " + name
}
