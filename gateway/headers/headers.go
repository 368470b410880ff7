// Package headers reads the headers of HTTP requests, and decides which senders to trust.
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

// Request returns the request id and trace of a request if they are well-formed, or a new id.
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

// Metadata returns the headers that the edge passes to the services as metadata: the token, the host, the
// client address and the language. It includes forwarded headers only if trusted is set.
func Metadata(r *http.Request, trusted bool) metadata.MD {
	md := make(metadata.MD, 8) // room for entries that the caller adds
	add := func(name, value string) {
		if value != "" && Printable(value) {
			md[name] = []string{value}
		}
	}
	if token := Token(r.Header); token != "" {
		add(client.HeaderAuthorization, "Bearer "+token)
	}
	var from []string
	if trusted {
		from = r.Header.Values("X-Forwarded-For")
	}
	add("x-forwarded-host", Host(r, trusted))
	if address, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		from = append(slices.Clip(from), address)
	}
	add("x-forwarded-for", strings.Join(from, ", "))
	if language := r.Header.Get("Accept-Language"); len(language) <= maxLanguageHeader {
		add("accept-language", language)
	}
	return md
}

// Host returns the host that the client named, with its port if it is not the usual one. It believes the
// forwarded host only if trusted is set.
func Host(r *http.Request, trusted bool) string {
	if named := r.Header.Get("X-Forwarded-Host"); trusted && named != "" && Printable(named) {
		return named
	}
	return r.Host
}

// Address returns the address of a request without its query: absolute, unless the host that the client named
// could be misread within a header.
func Address(r *http.Request, trusted bool) string {
	path := r.URL.EscapedPath()
	host := Host(r, trusted)
	if host == "" || strings.ContainsFunc(host, notOfHost) {
		return path
	}
	return "https://" + host + path
}

// notOfHost reports whether a character does not belong into the name of a host with a port.
func notOfHost(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("-._:[]", r)
}

// Token returns the access token of a request, with or without the scheme in front of it. It returns "" if
// there is no token or more than one.
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

// Printable reports whether text is valid as a value of gRPC metadata.
func Printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}
