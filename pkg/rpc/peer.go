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

// peerService returns the name of the calling service if the contract trusts it with the operation.
// Otherwise it returns "", and the call has no privileges. A service that may not make a call
// between services gets an error. An edge counts as a service only in operations that are open to
// edges; those have no user.
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

// peerName returns the name of the calling service or edge, or "". Over TLS it rejects clients that
// are on no list.
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

// certificateService looks up the names of a verified client certificate in the lists. It returns
// "" for a client that is neither a service nor an edge.
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

// servicesByCertificate maps certificate names to service names. An entry is "service", which is
// then both names, or "service=certificate".
func servicesByCertificate(entries []string) map[string]string {
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

// localEdge is the service name of the edge inside the process.
const localEdge = "gateway"

// localAuth is the identity of the caller of a connection inside the process.
type localAuth struct {
	service string
}

// AuthType returns the kind of connection.
func (localAuth) AuthType() string { return "in-process" }

// localAddr is the address of both ends of a connection inside the process.
type localAddr struct{}

// Network returns the kind of connection.
func (localAddr) Network() string { return "in-process" }

// String returns the address for the log.
func (localAddr) String() string { return "in-process" }
