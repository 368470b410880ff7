package transcode

import (
	"io"
	"slices"
)

// partSize is how many bytes of JSON are written out at once: few enough that they are
// still in the processor's cache, and as many as fill records of TLS, whose number is what
// both sides pay for. The server's buffer takes the first bytes, after the eight around a
// chunk, and the rest is encrypted in records of 16 KiB.
const partSize = 4<<10 - 8 + 7*(16<<10)

// StreamJSON writes the JSON of a message to w in parts, while it goes on
// appending to dst, and returns the last part, which the caller must write. A
// message of less than a part is not written at all. It fails as AppendJSON
// does, also after parts were written.
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
	written := (len(dst) - 1) / partSize * partSize // What comes next looks at the last byte.
	if _, err := at.out.Write(dst[:written]); err != nil {
		return dst, err
	}
	return append(dst[:0], dst[written:]...), nil
}

// ordered reports whether one pass can write the fields.
func (p *Plan) ordered(wire []byte) bool {
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
