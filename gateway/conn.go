package gateway

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/rotaloom/rotaloom/gateway/headers"
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

// takePart writes a part of the response.
func (c *serviceCall) takePart(fields []byte) error {
	if c.joined == nil {
		c.buf = c.bufs.get()
		c.joined = transcode.For(c.r.route.Policy.Output).Join(*c.buf, c.w)
		c.w.Header().Set("Content-Type", contentType)
	}
	if c.taken += len(fields); c.taken > c.responseLimit {
		return status.Errorf(codes.ResourceExhausted, "response of more than %d bytes", c.responseLimit)
	}
	return c.joined.Add(fields)
}

// lastPart returns the end of the JSON of a response that arrived in parts.
func (c *serviceCall) lastPart() []byte {
	last := c.joined.End()
	*c.buf = last
	return last
}

// takeRawPart writes a part of a response whose body is not JSON. It buffers nothing, so the response limit
// does not apply.
func (c *serviceCall) takeRawPart(fields []byte) error {
	if c.w.status == 0 {
		if err := c.setRawType(fields); err != nil {
			return err
		}
	}
	return c.r.route.Raw.Write(c.w, fields)
}

// setRawType sets the content type that the first fields of a response name. It also declares the body an
// attachment, so that a browser stores it and renders nothing of it.
func (c *serviceCall) setRawType(fields []byte) error {
	contentType, err := c.r.route.Raw.ContentType(fields)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", contentType)
	if name := c.r.route.Raw.FileName(fields); name != "" {
		c.w.Header().Set("Content-Disposition", upload.Disposition(name))
		return nil
	}
	kind, _, _ := strings.Cut(contentType, ";")
	_, extension, _ := strings.Cut(kind, "/")
	c.w.Header().Set("Content-Disposition", `attachment; filename="`+fileName(c.r.path)+"."+extension+`"`)
	return nil
}

// fileName returns a file name for a path: the segments after the API version, without characters that file
// names should not contain.
func fileName(path string) string {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if len(segments) > 1 {
		segments = segments[1:] // The version of the API.
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, strings.Join(segments, "-"))
}
