// Package client calls our services over the network: it has the connections, and the names of the
// metadata that requests carry.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
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
	_ "github.com/rotaloom/rotaloom/pkg/rpc/compression" // Large responses are compressed with it.
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Config holds the address and credentials of a service. Zero values mean the defaults.
type Config struct {
	// Target is a name that gRPC resolves, such as "dns:///commons:8443".
	Target string
	// TLS returns the client's certificate and its trusted authorities. It is called for each
	// connection, so that renewed certificates take effect.
	TLS func() *tls.Config
	// Peer, if set, watches calls for errors that concern the certificates of both ends.
	Peer *Peer
	// Insecure permits a connection without TLS, for tests on the loopback.
	Insecure bool
}

// A schedule takes some megabytes. With these windows it arrives without repeated waits for the
// receiver. They also bound the data that waits for a slow receiver.
const (
	streamWindow = 4 << 20
	connWindow   = 16 << 20
)

// Values that both ends of a connection share.
const (
	// BufferSize is the number of bytes of one read or write system call.
	BufferSize = 128 << 10
	// PingInterval is the time between pings on an idle connection, and PingTimeout the time limit
	// for the reply.
	PingInterval = 30 * time.Second
	PingTimeout  = 10 * time.Second
)

// Sizes bounds the sizes of messages.
type Sizes struct {
	// MaxRequest is in bytes; 8 MiB.
	MaxRequest int `name:"rpc-max-request" default:"8388608" help:"Largest request in bytes."`
	sizes.Response
}

// WithDefaults returns the sizes, with defaults for zero fields.
func (s Sizes) WithDefaults() Sizes {
	s = defaults.Fill(s)
	s.Response = defaults.Fill(s.Response)
	return s
}

// DefaultSizes returns the sizes of services that set none.
func DefaultSizes() Sizes { return defaultSizes }

var defaultSizes = Sizes{}.WithDefaults()

// resolveEvery is the shortest time between two resolutions of a name after connections end. The
// library's 30 seconds would leave callers without a service if all its processes are replaced
// within that time.
const resolveEvery = time.Second

// gRPC reads the interval without a lock, so that it may be set before main starts only.
func init() { dns.SetMinResolutionInterval(resolveEvery) }

// Dial returns a connection to a service, which connects with the first call. Calls carry the
// request id, tenant and token of their context. Their errors are *fault.Error.
func Dial(cfg Config, opts ...grpc.DialOption) (*grpc.ClientConn, error) {
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

// Metadata returns the metadata of a call: the outgoing metadata of its context, with the request
// id, trace, token, permission and tenant of the context.
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

// Error converts an error of the other side back into a fault.
func Error(err error) error {
	if err == nil {
		return nil
	}
	return fault.FromError(err)
}
