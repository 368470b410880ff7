package transcode

import (
	"io"
	"slices"
)

// partSize is how many bytes of JSON are written out at once: few enough that
// they are still in the processor's cache. With the item that fills it, a part is
// seldom above the 64 KiB that the edge writes as one piece.
const partSize = 60 << 10

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
	if err != nil || at.out == nil || len(dst) < partSize {
		return dst, err
	}
	// What comes next looks at the last byte.
	last := len(dst) - 1
	if _, err := at.out.Write(dst[:last]); err != nil {
		return dst, err
	}
	return append(dst[:0], dst[last]), nil
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
