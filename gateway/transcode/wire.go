package transcode

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// fieldData is the encoded value of one field.
type fieldData struct {
	wire  protowire.Type
	bits  uint64 // varints and fixed-width values
	bytes []byte // length-delimited values
}

// zero reports whether v equals the value of an absent field.
func (f *field) zero(v *fieldData) bool {
	if v.wire == protowire.BytesType {
		return len(v.bytes) == 0
	}
	return v.bits&f.mask == 0
}

// empty reports whether v has no content: a packed list without items, or the zero of a field without presence.
func (f *field) empty(v *fieldData) bool {
	if f.implicit {
		return f.zero(v)
	}
	return v.wire != f.wire && len(v.bytes) == 0
}

// next reads the tag at wire[i:] and its value. It returns the field and the position after the value, or a
// negative position if the value is incomplete. It returns nil for an unknown field; v is then undefined.
func (p *Plan) next(wire []byte, i int, v *fieldData) (*field, int) {
	tag := uint64(wire[i])
	i++
	if tag >= 0x80 {
		var n int
		if tag, n = protowire.ConsumeVarint(wire[i-1:]); n < 0 {
			return nil, -1
		}
		i += n - 1
	}
	f := p.lookup(tag)
	if f == nil {
		return nil, skip(wire, i, tag)
	}
	v.wire = protowire.Type(tag & 7)
	return f, v.read(wire, i)
}

// read reads the value of type v.wire at b[i:], and returns the position after it, or a negative number if the
// value is truncated or overlong.
func (v *fieldData) read(b []byte, i int) int {
	switch v.wire {
	case protowire.BytesType:
		if i >= len(b) {
			return -1
		}
		size := uint64(b[i])
		i++
		if size >= 0x80 {
			var n int
			if size, n = protowire.ConsumeVarint(b[i-1:]); n < 0 {
				return -1
			}
			i += n - 1
		}
		if size > uint64(len(b)-i) {
			return -1
		}
		end := i + int(size)
		v.bytes = b[i:end:end]
		return end
	case protowire.VarintType:
		if i < len(b) && b[i] < 0x80 {
			v.bits = uint64(b[i])
			return i + 1
		}
		if i > len(b) {
			return -1
		}
		bits, n := protowire.ConsumeVarint(b[i:])
		if n < 0 {
			return -1
		}
		v.bits = bits
		return i + n
	case protowire.Fixed64Type:
		if len(b)-i < 8 {
			return -1
		}
		v.bits = binary.LittleEndian.Uint64(b[i:])
		return i + 8
	case protowire.Fixed32Type:
		if len(b)-i < 4 {
			return -1
		}
		v.bits = uint64(binary.LittleEndian.Uint32(b[i:]))
		return i + 4
	}
	return -1
}

// skip returns the position after the value of an unknown field. The tag ends at b[i], or a negative number.
func skip(b []byte, i int, tag uint64) int {
	number, wire := protowire.DecodeTag(tag)
	if number < protowire.MinValidNumber {
		return -1
	}
	n := protowire.ConsumeFieldValue(number, wire, b[i:])
	if n < 0 {
		return -1
	}
	return i + n
}

// appendValues appends the values of a length-delimited field, in wire order. Malformed bytes end the search.
func (p *Plan) appendValues(found [][]byte, wanted *field, wire []byte) [][]byte {
	var v fieldData
	for i := 0; i < len(wire); {
		var f *field
		if f, i = p.next(wire, i, &v); i < 0 {
			return found
		}
		if f == wanted {
			found = append(found, v.bytes)
		}
	}
	return found
}

// merge concatenates the occurrences of one message, which merges them in protobuf. It returns nil for no
// occurrences, and a non-nil slice for an empty message.
func merge(occurrences [][]byte) []byte {
	switch len(occurrences) {
	case 0:
		return nil
	case 1:
		return occurrences[0]
	}
	joined := []byte{}
	for _, o := range occurrences {
		joined = append(joined, o...)
	}
	return joined
}
