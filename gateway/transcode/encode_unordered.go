package transcode

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
)

// appendUnordered writes an object whose fields arrive in any order. It first collects the occurrences of each
// field. For a scalar and for a oneof, the last one wins; for a message they merge; for a list they are
// concatenated.
func (p *Plan) appendUnordered(dst, wire []byte, at position) ([]byte, error) {
	found, err := p.collect(wire)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i, occurrences := range found {
		if len(occurrences) == 0 || p.fields[i] == p.empties {
			continue
		}
		if dst, err = p.fields[i].appendOccurrences(dst, occurrences, at); err != nil {
			return dst, err
		}
	}
	if p.empties != nil {
		dst = p.appendEmptyLists(dst, found)
	}
	return append(dst, '}'), nil
}

// collect returns the occurrences of each field, by index.
func (p *Plan) collect(wire []byte) ([][]fieldData, error) {
	found := make([][]fieldData, len(p.fields))
	for i := 0; i < len(wire); {
		var v fieldData
		var f *field
		if f, i = p.next(wire, i, &v); i < 0 {
			return nil, errMalformed
		}
		if f == nil {
			continue
		}
		if f.oneof != 0 {
			for _, other := range p.fields {
				if other.oneof == f.oneof && other != f {
					found[other.index] = nil
				}
			}
		}
		found[f.index] = append(found[f.index], v)
	}
	return found, nil
}

func (f *field) appendOccurrences(dst []byte, occurrences []fieldData, at position) ([]byte, error) {
	last := occurrences[len(occurrences)-1]
	switch {
	case f.entry != nil:
		return f.appendMap(appendKey(dst, f), values(occurrences), at)
	case f.list:
		return f.appendList(dst, occurrences, at)
	case f.kind == protoreflect.MessageKind:
		last.bytes = merge(values(occurrences))
	case f.implicit && f.zero(&last):
		return dst, nil
	}
	return f.appendData(appendKey(dst, f), &last, at)
}

func (f *field) appendList(dst []byte, occurrences []fieldData, at position) ([]byte, error) {
	opened := false
	for i := range occurrences {
		v := &occurrences[i]
		if f.empty(v) {
			continue
		}
		if opened {
			dst = append(dst, ',')
		} else {
			dst = append(appendKey(dst, f), '[')
			opened = true
		}
		var err error
		if dst, err = f.appendData(dst, v, at); err != nil {
			return dst, err
		}
	}
	if opened {
		dst = append(dst, ']')
	}
	return dst, nil
}

func values(occurrences []fieldData) [][]byte {
	all := make([][]byte, len(occurrences))
	for i, v := range occurrences {
		all[i] = v.bytes
	}
	return all
}

// appendMapRun writes a map. first is its first entry; further entries follow at wire[i:]. It
// returns the end of the entries.
func (f *field) appendMapRun(dst, first, wire []byte, i int, at position) (int, []byte, error) {
	entries := [][]byte{first}
	tag := protowire.AppendTag(nil, f.number, protowire.BytesType)
	v := fieldData{wire: protowire.BytesType}
	for bytes.HasPrefix(wire[i:], tag) {
		if i = v.read(wire, i+len(tag)); i < 0 {
			return i, dst, errMalformed
		}
		entries = append(entries, v.bytes)
	}
	dst, err := f.appendMap(appendKey(dst, f), entries, at)
	return i, dst, err
}

// appendMap writes the entries as an object. If several entries have the same key, the last one wins.
func (f *field) appendMap(dst []byte, entries [][]byte, at position) ([]byte, error) {
	if at.depth >= maxDepth {
		return dst, errDepth
	}
	at.out = nil // A later entry with the same key replaces this one, so nothing may be written out yet.
	if dst, done, err := f.appendFew(dst, entries, at); done || err != nil {
		return dst, err
	}
	type parts struct{ key, value []fieldData }
	all := make([]parts, len(entries))
	last := make(map[string]int, len(entries))
	for i, e := range entries {
		found, err := f.message.collect(e)
		if err != nil {
			return dst, err
		}
		all[i] = parts{found[f.entry.key.index], found[f.entry.value.index]}
		last[string(f.appendMapKey(nil, all[i].key))] = i
	}
	dst = append(dst, '{')
	for i, e := range all {
		start := len(dst)
		if dst[start-1] != '{' {
			dst = append(dst, ',')
		}
		key := len(dst)
		dst = f.appendMapKey(dst, e.key)
		if last[string(dst[key:])] != i {
			dst = dst[:start]
			continue
		}
		var err error
		if dst, err = f.appendMapValue(append(dst, ':'), e.value, at); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// Comparing keys pairwise is faster than a map for up to fewEntries keys.
const fewEntries = 4

// appendFew writes the entries as an object if they are few and have the usual form: each has a key and a
// value, and no key occurs twice. Otherwise it writes nothing and returns false.
func (f *field) appendFew(dst []byte, entries [][]byte, at position) ([]byte, bool, error) {
	if len(entries) > fewEntries {
		return dst, false, nil
	}
	start := len(dst)
	var keys [fewEntries][]byte
	dst = append(dst, '{')
	for i, e := range entries {
		var key, value fieldData
		g, next := f.message.next(e, 0, &key)
		if g == nil || next < 0 || g.index != f.entry.key.index {
			return dst[:start], false, nil
		}
		if g, next = f.message.next(e, next, &value); g == nil || next != len(e) || g.index != f.entry.value.index {
			return dst[:start], false, nil
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		from := len(dst)
		dst = f.appendMapKey(dst, []fieldData{key})
		keys[i] = dst[from:]
		for _, other := range keys[:i] {
			if bytes.Equal(other, keys[i]) {
				return dst[:start], false, nil
			}
		}
		var err error
		if dst, err = f.entry.value.appendData(append(dst, ':'), &value, at.deeper()); err != nil {
			return dst, false, err
		}
	}
	return append(dst, '}'), true, nil
}

// appendMapKey writes the key as text.
func (f *field) appendMapKey(dst []byte, occurrences []fieldData) []byte {
	var v fieldData
	if len(occurrences) > 0 {
		v = occurrences[len(occurrences)-1]
	}
	if f.entry.key.kind == protoreflect.StringKind {
		return jsontext.AppendString(dst, v.bytes)
	}
	return append(f.entry.key.appendScalar(append(dst, '"'), v.bits), '"')
}

// appendMapValue writes the value; an absent value is zero.
func (f *field) appendMapValue(dst []byte, occurrences []fieldData, at position) ([]byte, error) {
	value := f.entry.value
	v := fieldData{wire: value.wire}
	if len(occurrences) > 0 {
		v = occurrences[len(occurrences)-1]
	}
	if value.kind == protoreflect.MessageKind {
		v.bytes = merge(values(occurrences))
	}
	return value.appendData(dst, &v, at.deeper())
}
