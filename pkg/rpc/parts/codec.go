package parts

import (
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Codec is the ordinary codec, but sends the bytes of a message that holds
// nothing but unknown fields as they are. Handlers write large responses so.
type Codec struct{ encoding.CodecV2 }

// NewCodec makes a Codec.
func NewCodec() Codec { return Codec{encoding.GetCodecV2(protocodec.Name)} }

// Marshal encodes a message.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	if part, ok := v.(packed); ok {
		return mem.BufferSlice{mem.SliceBuffer(part)}, nil
	}
	if m, ok := v.(proto.Message); ok {
		if carried := Carried(m); carried != nil {
			return mem.BufferSlice{mem.SliceBuffer(carried)}, nil
		}
	}
	return c.CodecV2.Marshal(v)
}

// Carried returns the unknown fields of a message that has no others, or
// nil. They need no copy: a handler lets go of its response.
func Carried(m proto.Message) []byte {
	carried := m.ProtoReflect().GetUnknown()
	if len(carried) == 0 || proto.Size(m) != len(carried) {
		return nil
	}
	return carried
}
