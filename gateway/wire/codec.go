// Package wire handles messages whose fields stay bytes: the edge puts them into the
// unknown fields of an empty message.
package wire

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Codec is how the edge's messages cross gRPC: their fields stay bytes. What a
// service receives and sends is ordinary protobuf.
type Codec struct{}

var _ encoding.CodecV2 = Codec{}

// Name is that of the ordinary codec: on the wire there is no difference.
func (Codec) Name() string { return "proto" }

// Marshal writes the bytes that a message carries, and then the fields that it
// has. As the last value of a field wins, what the path says of a request goes
// before what its body says.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("wire: %T is no message", v)
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

// Unmarshal puts the bytes into the message as they are. Pooled ones are
// copied, as the message outlives them.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("wire: %T is no message", v)
	}
	if len(data) == 1 {
		if own, ok := data[0].(mem.SliceBuffer); ok {
			m.ProtoReflect().SetUnknown([]byte(own))
			return nil
		}
	}
	m.ProtoReflect().SetUnknown(data.Materialize())
	return nil
}
