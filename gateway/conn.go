package gateway

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/lines"
	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/upload"
	"github.com/rotaloom/rotaloom/gateway/wire"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/rpc/parts"
)

// transcodingConn makes calls with the codec of the edge.
type transcodingConn struct {
	conn          grpc.ClientConnInterface
	responseLimit int
}

// Invoke makes a call.
func (t transcodingConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	if c := currentCall(ctx); c != nil {
		ctx = metadata.NewOutgoingContext(c.withParts(ctx), c.metadata())
	}
	opts = append(opts, grpc.ForceCodecV2(wire.Codec{}), grpc.MaxCallRecvMsgSize(t.responseLimit))
	return t.conn.Invoke(ctx, method, args, reply, opts...)
}

// NewStream returns an error, because no route leads to a stream.
func (transcodingConn) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, fmt.Errorf("gateway: %s is a stream", method)
}

// metadata returns the metadata of the call: the headers that services may see, and the request's id, trace and
// condition.
func (c *serviceCall) metadata() metadata.MD {
	md := headers.Metadata(c.r.Request, c.proxies.Trust(c.r.Request))
	md[client.HeaderRequestID] = []string{c.r.id.ID}
	if c.r.id.Traceparent != "" {
		md[client.HeaderTraceparent] = []string{c.r.id.Traceparent}
	}
	if c.r.condition != "" {
		md[client.HeaderIfMatch] = []string{c.r.condition}
	}
	if c.r.wait > 0 {
		md[client.HeaderWait] = []string{strconv.Itoa(c.r.wait)}
	}
	return md
}

// withParts accepts the response in parts if the contract permits that: the edge writes the JSON of a part
// while the service still produces the next ones.
func (c *serviceCall) withParts(ctx context.Context) context.Context {
	if !c.r.route.Policy.Parts {
		return ctx
	}
	if c.r.route.Raw != nil {
		return parts.WithReceiver(ctx, c.takeRawPart)
	}
	return parts.WithReceiver(ctx, c.takePart)
}

// bodyWriter writes a response that arrives in parts. Close releases all memory except the bytes that End returned.
type bodyWriter interface {
	Add(part []byte) error
	End() (last []byte, err error)
	Close()
}

// takePart writes a part of the response.
func (c *serviceCall) takePart(fields []byte) error {
	if c.body == nil {
		c.buf = c.bufs.get()
		if c.lines {
			c.body = lines.For(c.r.route.Policy.Output).NewWriter(*c.buf, c.w)
		} else {
			c.body = transcode.For(c.r.route.Policy.Output).Join(*c.buf, c.w)
		}
		c.setType()
	}
	if c.taken += len(fields); c.taken > c.responseLimit {
		return status.Errorf(codes.ResourceExhausted, "response of more than %d bytes", c.responseLimit)
	}
	return c.body.Add(fields)
}

// setType sets the content type of a success.
func (c *serviceCall) setType() {
	kind := contentType
	if c.lines {
		kind = lines.ContentType
	}
	c.w.Header().Set("Content-Type", kind)
}

// lastPart returns the end of a response that arrived in parts.
func (c *serviceCall) lastPart() ([]byte, error) {
	c.setType() // The generated code has set the type of JSON.
	last, err := c.body.End()
	if err == nil {
		*c.buf = last
	}
	return last, err
}

// takeRawPart writes a part of a response whose body is not JSON. It buffers nothing, so the response limit
// does not apply.
func (c *serviceCall) takeRawPart(fields []byte) error {
	if c.w.status == 0 {
		if err := upload.SetAttachment(c.w.Header(), c.r.route.Raw, fields, c.r.path); err != nil {
			return err
		}
	}
	return c.r.route.Raw.Write(c.w, fields)
}
