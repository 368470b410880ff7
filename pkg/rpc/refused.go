package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Peer remembers whether a service refuses this process for its certificate, so that its
// readiness can say so. It is safe for concurrent use.
type Peer struct {
	target string
	log    *slog.Logger

	mu  sync.Mutex
	err error
}

// NewPeer makes the Peer of a service, which writes to the log when it begins to refuse
// this process, and when it no longer does.
func NewPeer(target string, log *slog.Logger) *Peer { return &Peer{target: target, log: log} }

// Check says why the service refuses this process, or nil. It is nil before the first call.
func (p *Peer) Check(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// watch notes how a call ended.
func (p *Peer) watch(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, conn, opts...)
	p.note(err)
	return err
}

func (p *Peer) note(err error) {
	said := status.Convert(err)
	refused := said.Code() == codes.PermissionDenied && strings.Contains(said.Message(), refusedClient) ||
		said.Code() == codes.Unavailable && (strings.Contains(said.Message(), "authentication handshake failed") ||
			strings.Contains(said.Message(), "remote error: tls"))
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case refused:
		if p.err == nil {
			p.log.Error("a service refuses this process for its certificate", "service", p.target, "error", said.Message())
		}
		p.err = errors.New(said.Message())
	case said.Code() != codes.Unavailable && p.err != nil: // It was let in. That nobody answers says nothing.
		p.log.Info("the service no longer refuses this process", "service", p.target)
		p.err = nil
	}
}

// logEvery is how often refused clients are logged: they try again and again.
const logEvery = 10 * time.Second

// maxStrangers bounds the texts that are remembered.
const maxStrangers = 100

// strangers logs clients that are refused.
type strangers struct {
	clock  clock.Clock
	logged *cache.Cache[string, struct{}]
}

func newStrangers(clk clock.Clock) strangers {
	return strangers{clk, cache.New[string](clk, cache.Config[struct{}]{Entries: maxStrangers})}
}

// log writes a text that was not written a moment ago.
func (s strangers) log(ctx context.Context, log *slog.Logger, text string, more ...any) {
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
		s.chain.strangers.log(context.Background(), s.chain.log, err.Error()+" (--tls-ca names the authorities)",
			"address", conn.RemoteAddr().String())
	}
	return secure, info, err
}

// Clone returns credentials for another server.
func (s serverTLS) Clone() credentials.TransportCredentials {
	return serverTLS{s.TransportCredentials.Clone(), s.chain}
}
