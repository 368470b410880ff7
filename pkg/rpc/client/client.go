// Package client is how our services are called over the network: connections, and
// the metadata that travels with requests.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver/dns"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc/compression"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Config says how to reach a service. Zero values mean the defaults.
type Config struct {
	// Target is a name as gRPC resolves it, "dns:///commons:8443".
	Target string
	// TLS returns the client's certificate and the authorities it trusts. It
	// is called for each connection, so that changed certificates are used.
	TLS func() *tls.Config
	// Peer, when it is set, learns how calls end that say something about the
	// certificates of both ends.
	Peer *Peer
	// Insecure permits a connection without TLS, for tests on the loopback.
	Insecure bool
}

// A schedule is some megabytes: with these windows it comes without waiting for
// the receiver again and again, which bounds what waits for a slow one.
const (
	streamWindow = 4 << 20
	connWindow   = 16 << 20
)

// What both ends of a connection agree on.
const (
	// BufferSize is how many bytes one read or write of the operating system moves.
	BufferSize = 128 << 10
	// PingInterval is how often an idle connection is tried, and PingTimeout how long
	// the other end may take to reply.
	PingInterval = 30 * time.Second
	PingTimeout  = 10 * time.Second
)

// Sizes bound messages.
type Sizes struct {
	// MaxRequest is in bytes; 8 MiB.
	MaxRequest int `name:"rpc-max-request" default:"8388608" help:"Largest request in bytes."`
	sizes.Response
}

// WithDefaults returns the sizes with the defaults of what is not set.
func (s Sizes) WithDefaults() Sizes {
	s = defaults.Fill(s)
	s.Response = defaults.Fill(s.Response)
	return s
}

// DefaultSizes returns the sizes that hold unless a service sets others.
func DefaultSizes() Sizes { return defaultSizes }

var defaultSizes = Sizes{}.WithDefaults()

// resolveEvery is how often at most a name is resolved again after a connection ended. The
// library's 30 seconds would leave a caller without a service of which all processes were
// replaced within that time.
const resolveEvery = time.Second

var resolveOften = sync.OnceFunc(func() { dns.SetMinResolutionInterval(resolveEvery) })

// Dial makes a connection to a service; it connects with the first call.
// Calls carry the request id, tenant and token of their context, and their
// errors are *fault.Error.
func Dial(cfg Config, opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	compression.Register()
	resolveOften()
	creds := insecure.NewCredentials()
	switch {
	case cfg.TLS != nil:
		creds = clientTLS{cfg.TLS}
	case !cfg.Insecure:
		return nil, errors.New("a connection needs a TLS configuration")
	}
	if cfg.Peer != nil {
		opts = append(opts, grpc.WithChainUnaryInterceptor(cfg.Peer.watch))
	}
	opts = append([]grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithUnaryInterceptor(outgoingUnary),
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig":[{"round_robin":{}}]}`),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallSendMsgSize(defaultSizes.MaxRequest),
			grpc.MaxCallRecvMsgSize(defaultSizes.MaxResponse),
		),
		grpc.WithInitialWindowSize(streamWindow),
		grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithReadBufferSize(BufferSize),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: PingInterval, Timeout: PingTimeout}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
	}, opts...)
	conn, err := grpc.NewClient(cfg.Target, opts...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", cfg.Target, err)
	}
	return conn, nil
}

func outgoingUnary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	receive := parts.ReceiverOf(ctx)
	ctx = metadata.NewOutgoingContext(ctx, Metadata(ctx))
	if receive != nil {
		return Error(parts.Call(ctx, receive, method, req, conn, defaultSizes.MaxResponse, opts))
	}
	return Error(invoke(ctx, method, req, reply, conn, opts...))
}

// Metadata returns the metadata of a call: what its context holds already,
// and what the work of the context hands on.
func Metadata(ctx context.Context) metadata.MD {
	md, ok := metadata.FromOutgoingContext(ctx)
	if !ok {
		md = make(metadata.MD, 4)
	}
	add := func(name, value string) {
		if _, ok := md[name]; !ok && value != "" {
			md[name] = []string{value}
		}
	}
	request := obs.RequestFrom(ctx)
	add(HeaderRequestID, request.ID)
	add(HeaderTraceparent, request.Traceparent)
	if token := authn.Token(ctx); token != "" {
		add(HeaderAuthorization, "Bearer "+token)
	}
	add(HeaderPermission, authn.Permission(ctx))
	if id, ok := tenant.From(ctx); ok {
		add(HeaderTenant, strconv.FormatInt(id, 10))
	}
	return md
}

// Error makes an error of the other side ours again.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return fault.FromError(err)
}
