package parts

import (
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Codec is the ordinary codec, except that it sends a message with only unknown fields as its raw
// bytes. Handlers use that for large responses.
type Codec struct{ encoding.CodecV2 }

// NewCodec returns a Codec.
func NewCodec() Codec { return Codec{encoding.GetCodecV2(protocodec.Name)} }

// Marshal encodes a message.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	if part, ok := v.(packed); ok {
		return mem.BufferSlice{mem.SliceBuffer(part)}, nil
	}
	if m, ok := v.(proto.Message); ok {
		if carried := RawFields(m); carried != nil {
			return mem.BufferSlice{mem.SliceBuffer(carried)}, nil
		}
	}
	return c.CodecV2.Marshal(v)
}

// RawFields returns the unknown fields of a message without other fields, or nil. They need no
// copy: the handler no longer uses its response.
func RawFields(m proto.Message) []byte {
	carried := m.ProtoReflect().GetUnknown()
	if len(carried) == 0 || proto.Size(m) != len(carried) {
		return nil
	}
	return carried
}
