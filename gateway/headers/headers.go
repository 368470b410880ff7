// Package headers reads what the headers of HTTP requests say, and from whom they are
// believed.
package headers

import (
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/obs"
)

const (
	maxLanguageHeader = 256
	bearer            = "bearer"
)

// Request takes over a well-formed request id and trace, or makes an id.
func Request(r *http.Request) obs.Request {
	req := obs.Request{ID: r.Header.Get("X-Request-Id")}
	if !obs.ValidRequestID(req.ID) {
		req.ID = obs.NewRequestID()
	}
	if trace := r.Header.Get("Traceparent"); obs.ValidTraceparent(trace) {
		req.Traceparent = trace
	}
	return req
}

// Passed returns the headers that the runtime may see. It passes on
// the token and the forwarding headers by itself, so those of strangers go.
func Passed(r *http.Request, trusted bool) http.Header {
	h := make(http.Header, 4)
	if token := Token(r.Header); token != "" {
		h["Authorization"] = []string{"Bearer " + token}
	}
	if trusted {
		for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host"} {
			if v := r.Header.Values(name); len(v) > 0 {
				h[name] = v
			}
		}
	}
	if language := r.Header.Get("Accept-Language"); len(language) <= maxLanguageHeader {
		h["Accept-Language"] = []string{language}
	}
	return h
}

// Token returns the access token of a request, with or without the scheme in
// front of it, or "" when there is none or more than one.
func Token(h http.Header) string {
	values := h["Authorization"]
	if len(values) != 1 {
		return ""
	}
	value := strings.TrimSpace(values[0])
	if scheme, rest, found := strings.Cut(value, " "); found {
		value = strings.TrimSpace(rest)
		if !strings.EqualFold(scheme, bearer) || strings.Contains(value, " ") {
			return ""
		}
	} else if strings.EqualFold(value, bearer) {
		return ""
	}
	return value
}

// Printable reports whether text may be a value of gRPC metadata.
func Printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
