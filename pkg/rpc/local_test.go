package rpc_test

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// rawCodec carries bytes unparsed in the unknown fields of an empty message, as the edge does.
type rawCodec struct{}

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.(*emptypb.Empty).ProtoReflect().GetUnknown())}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	v.(*emptypb.Empty).ProtoReflect().SetUnknown(data.Materialize())
	return nil
}

func (rawCodec) Name() string { return "proto" }

func TestAClientMayBringItsOwnCodec(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "in process", rpc.Config{})
	local := f.edge.(*rpc.Local)
	want := &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("q")}
	data, err := proto.Marshal(want)
	require.NoError(t, err)
	ask := &emptypb.Empty{}
	ask.ProtoReflect().SetUnknown(data)

	for name, call := range map[string]func(reply *emptypb.Empty) error{
		"of the connection": func(reply *emptypb.Empty) error {
			return local.Conn("", rawCodec{}).Invoke(f.user(t.Context()), smallMethod, ask, reply)
		},
		"of the call": func(reply *emptypb.Empty) error {
			return local.Invoke(f.user(t.Context()), smallMethod, ask, reply, grpc.ForceCodecV2(rawCodec{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			reply, got := &emptypb.Empty{}, &commonv1.Ref{}
			require.NoError(t, call(reply), name)
			require.NoError(t, proto.Unmarshal(reply.ProtoReflect().GetUnknown(), got))
			assert.True(t, proto.Equal(want, got), name)
		})
	}

	ask.ProtoReflect().SetUnknown([]byte{0xff})
	err = local.Invoke(f.user(t.Context()), smallMethod, ask, &emptypb.Empty{}, grpc.ForceCodecV2(rawCodec{}))
	assert.Equal(t, fault.CodeInternal, fault.FromError(err).Code, "bytes that are not a message")
}

func TestLocalRefusesWhatItCannotFollow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "in process", rpc.Config{})
	_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, "", grpc.CallContentSubtype("json"))
	require.Error(t, err)
	assert.Panics(t, func() {
		f.edge.(*rpc.Local).RegisterService(&grpc.ServiceDesc{HandlerType: (*io.Reader)(nil)}, f.echo)
	})
	var finished error
	_, err = f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "fault"`, grpc.OnFinish(func(err error) { finished = err }))
	require.Error(t, err)
	require.Error(t, finished)
}

func TestMessagesAreNotShared(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "in process", rpc.Config{})
	ask := &commonv1.Ref{Name: proto.String("before")}
	reply := &commonv1.Ref{}
	require.NoError(t, f.edge.Invoke(f.user(t.Context()), smallMethod, ask, reply))
	*ask.Name = "after"
	assert.Equal(t, "before", reply.GetName())
}

// BenchmarkCall passes the whole chain with a remembered token. The access
// log is switched off in one case, as it costs more than everything else.
func BenchmarkCall(b *testing.B) {
	for name, level := range map[string]slog.Level{"logged": slog.LevelInfo, "not logged": slog.LevelError} {
		b.Run(name, func(b *testing.B) {
			local, ctx := benchmarkLocal(b, level)
			ask := &commonv1.Ref{Id: proto.Int64(7), Qualifier: proto.String("a qualifier of 32 bytes, about.")}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				reply := &commonv1.Ref{}
				for pb.Next() {
					if err := local.Invoke(ctx, smallMethod, ask, reply); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func benchmarkLocal(b *testing.B, level slog.Level) (*rpc.Local, context.Context) {
	b.Helper()
	files := policytest.Files(b, contract)
	verifier, token := identity(b)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{
		Log:     slog.New(obs.NewHandler(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: level}))),
		Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clock.System{}, Policies: policy.NewTable(files),
	})
	require.NoError(b, err)
	local := rpc.NewLocal(chain)
	service := newEcho(b, files)
	local.RegisterService(service.describe(), service)
	ctx := metadata.NewOutgoingContext(context.Background(), metadata.Pairs(
		client.HeaderAuthorization, "Bearer "+token, client.HeaderRequestID, "4f9a0d2e-request"))
	return local, ctx
}

var _ encoding.CodecV2 = rawCodec{}
