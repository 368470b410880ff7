package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
)

// clientTLS asks for the TLS configuration of each connection.
type clientTLS struct {
	config func() *tls.Config
}

// ClientHandshake runs the TLS handshake.
func (c clientTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return credentials.NewTLS(c.config()).ClientHandshake(ctx, authority, conn)
}

// ServerHandshake always fails: these are the credentials of clients.
func (c clientTLS) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("these are the credentials of a client")
}

// Info returns the name of the protocol.
func (c clientTLS) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone returns credentials for another connection.
func (c clientTLS) Clone() credentials.TransportCredentials { return c }

// OverrideServerName always fails: the target determines the name.
func (c clientTLS) OverrideServerName(string) error {
	return errors.New("the target determines the server name")
}
