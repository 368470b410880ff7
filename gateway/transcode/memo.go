package transcode

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// Bounds of a memo, and of what it is used for.
const (
	memoSlots = 1 << 12
	memoText  = 1 << 20 // bytes of JSON
	// Shorter items are written sooner than they are found.
	shortestItem = 12
	longestItem  = 1 << 10
	// memoFrom is the size of messages in bytes from which on a memo is worth
	// its set-up.
	memoFrom = 1 << 14
	// patience is how many items may be new before there must be as many known
	// ones.
	patience = 1 << 10
)

// memo remembers the JSON of the items of lists in a message, which repeat
// themselves: everybody who works the same shift has the same segments.
type memo struct {
	seed  maphash.Seed
	slots [memoSlots]remembered
	text  []byte
	// known and unknown count items; useless is set when too few were known.
	known, unknown int
	useless        bool
}

// remembered is the JSON of one item.
type remembered struct {
	field *field
	wire  []byte // part of the message
	json  []byte // part of the memo's text
}

var memos = sync.Pool{New: func() any {
	return &memo{seed: maphash.MakeSeed(), text: make([]byte, 0, memoText)}
}}

// takeMemo answers an empty memo for a message of a size, or nil when the
// message is too short for one.
func takeMemo(size int) *memo {
	if size < memoFrom {
		return nil
	}
	return memos.Get().(*memo)
}

// give lets others use the memo.
func (m *memo) give() {
	if m == nil {
		return
	}
	clear(m.slots[:])
	m.text, m.known, m.unknown, m.useless = m.text[:0], 0, 0, false
	memos.Put(m)
}

// appendItem writes one message of a list that stands in an item of another
// list: the items of outer lists are not looked for, as each has an id of its
// own.
func (m *memo) appendItem(dst []byte, f *field, wire []byte, inside place) ([]byte, error) {
	if m == nil || m.useless || len(wire) < shortestItem || len(wire) > longestItem {
		return f.message.appendJSON(dst, wire, inside)
	}
	slot := &m.slots[maphash.Bytes(m.seed, wire)%memoSlots]
	if slot.field == f && bytes.Equal(slot.wire, wire) {
		m.known++
		return append(dst, slot.json...), nil
	}
	start := len(dst)
	dst, err := f.message.appendJSON(dst, wire, inside)
	if err != nil {
		return dst, err
	}
	m.unknown++
	m.useless = m.unknown > patience && m.unknown > m.known
	if json := dst[start:]; len(m.text)+len(json) <= cap(m.text) {
		from := len(m.text)
		m.text = append(m.text, json...)
		*slot = remembered{f, wire, m.text[from:]}
	}
	return dst, nil
}
