package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
)

// clientTLS makes a TLS configuration for each connection.
type clientTLS struct {
	config func() *tls.Config
}

// ClientHandshake makes a connection secure.
func (c clientTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(c.config()).ClientHandshake(ctx, authority, conn)
}

// ServerHandshake refuses: these are the credentials of clients.
func (c clientTLS) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("these are the credentials of a client")
}

// Info names the protocol.
func (c clientTLS) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone returns credentials for another connection.
func (c clientTLS) Clone() credentials.TransportCredentials { return c }

// OverrideServerName refuses: the name is that of the target.
func (c clientTLS) OverrideServerName(string) error {
	return errors.New("the server name is that of the target")
}
