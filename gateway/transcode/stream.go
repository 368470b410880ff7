package transcode

import (
	"io"
	"slices"
)

// partSize is the number of JSON bytes that are written at once: few enough to stay in the processor's cache,
// and as many as fill TLS records, because their number determines the cost on both sides. The server's buffer
// takes the first bytes, after the eight bytes of the chunk framing; the rest is encrypted in records of 16
// KiB.
const partSize = 4<<10 - 8 + 7*(16<<10)

// StreamJSON writes the JSON of a message to w in parts while it appends to dst, and returns the last part,
// which the caller must write. For a message smaller than a part it writes nothing. It fails like AppendJSON,
// possibly after parts were written.
func (p *Plan) StreamJSON(dst, wire []byte, w io.Writer) ([]byte, error) {
	return p.start(slices.Grow(dst, min(expansion*len(wire)+2, 2*partSize)), wire, w)
}

// appendItem writes one message of a list.
func (f *field) appendItem(dst, wire []byte, at position) ([]byte, error) {
	inside := at.deeper()
	inside.inItem, inside.out = true, nil
	if at.inItem {
		return at.memo.appendInner(dst, f.message, wire, inside)
	}
	dst, err := at.memo.appendOuter(dst, f.message, wire, inside)
	if err != nil || at.out == nil || len(dst) <= partSize {
		return dst, err
	}
	written := (len(dst) - 1) / partSize * partSize // The next value inspects the last byte.
	if _, err := at.out.Write(dst[:written]); err != nil {
		return dst, err
	}
	return append(dst[:0], dst[written:]...), nil
}

// isOrdered reports whether one pass can write the fields.
func (p *Plan) isOrdered(wire []byte) bool {
	last, seen := (*field)(nil), uint64(0)
	var v fieldData
	for i := 0; i < len(wire); {
		var f *field
		if f, i = p.next(wire, i, &v); i < 0 {
			return false
		}
		if f == nil || f.list && f == last {
			continue
		}
		if last != nil && f.index <= last.index || seen&f.oneofBit != 0 {
			return false
		}
		last, seen = f, seen|f.oneofBit
	}
	return true
}
