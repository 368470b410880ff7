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
	"github.com/rotaloom/rotaloom/pkg/rpc/compression"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

const (
	// maxAge makes clients connect again now and then, so that calls spread
	// over replicas that came later.
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
	// Health is what the gRPC health service returns.
	Health *health.Server
	chain  *Chain
	// parts are the methods that are served as streams.
	parts map[string]bool
}

// NewServer makes a server whose calls pass the chain. The TLS configuration
// must ask for client certificates; without one the server refuses to be made
// unless insecure is set, which is for tests on the loopback.
func NewServer(chain *Chain, tlsConfig *tls.Config, insecure bool) (*Server, error) {
	compression.Register()
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

// tap refuses clients that may not connect as soon as the headers of a call are there:
// nothing that they send is received. It runs where the whole connection is read, so it
// must not wait; the token is looked at by the chain, before the message is decoded.
func (ch *Chain) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if _, _, err := ch.peerName(ctx); err != nil {
		refused := fault.FromError(err).GRPCStatus()
		ch.rejected.log(ctx, ch.log, refused.Message())
		if m := ch.known(info.FullMethodName); m != nil {
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

// Run serves a listener until ctx ends. It then lets the calls that run come
// to their end for at most grace, and cuts off those that do not.
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

// RegisterService adds a service, whose methods pass the chain; it must happen before Run.
func (s *Server) RegisterService(desc *grpc.ServiceDesc, impl any) {
	s.Server.RegisterService(s.inParts(s.chain.served(desc)), impl)
}

// onlyParts is the chain of streams: our contracts have none but responses in
// parts, which pass the chain of calls.
func onlyParts(inParts map[string]bool) grpc.StreamServerInterceptor {
	return func(impl any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		if !inParts[info.FullMethod] {
			return status.Error(codes.Unimplemented, "streams are not served: "+info.FullMethod)
		}
		return handle(impl, stream)
	}
}
