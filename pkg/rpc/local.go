package rpc

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// Local serves a chain inside the process. Services register with it as with a gRPC server, and it
// is a connection to them. A call passes the chain, and is encoded and decoded as over the network:
// neither side sees the other's messages, context values or errors. A call returns when its handler
// does. It runs in the same goroutine, unless the response comes in parts.
type Local struct {
	LocalConn

	chain *Chain

	mu      sync.RWMutex
	methods map[string]localMethod
}

type localMethod struct {
	impl   any
	handle grpc.MethodHandler
	stream bool
}

// LocalConn is a connection to a Local. It is safe for concurrent use.
type LocalConn struct {
	local *Local
	codec encoding.CodecV2
	peer  *peer.Peer
}

var (
	_ grpc.ServiceRegistrar    = (*Local)(nil)
	_ grpc.ClientConnInterface = (*Local)(nil)
	_ grpc.ClientConnInterface = (*LocalConn)(nil)
)

// NewLocal returns a Local without services. As a connection, it has no identity, like the edge.
func NewLocal(chain *Chain) *Local {
	l := &Local{chain: chain, methods: map[string]localMethod{}}
	l.LocalConn = *l.Conn("", nil)
	return l
}

// Conn returns another connection: for a trusted service, which may then call for itself without a
// user, or without an identity if service is "". A nil codec means the protobuf codec.
func (l *Local) Conn(service string, codec encoding.CodecV2) *LocalConn {
	if codec == nil {
		codec = encoding.GetCodecV2(protocodec.Name)
	}
	return &LocalConn{
		local: l,
		codec: codec,
		peer:  &peer.Peer{Addr: localAddr{}, LocalAddr: localAddr{}, AuthInfo: localAuth{service}},
	}
}

// RegisterService adds a service, like grpc.Server. It panics if impl does not implement the
// service; generated code makes that impossible.
func (l *Local) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if want := reflect.TypeOf(desc.HandlerType).Elem(); !reflect.TypeOf(impl).Implements(want) {
		panic(fmt.Sprintf("rpc: %T does not implement %s", impl, want))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.chain.withChain(desc).Methods {
		l.methods["/"+desc.ServiceName+"/"+m.MethodName] = localMethod{impl: impl, handle: m.Handler}
	}
	for _, s := range desc.Streams {
		l.methods["/"+desc.ServiceName+"/"+s.StreamName] = localMethod{stream: true}
	}
}

// Invoke calls a method. Its errors are *fault.Error, like those of Dial's connections.
func (c *LocalConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	o := callOptions{codec: c.codec, maxResponse: client.DefaultSizes().MaxResponse}
	if err := o.read(opts); err != nil {
		return client.Error(err)
	}
	err := c.invoke(ctx, method, args, reply, &o)
	for _, finish := range o.onFinish {
		finish(err)
	}
	return client.Error(err)
}

// NewStream always fails: our contracts have no streams.
func (c *LocalConn) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, client.Error(status.Error(codes.Unimplemented, "streams are not served: "+method))
}

func (c *LocalConn) invoke(ctx context.Context, method string, args, reply any, o *callOptions) error {
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	c.local.mu.RLock()
	m, ok := c.local.methods[method]
	c.local.mu.RUnlock()
	if !ok || m.stream {
		return status.Error(codes.Unimplemented, "unknown method "+method)
	}
	request, err := o.codec.Marshal(args)
	if err != nil {
		return status.Errorf(codes.Internal, "encoding the request: %v", err)
	}
	defer request.Free()

	stream := &localStream{method: method}
	var response any
	if receive := parts.ReceiverOf(ctx); receive != nil {
		err = c.invokeParts(ctx, receive, m, request, stream, o)
	} else {
		response, err = m.handle(m.impl, c.serverContext(ctx, stream), c.decoder(request), nil)
	}
	o.response(stream, c.peer)
	if ctxErr := ctx.Err(); ctxErr != nil {
		// Over the network, the client would have stopped waiting.
		return status.FromContextError(ctxErr).Err()
	}
	if err != nil {
		return wireError(err)
	}
	if response == nil {
		return nil
	}
	return c.reply(response, reply, o)
}

// serverContext returns the context that the other side sees: the deadline and the metadata of the
// caller's context, and no other values.
func (c *LocalConn) serverContext(ctx context.Context, stream *localStream) context.Context {
	md := client.Metadata(ctx)
	var server context.Context = detached{ctx, md}
	server = peer.NewContext(server, c.peer)
	server = metadata.NewIncomingContext(server, md)
	return grpc.NewContextWithServerTransportStream(server, stream)
}

// decoder reads the request into the message that the handler allocates.
func (c *LocalConn) decoder(request mem.BufferSlice) func(any) error {
	return func(into any) error {
		if limit := c.local.chain.cfg.MaxRequest; request.Len() > limit {
			return status.Errorf(codes.ResourceExhausted, "request of %d bytes, at most %d are read", request.Len(), limit)
		}
		msg, ok := into.(proto.Message)
		if !ok {
			return status.Errorf(codes.Internal, "%T is not a message", into)
		}
		buf := request.MaterializeToBuffer(mem.DefaultBufferPool())
		defer buf.Free()
		if err := proto.Unmarshal(buf.ReadOnlyData(), msg); err != nil {
			return status.Errorf(codes.Internal, "decoding the request: %v", err)
		}
		return nil
	}
}

// reply passes the bytes of a response to the caller's codec. They are not pooled, so a codec that
// retains them needs no copy.
func (c *LocalConn) reply(response, reply any, o *callOptions) error {
	data, err := c.fields(response, o)
	if err != nil {
		return err
	}
	if err := o.codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(data)}, reply); err != nil {
		return status.Errorf(codes.Internal, "decoding the response: %v", err)
	}
	return nil
}

// fields returns the bytes of a response.
func (c *LocalConn) fields(response any, o *callOptions) ([]byte, error) {
	msg, ok := response.(proto.Message)
	if !ok {
		return nil, status.Errorf(codes.Internal, "%T is not a message", response)
	}
	data := parts.RawFields(msg)
	if data == nil {
		var err error
		if data, err = proto.Marshal(msg); err != nil {
			return nil, status.Errorf(codes.Internal, "encoding the response: %v", err)
		}
	}
	if limit := min(c.local.chain.cfg.MaxResponse, o.maxResponse); len(data) > limit {
		return nil, status.Errorf(codes.ResourceExhausted, "response of %d bytes, at most %d are sent", len(data), limit)
	}
	return data, nil
}

// wireError returns an error as it would arrive over the network: only its status.
func wireError(err error) error {
	st, ok := status.FromError(err)
	if !ok {
		st = status.FromContextError(err)
	}
	return st.Err()
}
