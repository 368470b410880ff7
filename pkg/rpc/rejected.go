package rpc

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// logEvery is how often refused clients are logged: they try again and again.
const logEvery = 10 * time.Second

// maxRejectedClients bounds the texts that are remembered.
const maxRejectedClients = 100

// rejectedClients logs clients that are refused.
type rejectedClients struct {
	clock  clock.Clock
	logged *cache.Cache[string, struct{}]
}

func newRejectedClients(clk clock.Clock) rejectedClients {
	return rejectedClients{clk, cache.New[string](clk, cache.Config[struct{}]{Entries: maxRejectedClients})}
}

// log writes a text that was not written a moment ago.
func (s rejectedClients) log(ctx context.Context, log *slog.Logger, text string, more ...any) {
	if s.logged.PutNew(text, struct{}{}, s.clock.Now().Add(logEvery)) {
		log.WarnContext(ctx, "a client was refused for its certificate", append([]any{"error", text}, more...)...)
	}
}

// serverTLS logs the handshakes that fail: only the other end would know of them.
type serverTLS struct {
	credentials.TransportCredentials
	chain *Chain
}

// ServerHandshake makes a connection secure.
func (s serverTLS) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := s.TransportCredentials.ServerHandshake(conn)
	if err != nil && strings.Contains(err.Error(), "certificate") {
		s.chain.rejected.log(context.Background(), s.chain.log, err.Error()+" (--tls-ca names the authorities)",
			"address", conn.RemoteAddr().String())
	}
	return secure, info, err
}

// Clone returns credentials for another server.
func (s serverTLS) Clone() credentials.TransportCredentials {
	return serverTLS{s.TransportCredentials.Clone(), s.chain}
}
