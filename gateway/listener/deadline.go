package listener

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// A client may be slow, within bounds: the next bytes of a body must arrive, and the next bytes of a response
// must be read, within the stall timeout. The time for the whole body or response is bounded too.

const (
	// writeChunk is the number of bytes that a client must read within one stall timeout. The edge writes the
	// JSON of large responses in somewhat shorter parts.
	writeChunk = 128 << 10
	// A deadline older than rearm is renewed. Renewing it for each read would cost more than the
	// reads.
	rearm = time.Second
	// stallWhileStopping is the stall timeout of bodies while the server stops.
	stallWhileStopping = 2 * time.Second
)

// RollingDeadline sets the deadlines of one direction of a connection.
type RollingDeadline struct {
	// Stall is how long the client may send or read nothing.
	Stall time.Duration
	// End is the deadline for all of the data.
	End time.Time

	set time.Time // when the current deadline was set
}

// next returns the deadline for the next bytes, and whether it must be set.
func (p *RollingDeadline) next() (until time.Time, due bool) {
	now := time.Now()
	if now.Sub(p.set) < min(rearm, p.Stall/4) {
		return time.Time{}, false
	}
	p.set = now
	until = now.Add(p.Stall)
	if p.End.Before(until) {
		until = p.End
	}
	return until, true
}

// DeadlineReader reads a body that must arrive in time. Otherwise its reads fail with os.ErrDeadlineExceeded.
type DeadlineReader struct {
	body    io.Reader
	control *http.ResponseController
	// endShortening ends the shortening of the deadline, and waits for its end.
	endShortening func()
	ended         bool // whether the last read has reached the end of the body

	mu       sync.Mutex
	deadline RollingDeadline
}

// NewDeadlineReader returns a reader of body, which arrives over the connection of w. As soon as stopping ends,
// the next bytes must arrive within two seconds, so that a client that sends nothing does not delay the end of
// the server. Call Done after the last read.
func NewDeadlineReader(stopping context.Context, body io.Reader, w http.ResponseWriter, pace RollingDeadline) *DeadlineReader {
	r := &DeadlineReader{body: body, control: http.NewResponseController(w), deadline: pace}
	shortened := make(chan struct{})
	cancel := context.AfterFunc(stopping, func() {
		defer close(shortened)
		r.mu.Lock()
		r.deadline.Stall, r.deadline.set = min(r.deadline.Stall, stallWhileStopping), time.Time{}
		r.mu.Unlock()
		r.extend()
	})
	r.endShortening = func() {
		if !cancel() {
			<-shortened
		}
	}
	return r
}

// extend sets the deadline of the next bytes.
func (r *DeadlineReader) extend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if until, due := r.deadline.next(); due {
		// A response writer without deadlines has no connection that could be slow.
		_ = r.control.SetReadDeadline(until)
	}
}

// Read reads the next bytes.
func (r *DeadlineReader) Read(p []byte) (int, error) {
	r.extend()
	n, err := r.body.Read(p)
	r.ended = errors.Is(err, io.EOF)
	return n, err
}

// Done removes the deadline of a body that has ended, because the server keeps reading in order to notice that
// the client disconnects.
func (r *DeadlineReader) Done() {
	r.endShortening() // The response writer must not be used after the request.
	if r.ended {
		_ = r.control.SetReadDeadline(time.Time{})
	}
}

// DeadlineWriter writes a response that the client must read in time.
type DeadlineWriter struct {
	http.ResponseWriter
	request  *http.Request
	deadline RollingDeadline
	written  int
}

// NewDeadlineWriter returns a writer to w, the response writer of r.
func NewDeadlineWriter(w http.ResponseWriter, r *http.Request, pace RollingDeadline) *DeadlineWriter {
	return &DeadlineWriter{ResponseWriter: w, request: r, deadline: pace}
}

// Written returns the number of written bytes.
func (w *DeadlineWriter) Written() int { return w.written }

// Unwrap returns the underlying writer.
func (w *DeadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes a part of the response. For small responses the timeouts of the connection suffice.
func (w *DeadlineWriter) Write(p []byte) (n int, err error) {
	defer func() { w.written += n }()
	if w.written+len(p) <= writeChunk {
		return w.ResponseWriter.Write(p)
	}
	control, conn := http.NewResponseController(w.ResponseWriter), requestCork(w.request)
	for n < len(p) && err == nil {
		if until, due := w.deadline.next(); due {
			_ = control.SetWriteDeadline(until)
		}
		var wrote int
		wrote, err = w.writeChunk(conn, p[n:min(n+writeChunk, len(p))])
		n += wrote
	}
	return n, err
}

// writeChunk writes to a connection, which it corks during the write if possible.
func (w *DeadlineWriter) writeChunk(conn *corkConn, p []byte) (int, error) {
	if conn == nil {
		return w.ResponseWriter.Write(p)
	}
	conn.cork()
	n, err := w.ResponseWriter.Write(p)
	return n, cmp.Or(err, conn.uncork())
}
