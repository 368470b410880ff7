package listener

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Limits for reading the rest of a body after its request was refused. They are generous for authenticated
// callers that made a mistake and need to see the error, and tight for anonymous clients.
const (
	maxDrainBytes       = 128 << 20
	maxDrainTime        = 30 * time.Second
	anonymousDrainBytes = 4 << 20
	// AnonymousTimeout is how long an anonymous client may continue to send.
	AnonymousTimeout = 2 * time.Second
	// serverDrainBytes is the number of body bytes that the HTTP/1 server drains without help; its own limit is
	// somewhat higher.
	serverDrainBytes = 64 << 10
	// drainChunk bytes must arrive within drainStallTimeout.
	drainChunk        = 64 << 10
	drainStallTimeout = 2 * time.Second
	// maxConcurrentDrains is the number of bodies of authenticated callers that are drained at a time. Further
	// callers are treated as anonymous.
	maxConcurrentDrains = 64
)

// BodyDrainer lets the senders of refused requests finish sending. Many clients read no response before they
// have sent everything, and never read it if the connection is cut off before.
type BodyDrainer struct {
	draining atomic.Int64 // bodies of authenticated callers
}

// Respond calls respond, which writes the error, and then drains the rest of the request body. known tells that
// the caller is authenticated.
func (d *BodyDrainer) Respond(w http.ResponseWriter, r *http.Request, known bool, respond func()) {
	control := http.NewResponseController(w)
	sends := r.ContentLength != 0 && r.Body != nil
	// A client that waits for 100-continue reads the response and sends no body.
	sends = sends && !strings.EqualFold(r.Header.Get("Expect"), "100-continue")
	if sends && r.ProtoMajor < 2 && 0 < r.ContentLength && r.ContentLength <= serverDrainBytes {
		// The HTTP server drains a small body and keeps the connection. A new connection, with its
		// handshake, would cost more than the request.
		if control.SetReadDeadline(time.Now().Add(AnonymousTimeout)) == nil {
			respond()
			return
		}
	}
	if sends && r.ProtoMajor < 2 {
		// Otherwise the server reads a part of the body before it writes, and then cuts the connection off.
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

// drain reads the rest of a body while data arrives. It ignores errors, because the request is over.
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
