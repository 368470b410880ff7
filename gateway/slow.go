package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
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

// What is read of a body after its request was refused: much from callers whom we
// know, who made a mistake and shall see it, and little from strangers.
const (
	mostDrained    = 128 << 20
	longestDrain   = 30 * time.Second
	strangersDrain = 4 << 20
	strangersWait  = 2 * time.Second
	// selfDrained is how much of a body the server reads by itself over HTTP/1; it
	// would read some more.
	selfDrained = 64 << 10
	// drainPiece must come within drainStall.
	drainPiece = 64 << 10
	drainStall = 2 * time.Second
	// mostDraining is how many bodies of known callers are read so at a time. More
	// are treated as strangers'.
	mostDraining = 64
)

// refuse answers why a request is not carried out, and then lets its sender come
// to an end: many clients look at no answer before they have sent everything, and
// never at one when they are cut off meanwhile.
func (x *exchange) refuse(r *http.Request, bad *fault.Error) {
	control := http.NewResponseController(x.ResponseWriter)
	sends := r.ContentLength != 0 && r.Body != nil && bad.Status != http.StatusRequestTimeout
	// Who asks first hears the answer, and sends nothing.
	sends = sends && !strings.EqualFold(r.Header.Get("Expect"), "100-continue")
	if sends && r.ProtoMajor < 2 && 0 < r.ContentLength && r.ContentLength <= selfDrained {
		// The server reads a small body to its end by itself, and keeps the connection:
		// new ones, with their handshakes, would cost more than the request.
		if control.SetReadDeadline(time.Now().Add(strangersWait)) == nil {
			x.fail(bad)
			return
		}
	}
	if sends && r.ProtoMajor < 2 {
		// Otherwise the server reads a part of the body before it writes, and then
		// cuts the connection off.
		if control.EnableFullDuplex() != nil {
			sends = false
		}
		x.Header().Set("Connection", "close")
	}
	x.fail(bad)
	if sends && control.Flush() == nil {
		x.drain(r.Body, control)
	}
}

// drain reads what is still sent, so long as it comes. Whether it ends does not matter
// any more.
func (x *exchange) drain(body io.Reader, control *http.ResponseController) {
	most, longest := int64(strangersDrain), strangersWait
	if x.principal != nil && x.edge.draining.Add(1) <= mostDraining {
		most, longest = mostDrained, longestDrain
	}
	if x.principal != nil {
		defer x.edge.draining.Add(-1)
	}
	end := time.Now().Add(longest)
	for read := int64(0); read < most; read += drainPiece {
		next := time.Now().Add(drainStall)
		if end.Before(next) {
			next = end
		}
		if control.SetReadDeadline(next) != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, body, drainPiece); err != nil {
			return
		}
	}
}
