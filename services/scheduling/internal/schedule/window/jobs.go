package window

import (
	"maps"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// JobRefs are the jobs of entries: by path, or by id if they have no path. Both lists ascend.
type JobRefs struct {
	Paths []string
	IDs   []int64
}

// Jobs returns the jobs of all entries, including open shifts.
func (w *Window) Jobs() (JobRefs, error) {
	var memory buffers
	seen := map[jobKey]bool{}
	paths, ids := map[string]bool{}, map[int64]bool{}
	add := func(ref []byte) {
		if path := firstValue(ref, refQualifier); len(path) > 0 {
			paths[string(path)] = true
		} else if id := firstVarint(ref, refID); id != 0 {
			ids[int64(id)] = true
		}
	}
	for _, list := range append(w.Entries[:], w.Open) {
		for i := range list {
			e := &list[i]
			key := jobKey{e.Template, e.Job}
			if seen[key] || jobPaths[e.Template.Kind] == nil {
				continue
			}
			seen[key] = true
			t, err := e.templateWithJob(&memory)
			if err != nil {
				return JobRefs{}, err
			}
			for s := range t.sections {
				forEachValue(t.sections[s].text, jobPaths[t.Kind], add)
			}
		}
	}
	return JobRefs{Paths: slices.Sorted(maps.Keys(paths)), IDs: slices.Sorted(maps.Keys(ids))}, nil
}

// forEachValue calls found for each value at a path of message fields.
func forEachValue(message []byte, path []protowire.Number, found func([]byte)) {
	if len(path) == 0 {
		found(message)
		return
	}
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, wire, message[n:])
		if size < 0 {
			return
		}
		if number == path[0] && wire == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[n:])
			forEachValue(value, path[1:], found)
		}
		message = message[n+size:]
	}
}

// firstVarint returns the first value of a field, or 0 if the field is absent.
func firstVarint(message []byte, wanted protowire.Number) uint64 {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0
		}
		size := protowire.ConsumeFieldValue(number, wire, message[n:])
		if size < 0 {
			return 0
		}
		if number == wanted && wire == protowire.VarintType {
			value, _ := protowire.ConsumeVarint(message[n:])
			return value
		}
		message = message[n+size:]
	}
	return 0
}
