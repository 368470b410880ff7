package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// contract is a service with one method for each kind of policy. Each method takes an Ask and
// returns it; "mode" chooses its behaviour.
const contract = `
name: "rpctest.proto" package: "rotaloom.rpctest.v1" syntax: "proto3"
dependency: "rotaloom/options/v1/options.proto" dependency: "rotaloom/common/v1/ref.proto" dependency: "buf/validate/validate.proto"
message_type {
  name: "Ask"
  field { name: "mode" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "mode" }
  field { name: "shift_ids" number: 2 label: LABEL_REPEATED type: TYPE_INT64 json_name: "shiftIds"
          options { [rotaloom.options.v1.field] { limit { max: 3 code: "WFP-90003" show_details: true } } } }
  field { name: "start_day" number: 3 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "startDay"
          options { [rotaloom.options.v1.field] { format: FORMAT_DATE } } }
  field { name: "short_name" number: 4 label: LABEL_OPTIONAL type: TYPE_STRING json_name: "shortName"
          options { [buf.validate.field] { string { max_len: 5 } } } }
  field { name: "parts" number: 5 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".rotaloom.rpctest.v1.Ask" json_name: "parts" }
  field { name: "said" number: 6 label: LABEL_REPEATED type: TYPE_STRING json_name: "said" }
}
service {
  name: "Echo"
  method { name: "Ask" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask"
    options { [rotaloom.options.v1.method] { permission: "test.thing.read" callers: "scheduling" } } }
  method { name: "Open" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask"
    options { [rotaloom.options.v1.method] { public: true } } }
  method { name: "Inside" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask"
    options { [rotaloom.options.v1.method] { internal: true callers: "scheduling" } } }
  method { name: "Edge" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask"
    options { [rotaloom.options.v1.method] { internal: true edge: true without_tenant: true } } }
  method { name: "Write" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask"
    options { [rotaloom.options.v1.method] { permission: "test.thing.write" callers: "scheduling" } } }
  method { name: "Forgotten" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask" }
  method { name: "Recite" input_type: ".rotaloom.rpctest.v1.Ask" output_type: ".rotaloom.rpctest.v1.Ask"
    options { [rotaloom.options.v1.method] { permission: "test.thing.read" parts: true } } }
  method { name: "Small" input_type: ".rotaloom.common.v1.Ref" output_type: ".rotaloom.common.v1.Ref"
    options { [rotaloom.options.v1.method] { permission: "test.thing.read" } } }
}`

const (
	service         = "rotaloom.rpctest.v1.Echo"
	askMethod       = "/" + service + "/Ask"
	openMethod      = "/" + service + "/Open"
	insideMethod    = "/" + service + "/Inside"
	edgeMethod      = "/" + service + "/Edge"
	writeMethod     = "/" + service + "/Write"
	forgottenMethod = "/" + service + "/Forgotten"
	smallMethod     = "/" + service + "/Small"
	reciteMethod    = "/" + service + "/Recite"
	unknownMethod   = "/" + service + "/Unknown"
)

// echo is the service. Its modes are named by the first word of "mode".
type echo struct {
	desc protoreflect.MessageDescriptor
	// entered gets a value when a call waits; release lets it go on.
	entered chan struct{}
	release chan struct{}
	// ended gets the error of the context of a call that waited for its end.
	ended chan error

	mu  sync.Mutex
	got metadata.MD
}

var (
	errSecret      = errors.New("password of the database is hunter2")
	errUnavailable = errors.New("the database is away")
)

func (e *echo) ask(ctx context.Context, req any) (any, error) {
	msg := req.(protoreflect.ProtoMessage).ProtoReflect()
	md, _ := metadata.FromIncomingContext(ctx)
	e.mu.Lock()
	e.got = md
	e.mu.Unlock()
	switch msg.Get(e.desc.Fields().ByName("mode")).String() {
	case "hidden":
		authn.NoteNotVisible(ctx)
		return nil, fault.NotFound("WFP-3", "Nobody is there.")
	case "items": // Two are refused for the same reason, one for another, and one is wrong; the last one is done.
		out := &bulk.Outcome[*commonv1.Ref, *commonv1.Ref]{}
		for _, f := range []*fault.Error{fault.Forbidden("WFP-4", "No."), fault.Forbidden("WFP-4", "No."), fault.Forbidden("WFP-5", "No."), fault.Invalid("WFP-6", "No.")} {
			out.Fail(&commonv1.Ref{}, f)
		}
		out.Succeed(&commonv1.Ref{}, &commonv1.Ref{})
		_, _, err := rpc.BulkResult(ctx, out)
		return req, err
	case "refused to eve":
		return nil, fault.Invalid("WFP-2", "It is not yours.").WithCause(authn.DeniedTo(&authn.Principal{Tenant: 9, Subject: "eve"}, nil))
	case "forbidden":
		return nil, fault.Forbidden("WFP-1", "It is not yours.")
	case "fault":
		return nil, fault.Conflict("WFP-90004", "It was changed.").WithLimits(2, 1).WithCause(errSecret)
	case "error":
		return nil, errSecret
	case "away":
		return nil, fmt.Errorf("%w: %w", errSecret, errUnavailable)
	case "panic":
		panic(errSecret)
	case "headers":
		if err := errors.Join(rpc.PartialSuccess(ctx), rpc.SetContentLocation(ctx, "/v1/scheduling/propagations/7"),
			grpc.SetTrailer(ctx, metadata.Pairs("after", "all"))); err != nil {
			return nil, err
		}
	case "late headers":
		if err := grpc.SendHeader(ctx, metadata.Pairs("x", "1")); err != nil {
			return nil, err
		}
		if grpc.SetHeader(ctx, metadata.Pairs("y", "2")) == nil {
			return nil, errors.New("headers were set after they were sent")
		}
	case "wait":
		e.entered <- struct{}{}
		<-e.release
	case "wait for the end":
		e.entered <- struct{}{}
		<-ctx.Done()
		e.ended <- ctx.Err()
		return nil, ctx.Err()
	case "who":
		e.say(msg, describeCaller(ctx)...)
	case "deadline":
		at, _ := ctx.Deadline()
		e.say(msg, time.Until(at).Round(time.Second).String())
	}
	return req, nil
}

// describeCaller describes the caller that a handler sees.
func describeCaller(ctx context.Context) []string {
	p, _ := authn.From(ctx)
	if p == nil {
		p = &authn.Principal{Subject: "nobody"}
	}
	id, _ := tenant.From(ctx)
	secret, _ := ctx.Value(leakKey{}).(string)
	from, _ := peer.FromContext(ctx)
	address := "no address"
	if from != nil && from.Addr != nil {
		address = "an address"
	}
	request := obs.RequestFrom(ctx)
	return []string{p.Subject, p.Service, string(rune('0' + id)), request.ID, request.Traceparent, "leak:" + secret, address}
}

type leakKey struct{}

func (e *echo) say(msg protoreflect.Message, words ...string) {
	list := msg.Mutable(e.desc.Fields().ByName("said")).List()
	for _, word := range words {
		list.Append(protoreflect.ValueOfString(word))
	}
}

func (e *echo) metadata() metadata.MD {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.got
}

// describe is what generated code would be.
func (e *echo) describe() *grpc.ServiceDesc {
	desc := &grpc.ServiceDesc{ServiceName: service, HandlerType: (*any)(nil)}
	for _, name := range []string{"Ask", "Open", "Inside", "Edge", "Write", "Forgotten"} {
		desc.Methods = append(desc.Methods, method(name, func() proto.Message { return dynamicpb.NewMessage(e.desc) }, e.ask))
	}
	desc.Methods = append(desc.Methods, method("Recite", func() proto.Message { return dynamicpb.NewMessage(e.desc) }, e.respondInParts))
	desc.Methods = append(desc.Methods, method("Small", func() proto.Message { return &commonv1.Ref{} },
		func(_ context.Context, req any) (any, error) { return req, nil }))
	desc.Streams = []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, Handler: func(any, grpc.ServerStream) error { return nil }}}
	return desc
}

func method(name string, input func() proto.Message, handle grpc.UnaryHandler) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(srv any, ctx context.Context, dec func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		in := input()
		if err := dec(in); err != nil {
			return nil, err
		}
		info := &grpc.UnaryServerInfo{Server: srv, FullMethod: "/" + service + "/" + name}
		return intercept(ctx, in, info, handle)
	}}
}

func newEcho(tb testing.TB, files *protoregistry.Files) *echo {
	tb.Helper()
	desc, err := files.FindDescriptorByName("rotaloom.rpctest.v1.Ask")
	require.NoError(tb, err)
	return &echo{
		desc:    desc.(protoreflect.MessageDescriptor),
		entered: make(chan struct{}, 16), release: make(chan struct{}), ended: make(chan error, 16),
	}
}

func parseAsk(tb testing.TB, files *protoregistry.Files, text string) proto.Message {
	tb.Helper()
	return policytest.Message(tb, files, "rotaloom.rpctest.v1.Ask", text)
}
