package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/grpc-ecosystem/grpc-gateway/v2/utilities"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
	"github.com/rotaloom/rotaloom/pkg/rpc"
)

// contractServer is a service of a contract in text form, for options that no real contract has yet, or that
// need requests of several forms.
type contractServer struct {
	files   *protoregistry.Files
	service protoreflect.ServiceDescriptor
	// methods are the methods by name.
	methods map[string]func(ctx context.Context, req *dynamicpb.Message) (proto.Message, error)
	conns   backends.Conns // of the other services
	token   string
}

func newContractServer(t *testing.T, contract, service string) *contractServer {
	t.Helper()
	c := &contractServer{files: policytest.Files(t, contract), conns: all(&recorder{})}
	desc, err := c.files.FindDescriptorByName(protoreflect.FullName(service))
	require.NoError(t, err)
	c.service = desc.(protoreflect.ServiceDescriptor)
	return c
}

// message parses a message of the contract from its text form.
func (c *contractServer) message(t *testing.T, name, text string) proto.Message {
	t.Helper()
	return policytest.Message(t, c.files, string(c.service.ParentFile().Package())+"."+name, text)
}

// overBoth serves the contract by an edge that calls in process, and by one that calls over the network.
func (c *contractServer) overBoth(t *testing.T, cfg Config, run func(t *testing.T, s *httptest.Server)) {
	t.Helper()
	chain, token := chainFor(t, policy.NewTable(c.files), "test.thing.write")
	c.token = token
	for _, name := range []string{"in process", "network"} {
		t.Run(name, func(t *testing.T) {
			var conn grpc.ClientConnInterface
			if name == "network" {
				conn = dialServer(t, chain, c.register)
			} else {
				local := rpc.NewLocal(chain)
				c.register(local)
				conn = local
			}
			run(t, c.serve(t, cfg, conn))
		})
	}
}

// register adds the service to a server.
func (c *contractServer) register(to grpc.ServiceRegistrar) {
	desc := &grpc.ServiceDesc{ServiceName: string(c.service.FullName()), HandlerType: (*any)(nil)}
	for i := range c.service.Methods().Len() {
		method := c.service.Methods().Get(i)
		call := func(ctx context.Context, req any) (any, error) {
			return c.methods[string(method.Name())](ctx, req.(*dynamicpb.Message))
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{
			MethodName: string(method.Name()),
			Handler: func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
				req := dynamicpb.NewMessage(method.Input())
				if err := decode(req); err != nil {
					return nil, err
				}
				if interceptor == nil {
					return call(ctx, req)
				}
				return interceptor(ctx, req, &grpc.UnaryServerInfo{Server: srv, FullMethod: fullName(method)}, call)
			},
		})
	}
	to.RegisterService(desc, c)
}

func fullName(method protoreflect.MethodDescriptor) string {
	return "/" + string(method.Parent().FullName()) + "/" + string(method.Name())
}

// serve starts an edge whose routes lead to conn.
func (c *contractServer) serve(t *testing.T, cfg Config, conn grpc.ClientConnInterface) *httptest.Server {
	t.Helper()
	edge, err := newTrusting(cfg, c.conns, discard())
	require.NoError(t, err)
	mux := runtime.NewServeMux(muxOptions()...)
	var handlers []runtime.HandlerFunc
	for i := range c.service.Methods().Len() {
		method := c.service.Methods().Get(i)
		for _, rule := range routing.Rules(method) {
			handlers = append(handlers, dynamicHandler(mux, method, rule.GetBody(), transcodingConn{conn: conn, responseLimit: edge.cfg.MaxResponse}))
		}
	}
	require.NoError(t, edge.routes.AddMethods(c.service, handlers, policy.NewTable(c.files)))
	front := httptest.NewUnstartedServer(edge)
	front.EnableHTTP2 = true
	front.Config.HTTP2 = listener.NewHTTP2Config(edge.cfg.StallTimeout)
	front.StartTLS()
	t.Cleanup(front.Close)
	return front
}

// dynamicHandler does what the generated handler of a method does.
func dynamicHandler(mux *runtime.ServeMux, method protoreflect.MethodDescriptor, body string, conn grpc.ClientConnInterface) runtime.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request, params map[string]string) {
		in, out := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
		inbound, outbound := runtime.MarshalerForRequest(mux, req)
		ctx, err := runtime.AnnotateContext(req.Context(), mux, req, fullName(method))
		if err == nil && body != "" {
			into := proto.Message(in)
			if body != "*" {
				into = in.Mutable(method.Input().Fields().ByName(protoreflect.Name(body))).Message().Interface()
			}
			err = inbound.NewDecoder(req.Body).Decode(into)
		}
		for name, value := range params {
			if err == nil {
				err = runtime.PopulateFieldFromPath(in, name, value)
			}
		}
		if err == nil && body != "*" {
			err = runtime.PopulateQueryParameters(in, req.Form, utilities.NewDoubleArray(nil))
		}
		var md runtime.ServerMetadata
		if err == nil {
			err = conn.Invoke(ctx, fullName(method), in, out, grpc.Header(&md.HeaderMD), grpc.Trailer(&md.TrailerMD))
		}
		ctx = runtime.NewServerMetadataContext(ctx, md)
		if err != nil {
			runtime.HTTPError(ctx, mux, outbound, w, req, err)
			return
		}
		runtime.ForwardResponseMessage(ctx, mux, outbound, w, req, out, mux.GetForwardResponseOptions()...)
	}
}
