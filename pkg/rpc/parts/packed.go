package parts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// headerParts announces in a request that the caller accepts packed parts, and in the response that
// the parts are packed. gRPC's own compression copies on both sides, which would cost as much as
// the packing.
const (
	headerParts = "rotaloom-parts"
	packing     = "s2"
)

// packed is a part on the wire: one S2 block.
type packed []byte

// Packer sends the parts of one response.
type Packer struct {
	stream  grpc.ServerStream
	sent    bool
	scratch []byte
}

// NewPacker returns the Packer of a response.
func NewPacker(stream grpc.ServerStream) *Packer { return &Packer{stream: stream} }

// PackedRequested reports whether the caller of a method asks for packed parts.
func PackedRequested(ctx context.Context) bool {
	return slices.Equal(metadata.ValueFromIncomingContext(ctx, headerParts), []string{packing})
}

// Send sends a part and returns an empty buffer for the next one.
func (p *Packer) Send(fields []byte) ([]byte, error) {
	if !p.sent {
		p.sent = true
		if err := p.stream.SetHeader(metadata.Pairs(headerParts, packing)); err != nil {
			return nil, fmt.Errorf("setting the header %s: %w", headerParts, err)
		}
	}
	if most := s2.MaxEncodedLen(len(fields)); most > cap(p.scratch) {
		p.scratch = make([]byte, most)
	}
	block := s2.Encode(p.scratch[:cap(p.scratch)], fields)
	// The transport retains the buffer.
	return fields[:0], p.stream.SendMsg(packed(bytes.Clone(block)))
}

// SendLast sends the response that the method returned.
func (p *Packer) SendLast(response any) error {
	msg, ok := response.(proto.Message)
	if !ok {
		return status.Errorf(codes.Internal, "%T is not a message", response)
	}
	fields := RawFields(msg)
	if fields == nil {
		var err error
		if fields, err = proto.Marshal(msg); err != nil {
			return status.Errorf(codes.Internal, "encoding the response: %v", err)
		}
	}
	_, err := p.Send(fields)
	return err
}

// Call calls a method and passes its response on as it arrives. max bounds a part, in bytes.
func Call(ctx context.Context, receive Receiver, method string, args any, conn *grpc.ClientConn, max int, opts []grpc.CallOption) error {
	// Returning early abandons the rest of the call.
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, headerParts, packing))
	defer cancel()
	opts, storeMetadata := partsOptions(opts, max)
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method, opts...)
	if err != nil {
		return err
	}
	// If the call has already ended, reading its response returns the reason.
	if err := stream.SendMsg(args); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	header, err := stream.Header()
	if err != nil {
		return err
	}
	part := &received{packed: slices.Equal(header.Get(headerParts), []string{packing})}
	for {
		switch err := stream.RecvMsg(part); {
		case errors.Is(err, io.EOF):
			storeMetadata(header, stream.Trailer())
			return nil
		case err != nil:
			return err
		}
		if err := receive(part.fields); err != nil {
			return err
		}
	}
}

// received is the latest received part.
type received struct {
	packed bool
	fields []byte
}

// partsCodec is a codec that can read received parts.
type partsCodec struct {
	encoding.CodecV2
	max int
}

// partsOptions returns the options of a call with a partsCodec around the call's codec, and a
// function that stores the metadata of the response. gRPC would store it in its own goroutine,
// perhaps after the caller abandoned the call.
func partsOptions(opts []grpc.CallOption, max int) (kept []grpc.CallOption, store func(header, trailer metadata.MD)) {
	var codec encoding.CodecV2 = NewCodec()
	var headers, trailers []*metadata.MD
	for _, opt := range opts {
		switch opt := opt.(type) {
		case grpc.ForceCodecV2CallOption:
			codec = opt.CodecV2
		case grpc.HeaderCallOption:
			headers = append(headers, opt.HeaderAddr)
		case grpc.TrailerCallOption:
			trailers = append(trailers, opt.TrailerAddr)
		default:
			kept = append(kept, opt)
		}
	}
	return append(kept, grpc.ForceCodecV2(partsCodec{codec, max})), func(header, trailer metadata.MD) {
		for _, at := range headers {
			*at = header
		}
		for _, at := range trailers {
			*at = trailer
		}
	}
}

// Unmarshal unpacks a part into the memory of the part before.
func (c partsCodec) Unmarshal(data mem.BufferSlice, v any) error {
	part, ok := v.(*received)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	if !part.packed {
		part.fields = append(part.fields[:0], buf.ReadOnlyData()...)
		return nil
	}
	size, err := s2.DecodedLen(buf.ReadOnlyData())
	if err != nil {
		return fmt.Errorf("unpacking a part: %w", err)
	}
	if size > c.max {
		return fmt.Errorf("a part of %d bytes, at most %d are read", size, c.max)
	}
	part.fields, err = s2.Decode(part.fields[:cap(part.fields)], buf.ReadOnlyData())
	return err
}
