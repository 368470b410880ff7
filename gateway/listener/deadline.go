package listener

import (
	"cmp"
	"io"
	"net/http"
	"time"
)

// A client may be slow, but not for as long as it likes: the next bytes of a
// body must come, and the next bytes of a response must be taken, within the
// stall timeout. What a body or a response may take as a whole is bounded too.

const (
	// writeChunk is what must be taken within one stall timeout, in bytes. The edge writes
	// the JSON of large responses in parts that are somewhat shorter.
	writeChunk = 128 << 10
	// rearm is how old a deadline gets before it is set anew. Setting one for
	// each read would cost more than the reads.
	rearm = time.Second
)

// RollingDeadline sets deadlines on one direction of a connection, which a client must
// keep up with.
type RollingDeadline struct {
	// Stall is how long the client may send, or take, nothing.
	Stall time.Duration
	// End is when all must have been sent, or taken.
	End time.Time

	set time.Time // when the deadline was set
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

// DeadlineReader is a body that must come in time. Its reads fail with
// os.ErrDeadlineExceeded when it does not.
type DeadlineReader struct {
	body     io.Reader
	control  *http.ResponseController
	deadline RollingDeadline
}

// NewDeadlineReader returns body, which comes over the connection that w writes to.
func NewDeadlineReader(body io.Reader, w http.ResponseWriter, pace RollingDeadline) *DeadlineReader {
	return &DeadlineReader{body: body, control: http.NewResponseController(w), deadline: pace}
}

// Read reads the next bytes.
func (r *DeadlineReader) Read(p []byte) (int, error) {
	if until, due := r.deadline.next(); due {
		// A response writer that cannot do it has no connection that could be slow.
		_ = r.control.SetReadDeadline(until)
	}
	return r.body.Read(p)
}

// Done takes the deadline away: the server goes on reading, to notice that
// the client has gone.
func (r *DeadlineReader) Done() { _ = r.control.SetReadDeadline(time.Time{}) }

// DeadlineWriter writes a response that must be taken in time.
type DeadlineWriter struct {
	http.ResponseWriter
	request  *http.Request
	deadline RollingDeadline
	written  int
}

// NewDeadlineWriter returns a writer to w, which is that of a request.
func NewDeadlineWriter(w http.ResponseWriter, r *http.Request, pace RollingDeadline) *DeadlineWriter {
	return &DeadlineWriter{ResponseWriter: w, request: r, deadline: pace}
}

// Written returns how many bytes were written.
func (w *DeadlineWriter) Written() int { return w.written }

// Unwrap returns the writer that this one writes to.
func (w *DeadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes a part of the response. Small responses go out at once, or the
// bounds of the connection hold for them.
func (w *DeadlineWriter) Write(p []byte) (n int, err error) {
	defer func() { w.written += n }()
	if w.written+len(p) <= writeChunk {
		return w.ResponseWriter.Write(p)
	}
	control, conn := http.NewResponseController(w.ResponseWriter), corkOf(w.request)
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

// writeChunk writes to a connection that is corked meanwhile, if it can be.
func (w *DeadlineWriter) writeChunk(conn *corkConn, p []byte) (int, error) {
	if conn == nil {
		return w.ResponseWriter.Write(p)
	}
	conn.cork()
	n, err := w.ResponseWriter.Write(p)
	return n, cmp.Or(err, conn.uncork())
}
