package token

import (
	"context"
	"net"
	"strings"

	"google.golang.org/grpc/metadata"
)

// addressHeader carries the addresses that a request came by: the edge adds the
// one that called it, and leaves those before it only when a trusted proxy sent
// them.
const addressHeader = "x-forwarded-for"

// addressOf returns the address of the caller, or "": what the trusted proxy
// saw, or else what the edge saw.
func addressOf(ctx context.Context) string {
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
