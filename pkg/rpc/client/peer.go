package client

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// NotPermitted begins the message that a service sends to clients that are on none of its lists.
const NotPermitted = "This client may not call the service:"

// rejectionLasts is how long a rejection counts. A process that is not ready gets no calls, so
// often no later success would show that the service accepts the process again.
const rejectionLasts = 10 * time.Second

// Peer remembers whether a service rejects this process because of its certificate, so that
// readiness can report it. It is safe for concurrent use.
type Peer struct {
	target string
	clock  clock.Clock
	log    *slog.Logger

	mu  sync.Mutex
	err error
	at  time.Time // time of the last rejection
}

// NewPeer returns the Peer of a service. It logs when the service begins to reject this process,
// and when it stops doing so.
func NewPeer(target string, by clock.Clock, log *slog.Logger) *Peer {
	return &Peer{target: target, clock: by, log: log}
}

// Check returns the reason if the service rejected this process in the last ten seconds, or nil. It
// returns nil before the first call.
func (p *Peer) Check(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock.Now().Sub(p.at) >= rejectionLasts {
		return nil
	}
	return p.err
}

// watch records how a call ended.
func (p *Peer) watch(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	err := invoke(ctx, method, req, reply, conn, opts...)
	p.note(err)
	return err
}

func (p *Peer) note(err error) {
	said := status.Convert(err)
	// A handshake that merely ends says nothing about certificates: the service is stopping, or a
	// balancer has no instance for it.
	refused := said.Code() == codes.PermissionDenied && strings.Contains(said.Message(), NotPermitted) ||
		said.Code() == codes.Unavailable && (strings.Contains(said.Message(), "authentication handshake failed: tls: ") ||
			strings.Contains(said.Message(), "remote error: tls"))
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case refused:
		if p.err == nil {
			p.log.Error("a service rejects this process because of its certificate", "service", p.target, "error", said.Message())
		}
		p.err, p.at = errors.New(said.Message()), p.clock.Now()
	case said.Code() != codes.Unavailable && p.err != nil: // The service accepted the call. An unreachable service proves nothing.
		p.log.Info("the service no longer rejects this process", "service", p.target)
		p.err = nil
	}
}
