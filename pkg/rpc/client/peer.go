package client

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// NotPermitted begins the message of a service to a client that is on none of its
// lists.
const NotPermitted = "This client may not call the service:"

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
	refused := said.Code() == codes.PermissionDenied && strings.Contains(said.Message(), NotPermitted) ||
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
	case said.Code() != codes.Unavailable && p.err != nil: // It was let in. That nobody responds says nothing.
		p.log.Info("the service no longer refuses this process", "service", p.target)
		p.err = nil
	}
}
