package rpc

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

// peerService returns the name of the service at the other end of the connection
// when the contract trusts it with the operation, or "": then the call counts as
// anybody's. A service that may not make a call between services is refused. An edge
// counts only in operations that are there for edges, where no user can be behind it.
func (ch *Chain) peerService(ctx context.Context, m *policy.Method) (string, error) {
	name, edge, err := ch.peerName(ctx)
	switch {
	case err != nil:
		return "", err
	case name == "" || edge && !m.Edge:
		return "", nil
	case edge, m.Public, ch.trusts(name, m):
		return name, nil
	case m.Internal:
		return "", fault.Forbidden(fault.CodeForbidden, "The service "+name+" may not call this operation.")
	}
	return "", nil
}

// peerName returns the name of the service or edge at the other end of the connection,
// or "". Over TLS it refuses clients that are on no list.
func (ch *Chain) peerName(ctx context.Context) (name string, edge bool, err error) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", false, nil
	}
	switch auth := p.AuthInfo.(type) {
	case localAuth:
		return auth.service, auth.service == localEdge, nil
	case credentials.TLSInfo:
		return ch.certificateService(auth)
	}
	return "", false, nil
}

// certificateService looks for the names of a client certificate, which the
// handshake has verified, in the lists. It returns "" for a client that is neither
// service nor edge.
func (ch *Chain) certificateService(info credentials.TLSInfo) (service string, edge bool, err error) {
	known := false
	var names []string
	if chains := info.State.VerifiedChains; len(chains) > 0 {
		names = chains[0][0].DNSNames
		for _, name := range names {
			if service, ok := ch.services[name]; ok {
				return service, false, nil
			}
			if ch.edges[name] {
				return name, true, nil
			}
			known = known || ch.clients[name]
		}
	}
	if !known {
		return "", false, fault.Forbidden(fault.CodeForbidden, fmt.Sprintf("%s none of the names of the certificate (%s) is in "+
			"--rpc-clients, --rpc-services or --rpc-edges of the service.", client.NotPermitted, strings.Join(names, ", ")))
	}
	return "", false, nil
}

// servicesOf returns the names of services by those of their certificates. An entry
// is "service", which is then both, or "service=certificate".
func servicesOf(entries []string) map[string]string {
	out := make(map[string]string, len(entries))
	for _, entry := range entries {
		service, certificate, found := strings.Cut(entry, "=")
		if !found {
			certificate = service
		}
		out[certificate] = service
	}
	return out
}

// localEdge is the edge of a connection inside the process.
const localEdge = "gateway"

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
