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

// NotPermitted begins the message of a service to a client that is on none of its
// lists.
const NotPermitted = "This client may not call the service:"

// refusalLasts is for how long a refusal counts. A process that is not ready gets no calls, so
// often none is left whose success would show that the service takes it again.
const refusalLasts = 10 * time.Second

// Peer remembers whether a service refuses this process for its certificate, so that its
// readiness can say so. It is safe for concurrent use.
type Peer struct {
	target string
	clock  clock.Clock
	log    *slog.Logger

	mu  sync.Mutex
	err error
	at  time.Time // of the last refusal
}

// NewPeer makes the Peer of a service, which writes to the log when it begins to refuse
// this process, and when it no longer does.
func NewPeer(target string, by clock.Clock, log *slog.Logger) *Peer {
	return &Peer{target: target, clock: by, log: log}
}

// Check says why the service refused this process in the last ten seconds, or nil. It is nil
// before the first call.
func (p *Peer) Check(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock.Now().Sub(p.at) >= refusalLasts {
		return nil
	}
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
	// A handshake that merely ends says nothing of certificates: the service stops, or a balancer has none to pass it on to.
	refused := said.Code() == codes.PermissionDenied && strings.Contains(said.Message(), NotPermitted) ||
		said.Code() == codes.Unavailable && (strings.Contains(said.Message(), "authentication handshake failed: tls: ") ||
			strings.Contains(said.Message(), "remote error: tls"))
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case refused:
		if p.err == nil {
			p.log.Error("a service refuses this process for its certificate", "service", p.target, "error", said.Message())
		}
		p.err, p.at = errors.New(said.Message()), p.clock.Now()
	case said.Code() != codes.Unavailable && p.err != nil: // It was let in. That nobody responds says nothing.
		p.log.Info("the service no longer refuses this process", "service", p.target)
		p.err = nil
	}
}
