// Package headers reads what the headers of HTTP requests say, and from whom they are
// believed.
package headers

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
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

// Passed returns what of the headers of a request goes to the services, as their
// metadata: the token, who asks and under which name of ours, and the language. What
// proxies say is passed on when they are trusted.
func Passed(r *http.Request, trusted bool) metadata.MD {
	md := make(metadata.MD, 8) // There is room for what the caller adds.
	add := func(name, value string) {
		if value != "" && Printable(value) {
			md[name] = []string{value}
		}
	}
	if token := Token(r.Header); token != "" {
		add(client.HeaderAuthorization, "Bearer "+token)
	}
	host := r.Host
	var from []string
	if trusted {
		if named := r.Header.Get("X-Forwarded-Host"); named != "" && Printable(named) {
			host = named
		}
		from = r.Header.Values("X-Forwarded-For")
	}
	add("x-forwarded-host", host)
	if address, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		from = append(slices.Clip(from), address)
	}
	add("x-forwarded-for", strings.Join(from, ", "))
	if language := r.Header.Get("Accept-Language"); len(language) <= maxLanguageHeader {
		add("accept-language", language)
	}
	return md
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
