package rpc_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

// invalidCodec sends bytes that are not a message, so that the test sees whether they are decoded.
type invalidCodec struct{ encoding.CodecV2 }

func (invalidCodec) Name() string { return "proto" }

func (invalidCodec) Marshal(any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer([]byte{0xff, 0xff})}, nil
}

func (invalidCodec) Unmarshal(mem.BufferSlice, any) error { return nil }

// A message is decoded only for callers who may make the call.
func TestNothingIsDecodedForUnauthenticatedClients(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, method string
		anybody      bool
		status       int
	}{
		{"no token", askMethod, true, 401},
		{"no permission", writeMethod, false, 403},
		{"between services only", insideMethod, false, 403},
		{"parts without a token", reciteMethod, true, 401},
	}
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				ctx := t.Context()
				if !c.anybody {
					ctx = f.user(ctx)
				}
				err := f.edge.Invoke(ctx, c.method, &emptypb.Empty{}, &emptypb.Empty{}, grpc.ForceCodecV2(invalidCodec{}))
				assert.True(t, fault.HasStatus(err, c.status), "%v", err)
			})
		}
		err := f.edge.Invoke(f.user(t.Context()), askMethod, &emptypb.Empty{}, &emptypb.Empty{}, grpc.ForceCodecV2(invalidCodec{}))
		require.Error(t, err)
		assert.False(t, fault.HasStatus(err, 401) || fault.HasStatus(err, 403), "the user's is decoded: %v", err)
		assert.Nil(t, f.echo.metadata(), "the method was not called")
	})
}

// Clients that may not connect are refused by their headers, before they have sent a
// message.
func TestUnauthenticatedClientsSendNothing(t *testing.T) {
	t.Parallel()
	ca, err := certs.OpenLocalCA(t.TempDir(), time.Now())
	require.NoError(t, err)
	f := newFixture(t, "in process", rpc.Config{})
	server, err := rpc.NewServer(f.chain, certificates(t, ca, "echo").ServerConfig(), false)
	require.NoError(t, err)
	server.RegisterService(f.echo.describe(), f.echo)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener, time.Second) }()
	defer func() { stop(); assert.NoError(t, <-served) }()
	conn := dial(t, listener, certificates(t, ca, "stranger").ClientConfig)
	stream, err := conn.NewStream(f.user(t.Context()), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, askMethod)
	require.NoError(t, err)
	// Nothing was sent, and nothing is needed for the refusal.
	err = stream.RecvMsg(&emptypb.Empty{})
	assert.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
}

// A compressed message is bounded by its size after decompression, which the length prefix does not
// show.
func TestSmallMessagesThatBecomeLargeAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "network", rpc.Config{Sizes: client.Sizes{MaxRequest: 1 << 20}})
	_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "`+strings.Repeat("x", 2<<20)+`"`, grpc.UseCompressor("s2"))
	require.Error(t, err)
	assert.Nil(t, f.echo.metadata(), "the method was not called")
	_, err = f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "`+strings.Repeat("x", 1<<19)+`"`, grpc.UseCompressor("s2"))
	require.NoError(t, err)
}
