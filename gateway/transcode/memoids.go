package transcode

import (
	"bytes"
	"encoding/binary"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Generated ids of entries are 53-bit numbers with the highest bit set. All of them have the same length, on
// the wire and in JSON. Fragments that differ only in such ids share their JSON; the ids are written into it.
const (
	firstLongID = 1 << 52
	longIDBytes = 8
	longIDText  = len("4503599627370496")
)

// longID is the position of such an id in a fragment and in its JSON.
type longID struct{ wire, json int }

// isLongID reports whether the varint at the start of b is such an id: all bytes but the last one have the
// continuation bit, and the last one contains the highest bit of the number and no higher one.
func isLongID(b []byte) bool {
	return len(b) >= longIDBytes && binary.LittleEndian.Uint64(b)&0xf880808080808080 == 0x0880808080808080
}

// readLongID decodes a varint of eight bytes, with seven bits in each.
func readLongID(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b) & 0x7f7f7f7f7f7f7f7f
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

// same reports whether a fragment equals the cached one except for its ids.
func (p *memoEntry) same(wire []byte) bool {
	if len(wire) != len(p.wire) {
		return false
	}
	from := 0
	for _, id := range p.ids {
		if !bytes.Equal(wire[from:id.wire], p.wire[from:id.wire]) || !isLongID(wire[id.wire:]) {
			return false
		}
		from = id.wire + longIDBytes
	}
	return bytes.Equal(wire[from:], p.wire[from:])
}

// append appends the JSON of a fragment that equals the cached one except for its ids.
func (p *memoEntry) append(dst, wire []byte) []byte {
	start := len(dst)
	dst = append(dst, p.json...)
	for _, id := range p.ids {
		at := start + id.json
		writeLongID((*[longIDText]byte)(dst[at:]), readLongID(wire[id.wire:]))
	}
	return dst
}

// writeLongID writes the digits of an id in place. A schedule has more ids than shifts, and strconv takes
// several times as long, because it does not know the number of digits.
func writeLongID(text *[longIDText]byte, id uint64) {
	binary.LittleEndian.PutUint64(text[:8], eightDigits(id/1e8))
	binary.LittleEndian.PutUint64(text[8:], eightDigits(id%1e8))
}

// eightDigits returns the digits of a number below 10^8, with the first one in the lowest byte. It divides all
// parts of the number at once, by multiplying with the inverse: into two parts of four digits, then into four
// of two digits, and then into eight digits.
func eightDigits(n uint64) uint64 {
	n = n/1e4 | n%1e4<<32
	hundreds := n * 10486 >> 20 & 0x0000007f_0000007f
	n = hundreds | (n-100*hundreds)<<16
	tens := n * 103 >> 10 & 0x000f000f_000f000f
	n = tens | (n-10*tens)<<8
	return n | 0x30303030_30303030
}

// longIDs returns the positions of the ids in a message and in its JSON, or nothing if they are not certain. It
// reuses the memory of ids.
func (p *Plan) longIDs(ids []longID, wire, json []byte) []longID {
	ids = p.findLongIDs(ids[:0], wire, 0)
	at := 0
	for i := range ids {
		text := ids[i].text(wire)
		found := bytes.Index(json[at:], text[:])
		if found < 0 {
			return ids[:0]
		}
		ids[i].json = at + found
		at = ids[i].json + longIDText
	}
	for _, id := range ids {
		text, count := id.text(wire), 0
		for _, other := range ids {
			if other.text(wire) == text {
				count++
			}
		}
		if bytes.Count(json, text[:]) != count {
			return ids[:0] // A text contains the same digits.
		}
	}
	return ids
}

// text returns the digits of the id in a message.
func (id longID) text(wire []byte) (text [longIDText]byte) {
	writeLongID(&text, readLongID(wire[id.wire:]))
	return text
}

// findLongIDs appends the positions of the ids in a message that begins at base.
func (p *Plan) findLongIDs(ids []longID, wire []byte, base int) []longID {
	if p.form == formAny || p.form == formForeign {
		return ids
	}
	var v fieldData
	for i := 0; i < len(wire); {
		f, next := p.next(wire, i, &v)
		switch {
		case next < 0:
			return ids
		case f == nil:
		case f.kind == protoreflect.MessageKind && f.entry == nil:
			ids = f.message.findLongIDs(ids, v.bytes, base+next-len(v.bytes))
		case f.kind == protoreflect.Int64Kind && next-i > longIDBytes && isLongID(wire[next-longIDBytes:next]):
			ids = append(ids, longID{wire: base + next - longIDBytes})
		}
		i = next
	}
	return ids
}
