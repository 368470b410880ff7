package transcode

import (
	"bytes"
	"encoding/binary"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Ids of entries that nobody wrote down are numbers of 53 bits with the highest one
// set. All of them have as many bytes on the wire, and as many digits in JSON. Fragments
// that differ in nothing but such ids share the JSON, into which the ids are written.
const (
	firstLongID = 1 << 52
	longIDBytes = 8
	longIDText  = len("4503599627370496")
)

// longID is where such an id stands in a fragment and in its JSON.
type longID struct{ wire, json int }

// isLongID reports whether a varint that begins at the first byte is one: all bytes but
// the last one go on, and the last one has the highest bit of the number, and no higher one.
func isLongID(b []byte) bool {
	return len(b) >= longIDBytes && binary.LittleEndian.Uint64(b)&0xf880808080808080 == 0x0880808080808080
}

// readLongID returns the number that a varint of eight bytes is, of which each has seven bits.
func readLongID(b []byte) uint64 {
	x := binary.LittleEndian.Uint64(b) & 0x7f7f7f7f7f7f7f7f
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4
}

// same reports whether a fragment is the remembered one but for its ids.
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

// append appends the JSON of a fragment that is the remembered one but for its ids.
func (p *memoEntry) append(dst, wire []byte) []byte {
	start := len(dst)
	dst = append(dst, p.json...)
	for _, id := range p.ids {
		at := start + id.json
		writeLongID((*[longIDText]byte)(dst[at:]), readLongID(wire[id.wire:]))
	}
	return dst
}

const digitPairs = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"

// writeLongID writes the digits of an id in place. A schedule has as many ids as segments, and
// strconv takes twice the time, since it does not know how many digits there are.
func writeLongID(text *[longIDText]byte, id uint64) {
	high, low := uint32(id/1e8), uint32(id%1e8)
	for i := longIDText/2 - 2; i >= 0; i -= 2 {
		h, l := high%100*2, low%100*2
		high, low = high/100, low/100
		text[i], text[i+1] = digitPairs[h], digitPairs[h+1]
		text[i+8], text[i+9] = digitPairs[l], digitPairs[l+1]
	}
}

// longIDs returns where the ids of a message stand in it and in its JSON, or nothing
// when that is not certain. It uses the memory of ids.
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
		text, held := id.text(wire), 0
		for _, other := range ids {
			if other.text(wire) == text {
				held++
			}
		}
		if bytes.Count(json, text[:]) != held {
			return ids[:0] // A text holds the digits, too.
		}
	}
	return ids
}

// text returns the digits of the id in a message.
func (id longID) text(wire []byte) (text [longIDText]byte) {
	writeLongID(&text, readLongID(wire[id.wire:]))
	return text
}

// findLongIDs appends where ids stand in a message that begins at base.
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
