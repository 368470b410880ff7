package transcode

import "slices"

// PartSize is about how many bytes of JSON a part has: few enough that they are
// still in the processor's cache when they are written out.
const PartSize = 64 << 10

// Flush takes a part over, and answers the buffer to go on with, which may be
// the same once the part is written.
type Flush func(part []byte) (next []byte, err error)

// StreamJSON hands the JSON of a message to flush in parts, the first of them
// in dst behind what is there, and answers the last one. Of a message of less
// than a part it is the only one. It fails as AppendJSON does, also after parts
// were flushed.
func (p *Plan) StreamJSON(dst, wire []byte, flush Flush) ([]byte, error) {
	return p.start(slices.Grow(dst, min(expansion*len(wire)+2, 2*PartSize)), wire, flush)
}

// appendItem writes one message of a list.
func (f *field) appendItem(dst, wire []byte, at place) ([]byte, error) {
	inside := at.deeper()
	inside.inItem, inside.flush = true, nil
	if at.inItem {
		return at.memo.appendInner(dst, f.message, wire, inside)
	}
	dst, err := at.memo.appendOuter(dst, f.message, wire, inside)
	if err != nil || at.flush == nil || len(dst) < PartSize {
		return dst, err
	}
	// What comes next looks at the last byte.
	last := dst[len(dst)-1]
	next, err := at.flush(dst[:len(dst)-1])
	if err != nil {
		return dst, err
	}
	return append(next[:0], last), nil
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
