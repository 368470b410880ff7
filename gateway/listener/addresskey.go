package listener

import (
	"net"
	"net/netip"
)

// AddressKey returns the key under which an address is counted, with its port or without: of IPv6 the
// network of one site, /64.
func AddressKey(from string) string {
	if host, _, err := net.SplitHostPort(from); err == nil {
		from = host
	}
	address, err := netip.ParseAddr(from)
	if err != nil {
		return "unknown"
	}
	if address = address.Unmap().WithZone(""); address.Is4() {
		return address.String()
	}
	network, _ := address.Prefix(64)
	return network.Addr().String()
}
