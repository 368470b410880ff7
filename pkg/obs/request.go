// Package obs makes services observable: log lines with request and tenant, a metrics registry, and
// a type for secret texts.
package obs

import (
	"context"
	"strings"

	"github.com/google/uuid"
)

// Request identifies a request in the log of every process that it reaches.
type Request struct {
	// ID is the request id; see ValidRequestID.
	ID string
	// Traceparent is the W3C trace context in text form, or "".
	Traceparent string
}

type requestKey struct{}

// WithRequest returns a context that belongs to the given request.
func WithRequest(ctx context.Context, r Request) context.Context {
	return context.WithValue(ctx, requestKey{}, r)
}

// RequestFrom returns the request of a context, or the zero Request.
func RequestFrom(ctx context.Context) Request {
	r, _ := ctx.Value(requestKey{}).(Request)
	return r
}

// NewRequestID returns a new request id: a random UUID.
func NewRequestID() string { return uuid.NewString() }

// ValidRequestID reports whether an id from outside may be used: 8 to 64 letters, digits, dots,
// hyphens and underscores.
func ValidRequestID(id string) bool {
	if len(id) < 8 || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("._-", rune(c)) {
			return false
		}
	}
	return true
}

// ValidTraceparent reports whether text has the form of a W3C traceparent of
// version 00.
func ValidTraceparent(text string) bool {
	if len(text) != 55 || text[:3] != "00-" || text[35] != '-' || text[52] != '-' {
		return false
	}
	return isHex(text[3:35]) && isHex(text[36:52]) && isHex(text[53:])
}

// TraceID returns the trace id of the request, or "".
func (r Request) TraceID() string {
	if !ValidTraceparent(r.Traceparent) {
		return ""
	}
	return r.Traceparent[3:35]
}

func isHex(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
