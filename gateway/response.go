package gateway

import (
	"net/http"
	"strconv"

	"github.com/rotaloom/rotaloom/gateway/compression"
	"github.com/rotaloom/rotaloom/gateway/errorbody"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	contentType = "application/json;charset=utf-8"
	// retryAfter is the Retry-After in seconds of errors that do not set one.
	retryAfter = 5
)

// response is the ResponseWriter of all handlers, including the generated code.
type response struct {
	http.ResponseWriter
	body *listener.DeadlineWriter // writes to the same ResponseWriter

	success   int  // status of a success
	oauth     bool // whether errors have the OAuth form
	items     bool // whether errors are a list of items
	about     errorbody.Context
	recording *recording // buffers the response to a request with an Idempotency-Key, or nil

	status    int   // the written status, or 0
	truncated bool  // whether the connection must be cut off, because the response is incomplete
	broken    bool  // whether a write failed
	cause     error // of an error, for the log
}

// Header returns the headers of the response. After the status they are fixed, and changes have no effect: the
// generated code sets the length and the type of each part, also when an earlier part waits for compression.
func (w *response) Header() http.Header {
	if w.status != 0 && !w.recording.holds() {
		return http.Header{}
	}
	return w.ResponseWriter.Header()
}

// begin sets the headers of every response.
func (w *response) begin(requestID string) {
	w.about.RequestID = requestID
	h := w.Header()
	h["X-Request-Id"] = []string{requestID}
	h["Kronos-Tid"] = []string{requestID}
	h["Strict-Transport-Security"] = []string{"max-age=31536000"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
}

// WriteHeader writes the status, once.
func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if !w.recording.holds() {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write writes the body of a success, and first the status if that is not yet written.
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		if w.success == http.StatusNoContent {
			w.Header().Del("Content-Type")
			w.Header().Del("Content-Length")
		}
		w.WriteHeader(w.success)
	}
	if w.status == http.StatusNoContent {
		return len(p), nil
	}
	if w.recording.take(p) {
		return len(p), nil
	}
	n, err := w.body.Write(p)
	w.broken = w.broken || err != nil
	return n, err
}

// fail writes an error. If a part of a success is already written, it cuts the response off, so that the client
// does not take it for complete.
func (w *response) fail(f *fault.Error) {
	w.cause = f
	if w.recording.holds() {
		w.recording.drop()
	}
	if w.status != 0 {
		w.truncated = true
		return
	}
	status := f.Status
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Del("Content-Length")
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="rotaloom"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		seconds := f.RetrySeconds()
		if seconds == 0 {
			seconds = retryAfter
		}
		h.Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	body := w.errorBody(f)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// privateCaching is the Cache-Control of all responses that need a token. They may contain personal data, which
// no cache may store. Do not modify it.
var privateCaching = []string{"no-store"}

// noStore sets the headers of responses with secrets.
func noStore(h http.Header) {
	compression.Forbid(h)
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
}

// errorBody returns the body of an error in the form of the operation.
func (w *response) errorBody(f *fault.Error) []byte {
	switch {
	case w.oauth:
		noStore(w.Header())
		return w.about.OAuth(f)
	case w.items:
		return w.about.Items(f)
	}
	return w.about.JSON(f)
}
