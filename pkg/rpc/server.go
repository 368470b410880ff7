package rpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

const (
	// maxAge makes clients reconnect now and then, so that calls spread to replicas that started
	// later.
	maxAge      = 30 * time.Minute
	maxAgeGrace = 5 * time.Minute
	maxIdle     = 15 * time.Minute

	maxStreams = 1024
	// maxHeaderList bounds the metadata of a call in bytes: a token has 16 KiB at most.
	maxHeaderList = 64 << 10
)

// Server serves a chain over the network.
type Server struct {
	*grpc.Server
	// Health holds the responses of the gRPC health service.
	Health *health.Server
	chain  *Chain
	// parts holds the methods that are served as streams.
	parts map[string]bool
}

// NewServer returns a server whose calls pass the chain. The TLS configuration must require client
// certificates. Without a configuration NewServer fails, unless insecure is set, which is for tests
// on the loopback.
func NewServer(chain *Chain, tlsConfig *tls.Config, insecure bool) (*Server, error) {
	inParts := map[string]bool{}
	opts := []grpc.ServerOption{
		grpc.InTapHandle(chain.tap),
		grpc.StreamInterceptor(onlyParts(inParts)),
		grpc.MaxRecvMsgSize(chain.cfg.MaxRequest),
		grpc.MaxSendMsgSize(chain.cfg.MaxResponse),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaderList),
		grpc.WriteBufferSize(client.BufferSize),
		grpc.ForceServerCodecV2(parts.NewCodec()),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     maxIdle,
			MaxConnectionAge:      maxAge,
			MaxConnectionAgeGrace: maxAgeGrace,
			Time:                  client.PingInterval,
			Timeout:               client.PingTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             client.PingInterval / 2,
			PermitWithoutStream: true,
		}),
	}
	switch {
	case tlsConfig != nil:
		if err := checkTLS(tlsConfig); err != nil {
			return nil, err
		}
		opts = append(opts, grpc.Creds(serverTLS{credentials.NewTLS(tlsConfig), chain}))
	case !insecure:
		return nil, errors.New("a server needs a TLS configuration")
	}
	s := &Server{Server: grpc.NewServer(opts...), Health: health.NewServer(), chain: chain, parts: inParts}
	healthv1.RegisterHealthServer(s, s.Health)
	return s, nil
}

// tap rejects clients that may not connect as soon as the headers of a call have arrived, before
// the server receives the request. It runs on the goroutine that reads the whole connection, so it
// must not wait. The chain checks the token, before it decodes the message.
func (ch *Chain) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if _, _, err := ch.peerName(ctx); err != nil {
		refused := fault.FromError(err).GRPCStatus()
		ch.rejected.log(ctx, ch.log, refused.Message())
		if m := ch.knownMethod(info.FullMethodName); m != nil {
			ch.metrics.count(m, refused.Code())
		}
		return nil, refused.Err()
	}
	return ctx, nil
}

func checkTLS(cfg *tls.Config) error {
	if cfg.MinVersion < tls.VersionTLS13 {
		return errors.New("the TLS configuration of a server must ask for TLS 1.3")
	}
	if cfg.ClientAuth != tls.RequireAndVerifyClientCert {
		return errors.New("the TLS configuration of a server must ask for client certificates")
	}
	return nil
}

// Run serves a listener until ctx ends. It then gives the running calls up to grace to end, and
// cuts off the others.
func (s *Server) Run(ctx context.Context, listener net.Listener, grace time.Duration) error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.Health.Shutdown()
	cut := time.AfterFunc(grace, s.Stop)
	defer cut.Stop()
	s.GracefulStop()
	return <-served
}

// RegisterService adds a service behind the chain. Call it before Run.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.Server.RegisterService(s.inParts(s.chain.withChain(desc)), impl)
}

// onlyParts is the interceptor of streams. Our contracts have no streams except responses in parts,
// and these pass the chain of calls.
func onlyParts(inParts map[string]bool) grpc.StreamServerInterceptor {
	return func(impl any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if !inParts[info.FullMethod] {
			return status.Error(codes.Unimplemented, "streams are not served: "+info.FullMethod)
		}
		return handle(impl, stream)
	}
}
