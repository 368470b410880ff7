package transcode

import (
	"bytes"
	"strconv"

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

// isLongID reports whether a varint that begins at the first byte is one.
func isLongID(b []byte) bool {
	if len(b) < longIDBytes || b[longIDBytes-1] < 1<<3 || b[longIDBytes-1] >= 1<<4 {
		return false
	}
	for _, c := range b[:longIDBytes-1] {
		if c < 0x80 {
			return false
		}
	}
	return true
}

func readLongID(b []byte) (id uint64) {
	for i, c := range b[:longIDBytes] {
		id |= uint64(c&0x7f) << (7 * i)
	}
	return id
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
		strconv.AppendUint(dst[at:at:at+longIDText], readLongID(wire[id.wire:]), 10)
	}
	return dst
}

// longIDs returns where the ids of a message stand in it and in its JSON, or nothing
// when that is not certain.
func (p *Plan) longIDs(wire, json []byte) []longID {
	ids := p.findLongIDs(nil, wire, 0)
	texts := make([]string, len(ids))
	at := 0
	for i := range ids {
		texts[i] = strconv.FormatUint(readLongID(wire[ids[i].wire:]), 10)
		found := bytes.Index(json[at:], []byte(texts[i]))
		if found < 0 {
			return nil
		}
		ids[i].json = at + found
		at = ids[i].json + longIDText
	}
	for _, text := range texts {
		held := 0
		for _, other := range texts {
			if other == text {
				held++
			}
		}
		if bytes.Count(json, []byte(text)) != held {
			return nil // A text holds the digits, too.
		}
	}
	return ids
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
