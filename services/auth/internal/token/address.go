package token

import (
	"context"
	"net"
	"strings"

	"google.golang.org/grpc/metadata"
)

// addressHeader lists the addresses through which a request came. The edge appends its caller's address, and
// keeps earlier ones only from trusted proxies.
const addressHeader = "x-forwarded-for"

// callerAddress returns the address of the caller as the trusted proxy or else the edge saw it, or "".
func callerAddress(ctx context.Context) string {
	values := metadata.ValueFromIncomingContext(ctx, addressHeader)
	if len(values) == 0 {
		return ""
	}
	hops := strings.Split(values[len(values)-1], ",")
	address := strings.TrimSpace(hops[max(len(hops)-2, 0)])
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return address
}
