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

// logEvery is the time between two log lines about the same rejection: clients retry again and
// again.
const logEvery = 10 * time.Second

// maxRejectedClients bounds the texts in memory.
const maxRejectedClients = 100

// rejectedClients logs rejected clients.
type rejectedClients struct {
	clock  clock.Clock
	logged *cache.Cache[string, struct{}]
}

func newRejectedClients(clk clock.Clock) rejectedClients {
	return rejectedClients{clk, cache.New[string](clk, cache.Config[struct{}]{Entries: maxRejectedClients})}
}

// log writes a text, unless it wrote the same text within logEvery.
func (s rejectedClients) log(ctx context.Context, log *slog.Logger, text string, more ...any) {
	if s.logged.PutNew(text, struct{}{}, s.clock.Now().Add(logEvery)) {
		log.WarnContext(ctx, "a client was rejected because of its certificate", append([]any{"error", text}, more...)...)
	}
}

// serverTLS logs failed handshakes. Otherwise only the client would know of them.
type serverTLS struct {
	credentials.TransportCredentials
	chain *Chain
}

// ServerHandshake runs the TLS handshake.
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
