package listener

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// What is read of a body after its request was refused: much from callers whom we
// know, who made a mistake and shall see it, and little from anonymous clients.
const (
	maxDrainBytes       = 128 << 20
	maxDrainTime        = 30 * time.Second
	anonymousDrainBytes = 4 << 20
	// AnonymousTimeout is how long an anonymous client may go on sending.
	AnonymousTimeout = 2 * time.Second
	// serverDrainBytes is how much of a body the server reads by itself over HTTP/1; it
	// would read some more.
	serverDrainBytes = 64 << 10
	// drainChunk must come within drainStallTimeout.
	drainChunk        = 64 << 10
	drainStallTimeout = 2 * time.Second
	// maxConcurrentDrains is how many bodies of known callers are read so at a time. More
	// are treated as anonymous.
	maxConcurrentDrains = 64
)

// BodyDrainer lets the senders of refused requests come to an end: many clients look at
// no response before they have sent everything, and never at one when they are cut
// off meanwhile.
type BodyDrainer struct {
	draining atomic.Int64 // bodies of known callers
}

// Respond calls respond, which writes why the request is refused, and then reads
// what its sender still sends. Known says that it is not anonymous.
func (d *BodyDrainer) Respond(w http.ResponseWriter, r *http.Request, known bool, respond func()) {
	control := http.NewResponseController(w)
	sends := r.ContentLength != 0 && r.Body != nil
	// Who asks first hears the response, and sends nothing.
	sends = sends && !strings.EqualFold(r.Header.Get("Expect"), "100-continue")
	if sends && r.ProtoMajor < 2 && 0 < r.ContentLength && r.ContentLength <= serverDrainBytes {
		// The server reads a small body to its end by itself, and keeps the connection:
		// new ones, with their handshakes, would cost more than the request.
		if control.SetReadDeadline(time.Now().Add(AnonymousTimeout)) == nil {
			respond()
			return
		}
	}
	if sends && r.ProtoMajor < 2 {
		// Otherwise the server reads a part of the body before it writes, and then
		// cuts the connection off.
		if control.EnableFullDuplex() != nil {
			sends = false
		}
		w.Header().Set("Connection", "close")
	}
	respond()
	if sends && control.Flush() == nil {
		d.drain(r.Body, control, known)
	}
}

// drain reads what is still sent, so long as it comes. Whether it ends does not matter
// any more.
func (d *BodyDrainer) drain(body io.Reader, control *http.ResponseController, known bool) {
	size, wait := int64(anonymousDrainBytes), AnonymousTimeout
	if known {
		if d.draining.Add(1) <= maxConcurrentDrains {
			size, wait = maxDrainBytes, maxDrainTime
		}
		defer d.draining.Add(-1)
	}
	end := time.Now().Add(wait)
	for read := int64(0); read < size; read += drainChunk {
		next := time.Now().Add(drainStallTimeout)
		if end.Before(next) {
			next = end
		}
		if control.SetReadDeadline(next) != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, body, drainChunk); err != nil {
			return
		}
	}
}
