package listener

import (
	"net"
	"net/netip"
)

// AddressKey returns the key that counts an address. The address may have a port. For IPv6 the key
// is the /64 network, which is the network of one site.
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
