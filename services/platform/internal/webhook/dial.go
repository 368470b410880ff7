package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// errNotPublic is the reason for refusing an address.
var errNotPublic = errors.New("is not a public address, and the operator has not permitted its network (--webhook-networks)")

// special are networks that are not part of the public internet, in addition to those that netip knows:
// provider-shared, documentation, measurement and reserved networks, and networks that map to IPv4 addresses.
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, text := range texts {
		out = append(out, netip.MustParsePrefix(text))
	}
	return out
}

// guard decides which addresses webhooks may have.
type guard struct{ open []netip.Prefix }

func newGuard(networks []string) (guard, error) {
	var g guard
	for _, text := range networks {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return g, fmt.Errorf("webhook-networks: %w", err)
		}
		g.open = append(g.open, prefix.Masked())
	}
	return g, nil
}

// check refuses an address that is neither public nor permitted by the operator.
func (g guard) check(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	for _, prefix := range g.open {
		if prefix.Contains(ip) {
			return nil
		}
	}
	public := ip.IsValid() && ip.IsGlobalUnicast() && !ip.IsPrivate()
	for _, prefix := range special {
		public = public && !prefix.Contains(ip)
	}
	if !public {
		return fmt.Errorf("%s %w", ip, errNotPublic)
	}
	return nil
}

// control checks each address that the dialer is about to connect to, after name resolution. Earlier results of
// name resolution are not used.
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return g.check(to.Addr())
}

func (g guard) dialer() *net.Dialer {
	return &net.Dialer{Timeout: 10 * time.Second, ControlContext: g.control}
}
