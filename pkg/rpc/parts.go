package rpc

import (
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/rpc/compression"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// parts reports whether the contract allows responses in parts.
func (m *method) parts() bool { return m.broken == nil && m.policy.Parts }

// inParts turns the methods of a service that may respond in parts into streams. Callers see no
// difference: one request, and at least one message.
func (s *Server) inParts(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	divided := *desc
	divided.Methods = nil
	for _, m := range desc.Methods {
		name := "/" + desc.ServiceName + "/" + m.MethodName
		if !s.chain.method(name).parts() {
			divided.Methods = append(divided.Methods, grpc.MethodDesc{MethodName: m.MethodName, Handler: compression.Large(m.Handler)})
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
		if !parts.PackedRequested(ctx) {
			response, err := handle(impl, ctx, stream.RecvMsg, nil)
			if err != nil {
				return err
			}
			compression.IfLarge(ctx, response)
			return stream.SendMsg(response)
		}
		packer := parts.NewPacker(stream)
		ctx = parts.WithSender(ctx, packer.Send)
		response, err := handle(impl, ctx, stream.RecvMsg, nil)
		if err != nil {
			return err
		}
		return packer.SendLast(response)
	}
}
