package transcode

import (
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Joined writes the JSON of one message that arrives in parts. Each part is an encoded message, and the
// concatenated parts merge into the whole. Joined writes while the parts arrive, so the fields must be in the
// order of their numbers across all parts; only a list, or a message with lists, may continue in the next part.
type Joined struct {
	dst []byte
	// levels are the message and the open messages nested in it.
	levels []level
}

// level is the progress in one message.
type level struct {
	plan *Plan
	at   position
	last int    // index of the last field
	open *field // the list or message with an open bracket, or nil
}

// Joins reports whether a Joined can write messages of the plan: all fields are lists or single values, without
// maps and oneofs.
func (p *Plan) Joins() bool {
	return p.form == formObject && p.failure == nil && !slices.ContainsFunc(p.fields, func(f *field) bool {
		return f.entry != nil || f.oneof != 0
	})
}

// joins reports whether the field is a message that may continue in the next part.
func (f *field) joins() bool {
	return !f.list && f.kind == protoreflect.MessageKind && f.message.Joins()
}

// items reports whether the JSON of the field is an array that may continue in the next part.
func (f *field) items() bool {
	return f.list || f.kind == protoreflect.MessageKind && f.entry == nil && f.message.isBareList()
}

// Join returns a Joined that writes to w and uses buf. The caller must call Close.
func (p *Plan) Join(buf []byte, w io.Writer) *Joined {
	return &Joined{
		dst:    append(buf[:0], '{'),
		levels: []level{{plan: p, last: -1, at: position{memo: takeMemo(memoFrom), out: w}}},
	}
}

// Add writes a part. After an error, the output is useless.
func (j *Joined) Add(part []byte) error {
	if plan := j.levels[0].plan; !plan.Joins() {
		return fmt.Errorf("transcode: %s does not come in parts", plan.name)
	}
	return j.add(0, part)
}

// add writes a part of the message at a level.
func (j *Joined) add(depth int, part []byte) error {
	plan := j.levels[depth].plan
	var v fieldData
	for i := 0; i < len(part); {
		var f *field
		if f, i = plan.next(part, i, &v); i < 0 {
			return errMalformed
		}
		if f == nil || f.empty(&v) {
			continue
		}
		if err := j.writeField(depth, f, &v); err != nil {
			return err
		}
	}
	return nil
}

func (j *Joined) writeField(depth int, f *field, v *fieldData) error {
	if f != j.levels[depth].open {
		if err := j.begin(depth, f); err != nil {
			return err
		}
	}
	at := j.levels[depth].at
	var err error
	switch {
	case f.joins():
		err = j.add(depth+1, v.bytes)
	case f.items() && !f.list:
		j.dst, err = f.message.appendItems(j.dst, v.bytes, at.deeper())
	case f.items() && j.dst[len(j.dst)-1] != '[':
		j.dst, err = f.appendData(append(j.dst, ','), v, at)
	default:
		j.dst, err = f.appendData(j.dst, v, at)
	}
	return err
}

// begin closes the open field of the message at a level, and opens f.
func (j *Joined) begin(depth int, f *field) error {
	l := &j.levels[depth]
	if f.index <= l.last {
		return fmt.Errorf("%w: %s.%s", errUnordered, l.plan.name, f.name)
	}
	if depth == maxDepth {
		return errDepth
	}
	j.close(depth)
	l.last = f.index
	j.dst = appendKey(j.dst, f)
	switch {
	case f.items():
		j.dst, l.open = append(j.dst, '['), f
	case f.joins():
		j.dst, l.open = append(j.dst, '{'), f
		j.levels = append(j.levels, level{plan: f.message, last: -1, at: l.at.deeper()})
	}
	return nil
}

// close closes the open fields from a level down.
func (j *Joined) close(depth int) {
	for top := len(j.levels) - 1; top >= depth; top-- {
		if open := j.levels[top].open; open != nil && open.items() {
			j.dst = append(j.dst, ']')
		}
		if top > depth {
			j.dst = append(j.dst, '}')
		}
	}
	j.levels[depth].open = nil
	j.levels = j.levels[:depth+1]
}

// End returns the last part of the JSON, which the caller must write. It does not fail.
func (j *Joined) End() ([]byte, error) {
	j.close(0)
	j.dst = append(j.dst, '}')
	return j.dst, nil
}

// Close releases all memory except the buffer that End returned.
func (j *Joined) Close() {
	j.levels[0].at.memo.give()
	j.levels = nil
}
