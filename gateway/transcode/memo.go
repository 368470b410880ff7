package transcode

import (
	"hash/maphash"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of a memo, and of what it is used for.
const (
	memoSlots = 1 << 12
	// memoChunks bounds the memory of fragments and their JSON. It is taken as they
	// come: many messages have few fragments that are worth it. When it is full, the next
	// message begins with an empty memo.
	memoChunks, memoChunk = 32, 1 << 16
	// Shorter fragments are written sooner than they are found.
	minFragment = 12
	maxFragment = 1 << 12
	// memoFrom is the size of messages in bytes from which on a memo is worth
	// its set-up.
	memoFrom = 1 << 14
	// maxMisses is how many fragments may be new before there must be as many known
	// ones.
	maxMisses = 1 << 10
	// headFields are the numbers of fields that tell the items of a list apart:
	// an id, and whom it belongs to.
	headFields protowire.Number = 2
)

// memo remembers the JSON of fragments of messages, which repeat themselves:
// everybody who works the same shift on a day has the same times and segments, and
// who reads a schedule reads it again.
// There are two kinds of fragments: what follows the head of an item of a list,
// and the items of lists in there. The JSON follows from the bytes of a fragment
// and from its type alone, so a memo may serve one message after another.
type memo struct {
	seed     maphash.Seed
	slots    [memoSlots]memoEntry
	head     memoEntry // the last head; the items of a person follow one another
	chunks   [][]byte  // of the fragments; those before the filling one are full
	fill     int       // which one is filled
	headHits hitCount
	restHits hitCount
	itemHits hitCount
}

// memoEntry is a remembered fragment.
type memoEntry struct {
	plan *Plan
	rest bool   // whether it is the rest of an item
	wire []byte // as the message has it
	json []byte
	ids  []longID // in which others may differ; only in heads and rests
}

// hitCount counts the fragments of one kind.
type hitCount struct{ hits, misses int }

// useless reports whether too few were known for looking on.
func (t *hitCount) useless() bool { return t.misses > maxMisses && t.misses > t.hits }

var memos = sync.Pool{New: func() any { return &memo{seed: maphash.MakeSeed()} }}

// takeMemo returns a memo for a message of a size, or nil when the message is too
// short for one.
func takeMemo(size int) *memo {
	if size < memoFrom {
		return nil
	}
	return memos.Get().(*memo)
}

// give lets others use the memo, with what it remembers.
func (m *memo) give() {
	if m == nil {
		return
	}
	m.renew()
	memos.Put(m)
}

// renew makes the memo ready for another message. It is emptied when it is full.
func (m *memo) renew() {
	m.headHits, m.restHits, m.itemHits = hitCount{}, hitCount{}, hitCount{}
	if m.fill < memoChunks {
		return
	}
	clear(m.slots[:])
	for i, chunk := range m.chunks {
		m.chunks[i] = chunk[:0]
	}
	m.fill = 0
}

// find returns the slot of a fragment, and whether it is known. There is no slot for
// what is not worth one. A fragment has two slots, so that two that are read in turns
// do not drive each other out.
func (m *memo) find(p *Plan, rest bool, wire []byte) (*memoEntry, bool) {
	t := m.counts(rest)
	if len(wire) < minFragment || len(wire) > maxFragment || t.useless() {
		return nil, false
	}
	at := m.hash(rest, wire) % memoSlots
	first, second := &m.slots[at], &m.slots[at^1]
	switch {
	case first.is(p, rest, wire):
		t.hits++
		return first, true
	case second.is(p, rest, wire):
		t.hits++
		return second, true
	}
	t.misses++
	if first.plan != nil {
		*second = *first
	}
	return first, false
}

// is reports whether the entry remembers a fragment.
func (p *memoEntry) is(plan *Plan, rest bool, wire []byte) bool {
	return p.plan == plan && p.rest == rest && p.same(wire)
}

// hashed is how much of the rest of an item is hashed. Ids come later in those that are
// many: after the times, which tell them apart.
const hashed = 64

func (m *memo) hash(rest bool, wire []byte) uint64 {
	if !rest || len(wire) <= hashed {
		return maphash.Bytes(m.seed, wire)
	}
	return maphash.Bytes(m.seed, wire[:hashed]) + uint64(len(wire))
}

func (m *memo) counts(rest bool) *hitCount {
	if rest {
		return &m.restHits
	}
	return &m.itemHits
}

// put remembers the JSON of a fragment, as long as there is room. Both are copied:
// the memory of a part of a message is used for the next one.
func (m *memo) put(slot *memoEntry, p *Plan, rest bool, wire, json []byte) {
	text := m.allocate(len(wire) + len(json))
	if text == nil {
		return
	}
	copy(text, wire)
	copy(text[len(wire):], json)
	*slot = memoEntry{plan: p, rest: rest, wire: text[:len(wire)], json: text[len(wire):]}
	if rest {
		slot.ids = p.longIDs(nil, slot.wire, slot.json)
	}
}

// allocate returns memory of a length, or nil when there is none left.
func (m *memo) allocate(n int) []byte {
	if n > memoChunk {
		return nil
	}
	if m.fill < len(m.chunks) && n > cap(m.chunks[m.fill])-len(m.chunks[m.fill]) {
		m.fill++
	}
	switch {
	case m.fill == memoChunks:
		return nil
	case m.fill == len(m.chunks):
		m.chunks = append(m.chunks, make([]byte, 0, memoChunk))
	}
	chunk := m.chunks[m.fill]
	m.chunks[m.fill] = chunk[:len(chunk)+n]
	return m.chunks[m.fill][len(chunk):]
}

// appendInner writes one message of a list that stands in an item of another
// list.
func (m *memo) appendInner(dst []byte, p *Plan, wire []byte, inside position) ([]byte, error) {
	if m == nil {
		return p.appendJSON(dst, wire, inside)
	}
	slot, known := m.find(p, false, wire)
	if known {
		return append(dst, slot.json...), nil
	}
	start := len(dst)
	dst, err := p.appendJSON(dst, wire, inside)
	if err == nil && slot != nil {
		m.put(slot, p, false, wire, dst[start:])
	}
	return dst, err
}

// appendOuter writes one message of a list that is in no other: as two objects,
// the head and the rest, that are joined. It writes them as one where that is
// not possible.
func (m *memo) appendOuter(dst []byte, p *Plan, wire []byte, inside position) ([]byte, error) {
	if m == nil || !p.parts || m.restHits.useless() {
		return p.appendJSON(dst, wire, inside)
	}
	head, rest := parts(wire)
	start := len(dst)
	dst, err := m.appendHead(dst, p, head, inside)
	end := len(dst) - 1
	if err != nil || end == start+1 {
		return p.appendJSON(dst[:start], wire, inside)
	}
	slot, known := m.find(p, true, rest)
	if known {
		return slot.append(dst[:end], rest), nil
	}
	dst, err = p.appendOrdered(dst[:end], rest, inside)
	if err != nil || len(dst) == end+len("{}") {
		return p.appendJSON(dst[:start], wire, inside)
	}
	dst[end] = ','
	if slot != nil {
		m.put(slot, p, true, rest, dst[end:])
	}
	return dst, nil
}

// appendHead writes the head of an item as an object.
func (m *memo) appendHead(dst []byte, p *Plan, head []byte, inside position) ([]byte, error) {
	if m.head.is(p, false, head) {
		m.headHits.hits++
		return m.head.append(dst, head), nil
	}
	start := len(dst)
	dst, err := p.appendOrdered(dst, head, inside)
	if err != nil || len(head) < minFragment || len(head) > maxFragment || m.headHits.useless() {
		return dst, err
	}
	m.headHits.misses++
	wire, json := append(m.head.wire[:0], head...), append(m.head.json[:0], dst[start:]...)
	m.head = memoEntry{plan: p, wire: wire, json: json, ids: p.longIDs(m.head.ids, wire, json)}
	return dst, nil
}

// parts divides a message after the fields of its head that it begins with.
func parts(wire []byte) (head, rest []byte) {
	for i := 0; i < len(wire); {
		number, _, n := protowire.ConsumeField(wire[i:])
		if n < 0 || number > headFields {
			return wire[:i], wire[i:]
		}
		i += n
	}
	return wire, nil
}

// hasParts reports whether messages of the plan can be written in two parts: an
// object in which the fields of the head do not depend on others.
func (p *Plan) hasParts() bool {
	if p.form != formObject || p.failure != nil {
		return false
	}
	for _, f := range p.fields {
		if f.number <= headFields && f.oneof != 0 {
			return false
		}
	}
	return true
}
