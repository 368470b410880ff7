package transcode

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
)

// appendScalar writes a number, a boolean or an enum value from its bits.
func (f *field) appendScalar(dst []byte, bits uint64) []byte {
	switch f.kind {
	case protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		return strconv.AppendInt(dst, int64(bits), 10)
	case protoreflect.Int32Kind, protoreflect.Sfixed32Kind:
		return strconv.AppendInt(dst, int64(int32(bits)), 10)
	case protoreflect.BoolKind:
		return strconv.AppendBool(dst, bits != 0)
	case protoreflect.EnumKind:
		if name, ok := f.enum.names[int32(bits)]; ok {
			return append(dst, name...)
		}
		return strconv.AppendInt(dst, int64(int32(bits)), 10)
	case protoreflect.DoubleKind:
		return jsontext.AppendFloat(dst, math.Float64frombits(bits), 64)
	case protoreflect.FloatKind:
		return jsontext.AppendFloat(dst, float64(math.Float32frombits(uint32(bits))), 32)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return strconv.AppendUint(dst, bits, 10)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return strconv.AppendUint(dst, uint64(uint32(bits)), 10)
	case protoreflect.Sint64Kind:
		return strconv.AppendInt(dst, protowire.DecodeZigZag(bits), 10)
	case protoreflect.Sint32Kind:
		return strconv.AppendInt(dst, int64(int32(protowire.DecodeZigZag(uint64(uint32(bits))))), 10)
	}
	return append(dst, "null"...)
}
