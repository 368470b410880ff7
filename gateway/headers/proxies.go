package headers

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/rotaloom/rotaloom/gateway/listener"
)

// Proxies are the addresses of the proxies that are trusted.
type Proxies []netip.Prefix

// Trust reports whether the request comes from a trusted proxy.
func (p Proxies) Trust(r *http.Request) bool {
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

// Address returns the key of the client's address, as the last trusted proxy reported it.
func (p Proxies) Address(r *http.Request) string {
	from := r.RemoteAddr
	if p.Trust(r) {
		if chain := r.Header.Values("X-Forwarded-For"); len(chain) > 0 {
			last := chain[len(chain)-1]
			from = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
		}
	}
	return listener.AddressKey(from)
}

// HTTPS reports whether a request arrived over TLS, either directly or through a trusted proxy.
func (p Proxies) HTTPS(r *http.Request) bool {
	return r.TLS != nil || p.Trust(r) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
