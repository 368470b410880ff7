package transcode

import (
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Joined writes the JSON of one message that comes in parts: each is a message
// on the wire, and one after another they merge into the whole. It writes as
// parts come, so their fields must come in the order of their numbers, across
// all parts; only a list goes on in the next part.
type Joined struct {
	plan *Plan
	at   place
	dst  []byte
	last int    // index of the last field
	open *field // the list whose bracket is open, or nil
}

// Joins reports whether the JSON of messages of the plan can be written by a
// Joined: their fields are lists and single values that stand for themselves.
func (p *Plan) Joins() bool {
	return p.form == formObject && p.failure == nil && !slices.ContainsFunc(p.fields, func(f *field) bool {
		return f.entry != nil || f.oneof != 0
	})
}

// Join begins to write a message to w, and uses buf for it. Whoever begins must
// end with Close.
func (p *Plan) Join(buf []byte, w io.Writer) *Joined {
	return &Joined{
		plan: p, last: -1, dst: append(buf[:0], '{'),
		at: place{memo: takeMemo(memoFrom), out: w},
	}
}

// Add writes a part. After an error, what was written is of no use.
func (j *Joined) Add(part []byte) error {
	if !j.plan.Joins() {
		return fmt.Errorf("transcode: %s does not come in parts", j.plan.name)
	}
	var v fieldData
	for i := 0; i < len(part); {
		var f *field
		if f, i = j.plan.next(part, i, &v); i < 0 {
			return errMalformed
		}
		if f == nil || f.empty(&v) {
			continue
		}
		if err := j.field(f, &v); err != nil {
			return err
		}
	}
	return nil
}

func (j *Joined) field(f *field, v *fieldData) error {
	items := f.list || f.message != nil && f.kind == protoreflect.MessageKind && f.message.isBareList()
	if f != j.open {
		if f.index <= j.last {
			return fmt.Errorf("%w: %s.%s", errUnordered, j.plan.name, f.name)
		}
		j.closeList()
		j.last = f.index
		j.dst = appendKey(j.dst, f)
		if items {
			j.dst, j.open = append(j.dst, '['), f
		}
	}
	var err error
	switch {
	case items && !f.list:
		j.dst, err = f.message.appendItems(j.dst, v.bytes, j.at.deeper())
	case items && j.dst[len(j.dst)-1] != '[':
		j.dst, err = f.appendData(append(j.dst, ','), v, j.at)
	default:
		j.dst, err = f.appendData(j.dst, v, j.at)
	}
	return err
}

func (j *Joined) closeList() {
	if j.open != nil {
		j.dst, j.open = append(j.dst, ']'), nil
	}
}

// End answers the last part of the JSON, which the caller must write.
func (j *Joined) End() []byte {
	j.closeList()
	j.dst = append(j.dst, '}')
	return j.dst
}

// Close lets go of everything but the buffer that End answered.
func (j *Joined) Close() {
	j.at.memo.give()
	j.at.memo = nil
}
