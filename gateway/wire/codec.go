// Package wire handles messages whose fields stay encoded: the edge stores the bytes in the unknown fields of
// an empty message.
package wire

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Codec is the gRPC codec of the edge. The fields of messages stay encoded; services send and receive ordinary
// protobuf.
type Codec struct{}

var _ encoding.CodecV2 = Codec{}

// Name returns the name of the ordinary codec, because the bytes on the wire are the same.
func (Codec) Name() string { return "proto" }

// Marshal writes the encoded bytes of a message, and then its known fields. The last value of a field wins, so
// path parameters override the body.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("wire: %T is not a protobuf message", v)
	}
	r := m.ProtoReflect()
	carried := r.GetUnknown()
	size := proto.Size(m)
	if size == len(carried) {
		return mem.BufferSlice{mem.SliceBuffer(carried)}, nil
	}
	r.SetUnknown(nil)
	out, err := proto.MarshalOptions{}.MarshalAppend(append(make([]byte, 0, size), carried...), m)
	r.SetUnknown(carried)
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(out)}, nil
}

// Unmarshal stores the bytes in the message unchanged. It copies pooled buffers, because the message outlives
// them.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("wire: %T is not a protobuf message", v)
	}
	if len(data) == 1 {
		if buffer, ok := data[0].(mem.SliceBuffer); ok {
			m.ProtoReflect().SetUnknown([]byte(buffer))
			return nil
		}
	}
	m.ProtoReflect().SetUnknown(data.Materialize())
	return nil
}
