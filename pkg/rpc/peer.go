package rpc

import (
	"context"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// peerService answers the name of the trusted service at the other end of the
// connection, or "" when there is none. An edge is one only in operations that
// are there for edges, where no user can be behind it. Over TLS it refuses
// clients that are not on the list.
func (ch *Chain) peerService(ctx context.Context, forEdges bool) (string, error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", nil
	}
	switch auth := p.AuthInfo.(type) {
	case localAuth:
		return auth.service, nil
	case credentials.TLSInfo:
		return ch.certificateService(auth, forEdges)
	default:
		return "", nil
	}
}

// certificateService looks for the names of a client certificate, which the
// handshake has verified, in the lists.
func (ch *Chain) certificateService(info credentials.TLSInfo, forEdges bool) (string, error) {
	known := false
	if chains := info.State.VerifiedChains; len(chains) > 0 {
		for _, name := range chains[0][0].DNSNames {
			if ch.services[name] || forEdges && ch.edges[name] {
				return name, nil
			}
			known = known || ch.clients[name] || ch.edges[name]
		}
	}
	if !known {
		return "", fault.Forbidden(fault.CodeForbidden, "This client may not call the service.")
	}
	return "", nil
}

// localAuth is what a connection inside the process knows of its caller.
type localAuth struct {
	service string
}

// AuthType names the kind of connection.
func (localAuth) AuthType() string { return "in-process" }

// localAddr is the address of both ends of a connection inside the process.
type localAddr struct{}

// Network names the kind of connection.
func (localAddr) Network() string { return "in-process" }

// String is the address in the log.
func (localAddr) String() string { return "in-process" }
