package transcode

import (
	"hash/maphash"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Bounds of a memo.
const (
	memoSlots = 1 << 12
	// memoChunks bounds the memory for fragments and their JSON. It is allocated on demand, because many
	// messages have few fragments that are worth caching. When it is full, the next message starts with an
	// empty memo.
	memoChunks, memoChunk = 32, 1 << 16
	// Shorter fragments are faster to write than to look up.
	minFragment = 12
	maxFragment = 1 << 12
	// A memo pays for its setup in messages of at least memoFrom bytes.
	memoFrom = 1 << 14
	// maxMisses is the number of misses after which hits must outnumber misses.
	maxMisses = 1 << 10
	// headFields is the highest number of the fields that identify a list item: its id and its owner.
	headFields protowire.Number = 2
)

// memo caches the JSON of message fragments. Fragments repeat: all employees on the same shift of a day have
// the same times and segments, and clients read the same schedule again. There are two kinds of fragments: the
// rest of a list item after its head, and the items of lists inside it. The JSON depends only on the bytes and
// the type of a fragment, so a memo may serve one message after another.
type memo struct {
	seed     maphash.Seed
	slots    [memoSlots]memoEntry
	head     memoEntry // the last head; a person's items are adjacent
	chunks   [][]byte  // memory for fragments; chunks before the current one are full
	fill     int       // index of the current chunk
	headHits hitCount
	restHits hitCount
	itemHits hitCount
}

// memoEntry is a cached fragment.
type memoEntry struct {
	plan *Plan
	rest bool   // whether it is the rest of an item
	wire []byte // as in the message
	json []byte
	ids  []longID // ids that may differ in other fragments; only in heads and rests
}

// hitCount counts lookups of one kind of fragments.
type hitCount struct{ hits, misses int }

// useless reports whether there are too few hits to continue.
func (t *hitCount) useless() bool { return t.misses > maxMisses && t.misses > t.hits }

var memos = sync.Pool{New: func() any { return &memo{seed: maphash.MakeSeed()} }}

// takeMemo returns a memo for a message of a size, or nil if the message is too short.
func takeMemo(size int) *memo {
	if size < memoFrom {
		return nil
	}
	return memos.Get().(*memo)
}

// give returns the memo and its contents to the pool.
func (m *memo) give() {
	if m == nil {
		return
	}
	m.renew()
	memos.Put(m)
}

// renew prepares the memo for another message. It empties a full memo.
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

// find returns the slot of a fragment, and whether it contains the fragment. It returns no slot for a fragment
// that is not worth caching. A fragment has two possible slots, so that two fragments that alternate do not
// evict each other.
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

// is reports whether the entry caches a fragment.
func (p *memoEntry) is(plan *Plan, rest bool, wire []byte) bool {
	return p.plan == plan && p.rest == rest && p.same(wire)
}

// hashedBytes is the number of bytes of an item's rest that are hashed. In the frequent types, ids come later,
// after the times, which distinguish the items.
const hashedBytes = 64

func (m *memo) hash(rest bool, wire []byte) uint64 {
	if !rest || len(wire) <= hashedBytes {
		return maphash.Bytes(m.seed, wire)
	}
	return maphash.Bytes(m.seed, wire[:hashedBytes]) + uint64(len(wire))
}

func (m *memo) counts(rest bool) *hitCount {
	if rest {
		return &m.restHits
	}
	return &m.itemHits
}

// putFragment caches the JSON of a fragment while there is room. It copies both, because their memory is reused for the
// next part of the message.
func (m *memo) putFragment(slot *memoEntry, p *Plan, rest bool, wire, json []byte) {
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

// allocate returns memory of a length, or nil if none is left.
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

// appendInner writes one message of a list that is inside an item of another list.
func (m *memo) appendInner(dst []byte, p *Plan, wire []byte, inside position) ([]byte, error) {
	if m == nil {
		return p.appendJSON(dst, wire, inside)
	}
	slot, found := m.find(p, false, wire)
	if found {
		return append(dst, slot.json...), nil
	}
	start := len(dst)
	dst, err := p.appendJSON(dst, wire, inside)
	if err == nil && slot != nil {
		m.putFragment(slot, p, false, wire, dst[start:])
	}
	return dst, err
}

// appendOuter writes one message of an outermost list as two joined objects: the head and the rest. If that is
// impossible, it writes the message as one object.
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
	slot, found := m.find(p, true, rest)
	if found {
		return slot.append(dst[:end], rest), nil
	}
	dst, err = p.appendOrdered(dst[:end], rest, inside)
	if err != nil || len(dst) == end+len("{}") {
		return p.appendJSON(dst[:start], wire, inside)
	}
	dst[end] = ','
	if slot != nil {
		m.putFragment(slot, p, true, rest, dst[end:])
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

// parts splits a message after its leading head fields.
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

// hasParts reports whether messages of the plan can be written in two parts, because their head fields do not
// depend on other fields.
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
