package rpc

import (
	"context"
	"errors"

	"google.golang.org/grpc"
)

// A large answer may come in parts, so that its reader works while it is still
// being made. Parts are messages on the wire, and one after another they merge
// into the answer, which is what the wire format means by concatenation. Only a
// caller that says so gets them, by [WithParts]; all others get one message.
// The contract names the methods (option parts).

type (
	takerKey  struct{}
	senderKey struct{}
)

// TakePart takes the fields of a part, which it must not keep. An error ends the
// call.
type TakePart func(fields []byte) error

// sendPart sends a part and returns an empty buffer for the next one.
type sendPart func(fields []byte) (next []byte, err error)

// WithParts returns a context for one call of a method whose answer may come in
// parts. The whole answer goes to take, in one part or several, in order, before
// the call returns; its reply stays empty.
func WithParts(ctx context.Context, take TakePart) context.Context {
	return context.WithValue(ctx, takerKey{}, take)
}

func takerOf(ctx context.Context) TakePart {
	take, _ := ctx.Value(takerKey{}).(TakePart)
	return take
}

// TakesParts reports whether the caller of the method takes parts.
func TakesParts(ctx context.Context) bool {
	_, ok := ctx.Value(senderKey{}).(sendPart)
	return ok
}

// SendPart sends a part ahead of the rest of the answer, which the method
// returns. The fields belong to the call from then on; it returns an empty
// buffer in which the next part can be made. It fails for callers that take no
// parts.
func SendPart(ctx context.Context, fields []byte) (next []byte, err error) {
	send, ok := ctx.Value(senderKey{}).(sendPart)
	if !ok {
		return nil, errors.New("rpc: the caller takes no parts")
	}
	return send(fields)
}

// parts reports whether the contract lets answers of the method come in parts.
func (m *method) parts() bool { return m.broken == nil && m.policy.Parts }

// inParts makes streams of the methods of a service that may answer in parts.
// To callers there is no difference: one request, and one message at least.
func (s *Server) inParts(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	divided := *desc
	divided.Methods = nil
	for _, m := range desc.Methods {
		name := "/" + desc.ServiceName + "/" + m.MethodName
		if !s.chain.method(name).parts() {
			divided.Methods = append(divided.Methods, grpc.MethodDesc{MethodName: m.MethodName, Handler: compressLarge(m.Handler)})
			continue
		}
		s.parts[name] = true
		divided.Streams = append(divided.Streams, grpc.StreamDesc{
			StreamName: m.MethodName, ServerStreams: true, Handler: partsHandler(m.Handler),
		})
	}
	return &divided
}

func partsHandler(handle grpc.MethodHandler) grpc.StreamHandler {
	return func(impl any, stream grpc.ServerStream) error {
		ctx := stream.Context()
		if incoming(ctx, headerParts) != packing {
			answer, err := handle(impl, ctx, stream.RecvMsg, nil)
			if err != nil {
				return err
			}
			compressIfLarge(ctx, answer)
			return stream.SendMsg(answer)
		}
		packer := &packer{stream: stream}
		ctx = context.WithValue(ctx, senderKey{}, sendPart(packer.send))
		answer, err := handle(impl, ctx, stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		return packer.sendLast(answer)
	}
}
