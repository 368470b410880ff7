package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// A client may be slow, but not for as long as it likes: the next bytes of a
// body must come, and the next bytes of an answer must be taken, within the
// stall timeout. What a body or an answer may take as a whole is bounded too.

const (
	// writePiece is what must be taken within one stall timeout.
	writePiece = 64 << 10
	// rearm is how old a deadline gets before it is set anew. Setting one for
	// each read would cost more than the reads.
	rearm = time.Second
)

// readAhead reads the body before the request takes a slot, so that no slow
// client holds one.
func (x *exchange) readAhead(r *http.Request) *fault.Error {
	if x.body == http.NoBody || x.body == nil {
		return nil
	}
	from := &pacedBody{x: x, rest: x.body, control: http.NewResponseController(x.ResponseWriter)}
	x.body = from
	x.held.of = x.edge.bodies.portions(x, x.edge.callerAddress(r))
	text, bad := x.readBody()
	if bad != nil {
		return bad
	}
	from.disarm()
	x.text, x.body = text, bytes.NewReader(text)
	return nil
}

// pacedBody is a body that must come in time.
type pacedBody struct {
	x       *exchange
	rest    io.Reader
	control *http.ResponseController
	armed   time.Time
}

func (b *pacedBody) Read(p []byte) (int, error) {
	b.arm()
	return b.rest.Read(p)
}

func (b *pacedBody) arm() {
	now := time.Now()
	if now.Sub(b.armed) < min(rearm, b.x.edge.cfg.StallTimeout/4) {
		return
	}
	b.armed = now
	until := now.Add(b.x.edge.cfg.StallTimeout)
	if end := b.x.began.Add(b.x.edge.cfg.Timeout); end.Before(until) {
		until = end
	}
	// A response writer that cannot do it has no connection that could be slow.
	_ = b.control.SetReadDeadline(until)
}

// disarm takes the deadline away: the server goes on reading, to notice that
// the client has gone.
func (b *pacedBody) disarm() { _ = b.control.SetReadDeadline(time.Time{}) }

// unread answers what a caller gets whose body could not be read.
func (x *exchange) unread(err error) *fault.Error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return x.tooLarge()
	case errors.Is(err, errBodyMemory):
		x.edge.metrics.overload(x.classOf(), reasonBodies)
		return overloaded()
	case errors.Is(err, os.ErrDeadlineExceeded):
		x.Header().Set("Connection", "close")
		return fault.New(fault.CodeSlow, http.StatusRequestTimeout, "The body did not come in time. Send it again, faster.").WithCause(err)
	}
	return fault.Invalid(fault.CodeBadRequest, "The body could not be read to its end.").WithCause(err)
}

// writePaced writes a part of an answer. Small answers go out at once, or the
// bounds of the connection hold for them.
func (x *exchange) writePaced(p []byte) (n int, err error) {
	if x.bytes+len(p) <= writePiece {
		return x.ResponseWriter.Write(p)
	}
	control := http.NewResponseController(x.ResponseWriter)
	for n < len(p) && err == nil {
		x.pace(control)
		var wrote int
		wrote, err = x.ResponseWriter.Write(p[n:min(n+writePiece, len(p))])
		n += wrote
	}
	return n, err
}

func (x *exchange) pace(control *http.ResponseController) {
	now := time.Now()
	if now.Sub(x.paced) < min(rearm, x.edge.cfg.StallTimeout/4) {
		return
	}
	x.paced = now
	until := now.Add(x.edge.cfg.StallTimeout)
	if end := x.began.Add(x.edge.cfg.Timeout + grace); end.Before(until) {
		until = end
	}
	_ = control.SetWriteDeadline(until)
}

// What is read of a body after its request was refused.
const (
	mostDrained  = 4 << 20
	longestDrain = 2 * time.Second
)

// refuse answers why a request is not carried out, and then lets its sender come
// to an end: clients that are cut off while they send may never look at the
// answer. On HTTP/1 the server does so by itself.
func (x *exchange) refuse(r *http.Request, bad *fault.Error) {
	x.fail(bad)
	if r.ProtoMajor < 2 || r.ContentLength == 0 {
		return
	}
	control := http.NewResponseController(x.ResponseWriter)
	if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(longestDrain)) != nil {
		return
	}
	// Whether it ends does not matter any more.
	_, _ = io.CopyN(io.Discard, r.Body, mostDrained)
}
