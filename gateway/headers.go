package gateway

import (
	"context"
	"net/http"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

const (
	maxLanguageHeader = 256
	bearer            = "bearer"
)

// requestOf takes over a well-formed request id and trace, or makes an id.
func requestOf(r *http.Request) obs.Request {
	req := obs.Request{ID: r.Header.Get("X-Request-Id")}
	if !obs.ValidRequestID(req.ID) {
		req.ID = obs.NewRequestID()
	}
	if trace := r.Header.Get("Traceparent"); obs.ValidTraceparent(trace) {
		req.Traceparent = trace
	}
	return req
}

// passedHeaders returns the headers that the runtime may see. It passes on
// the token and the forwarding headers by itself, so those of strangers go.
func passedHeaders(r *http.Request, trusted bool) http.Header {
	h := make(http.Header, 4)
	if token := token(r.Header); token != "" {
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

// token returns the access token of a request, with or without the scheme in
// front of it, or "" when there is none or more than one.
func token(h http.Header) string {
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

// metadataOf is what a service gets to know beside the token.
func metadataOf(ctx context.Context, r *http.Request) metadata.MD {
	c := callOf(ctx)
	if c == nil {
		return nil
	}
	md := metadata.MD{client.HeaderRequestID: {c.r.id.ID}}
	if c.r.id.Traceparent != "" {
		md[client.HeaderTraceparent] = []string{c.r.id.Traceparent}
	}
	if language := r.Header.Get("Accept-Language"); language != "" && printable(language) {
		md["accept-language"] = []string{language}
	}
	return md
}

// printable reports whether text may be a value of gRPC metadata.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
