package gateway

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// proxies are the addresses of the proxies that are trusted.
type proxies []netip.Prefix

// trust reports whether the request comes from one of them.
func (p proxies) trust(r *http.Request) bool {
	if len(p) == 0 {
		return false
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	for _, prefix := range p {
		if prefix.Contains(from.Addr().Unmap()) {
			return true
		}
	}
	return false
}

// address is where the request comes from, as the last trusted proxy saw
// it.
func (p proxies) address(r *http.Request) string {
	from := r.RemoteAddr
	if p.trust(r) {
		if chain := r.Header.Values("X-Forwarded-For"); len(chain) > 0 {
			last := chain[len(chain)-1]
			from = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		}
	}
	return listener.Site(from)
}

// requireTLS refuses what did not come over TLS, to us or to a proxy that we
// trust.
func (p proxies) requireTLS(_ context.Context, _ *response, r *request) *fault.Error {
	if r.TLS != nil || p.trust(r.Request) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return nil
	}
	return httpsOnly()
}

func httpsOnly() *fault.Error {
	return fault.Forbidden(fault.CodeHTTPSOnly, "This service is only available over HTTPS.")
}
