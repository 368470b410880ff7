package transcode

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/suggest"
)

// AppendWire appends the wire bytes of the message that json represents.
//
// It accepts properties by their JSON name and by their proto name, and skips the names in the option ignored.
// It refuses other properties with WFP-90011, a wrong structure (an object instead of a list) with WFP-90009,
// and a value that does not fit or malformed JSON with WFP-90010. The error is a *fault.Error that names the
// path. It is the first one in the order of the input, and lists the following ones as violations.
//
// It refuses a property that occurs twice in an object with WFP-90010, also under two of its names, because
// JSON parsers differ in which value they use. It refuses the character U+0000, because databases cannot store
// it.
//
// It truncates a list that exceeds its limit and writes the number of missing items (policy.AppendMore), so
// that the limit check refuses the list as if it were complete. It refuses bodies whose messages would need far
// more memory than the body with 413 (WeightPerByte).
func (p *Plan) AppendWire(dst, json []byte) ([]byte, error) {
	d := decoder{in: json, out: slices.Grow(dst, len(json)/2)}
	bad := d.document(p)
	if err := d.fault(bad); err != nil {
		return dst, err
	}
	return d.out, nil
}

// decoder reads one JSON document and writes wire bytes while it reads.
type decoder struct {
	in      []byte
	pos     int
	out     []byte
	depth   int
	scratch []byte // buffer for texts with escapes

	weight     int   // of the messages written so far
	most       int64 // limit for each list in the current message, or 0
	exact      bool  // whether the current value carries numbers as text
	incomplete bool  // whether items were omitted

	problems []*problem // of values that were skipped
}

func (d *decoder) document(p *Plan) *problem {
	if !utf8.Valid(d.in) {
		return problemf(fault.CodeValue, "is not valid JSON: it must be encoded in UTF-8")
	}
	d.space()
	if d.pos == len(d.in) {
		return problemf(fault.CodeValue, "is empty: JSON is expected at byte 0")
	}
	if bad := d.message(p); bad != nil {
		return bad
	}
	d.space()
	if d.pos < len(d.in) {
		return d.syntax("the document must end here")
	}
	if d.incomplete {
		d.out = policy.AppendIncomplete(d.out)
	}
	return nil
}

// message reads the JSON of a message and writes its fields, without tag and length.
func (d *decoder) message(p *Plan) *problem {
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxDepth {
		return problemf(fault.CodeStructure, "nests more than %d levels deep", maxDepth)
	}
	switch p.form {
	case formBare:
		return d.value(p.bare)
	case formValue:
		return d.anyValue(p)
	case formAny, formForeign:
		return problemf(fault.CodeStructure, "cannot be sent; leave it out")
	}
	switch c := d.peek(); c {
	case '{':
		var seen fieldSet
		return d.object(func(d *decoder, name []byte) *problem { return p.property(d, name, &seen) })
	case '[':
		return problemf(fault.CodeStructure, "is a list, but an object is expected")
	default:
		return d.notExpected("an object")
	}
}

// object reads an object. It calls read with the name of each property; read must consume the value. The name
// is valid until the next text is read.
func (d *decoder) object(read func(d *decoder, name []byte) *problem) *problem {
	d.pos++ // {
	d.space()
	if d.peek() == '}' {
		d.pos++
		return nil
	}
	for {
		if d.peek() != '"' {
			return d.syntax("the name of a property is expected")
		}
		name, bad := d.text()
		if bad != nil {
			return bad
		}
		d.space()
		if d.peek() != ':' {
			return d.syntax("a colon is expected")
		}
		d.pos++
		d.space()
		if bad := read(d, name); bad != nil {
			return bad
		}
		if more, bad := d.more('}', "a comma or a closing brace is expected"); !more {
			return bad
		}
	}
}

// more reads the separator after a part of an object or array. It returns false at the end of the object or
// array.
func (d *decoder) more(end byte, expected string) (bool, *problem) {
	d.space()
	switch d.peek() {
	case ',':
		d.pos++
		d.space()
		return true, nil
	case end:
		d.pos++
		return false, nil
	}
	return false, d.syntax(expected)
}

// list reads an array by calling read for each item.
func (d *decoder) list(read func(index int) *problem) *problem {
	d.pos++ // [
	d.space()
	if d.peek() == ']' {
		d.pos++
		return nil
	}
	for index := 0; ; index++ {
		if bad := read(index); bad != nil {
			return bad
		}
		if more, bad := d.more(']', "a comma or a closing bracket is expected"); !more {
			return bad
		}
	}
}

// property reads the value of one property of an object. It skips a value with a problem.
func (p *Plan) property(d *decoder, name []byte, seen *fieldSet) *problem {
	pos, mark, known := d.pos, len(d.out), len(d.problems)
	label, bad := p.readProperty(d, name, seen)
	if len(d.problems) > known {
		d.name(known, label)
	}
	if bad == nil {
		return nil
	}
	return d.recoverAt(pos, mark, bad.in(label))
}

// readProperty reads the value of a property, and returns the name of the property in errors if there is one.
func (p *Plan) readProperty(d *decoder, name []byte, seen *fieldSet) (label string, bad *problem) {
	f := p.byName[string(name)]
	if position, ok := p.ignored[string(name)]; f == nil && ok {
		label = shortenBytes(name)
		if !seen.add(position) {
			return label, repeatedProperty()
		}
		return label, d.skip()
	}
	if f == nil {
		unknown := problemf(fault.CodeUnknownProperty, "is not a known property")
		unknown.hint = suggest.Hint(string(name), maps.Keys(p.byName))
		return shortenBytes(name), unknown
	}
	if !seen.add(f.index) {
		return f.name, repeatedProperty()
	}
	return f.name, d.value(f)
}

// value reads the value of a field and writes it with its tag.
func (d *decoder) value(f *field) *problem {
	c := d.peek()
	switch {
	case c == 'n' && !f.nullable():
		return d.null()
	case f.entry != nil:
		return d.mapObject(f)
	case !f.list:
		return d.element(f)
	case c != '[':
		// A single value where a list is expected stands for a list with one item.
		return d.element(f)
	case f.packed:
		return d.packedList(f)
	default:
		omitted, bad := d.boundedList(f, func(index int) *problem { return d.item(f, index) })
		d.writeOmitted(f, omitted)
		return bad
	}
}

// nullable reports whether null is a value of the field.
func (f *field) nullable() bool {
	return f.message != nil && f.message.form == formValue && !f.list
}

func (d *decoder) item(f *field, index int) *problem {
	if d.peek() == 'n' && f.message != nil && f.message.form != formValue {
		return d.null()
	}
	pos, mark, known := d.pos, len(d.out), len(d.problems)
	bad := d.element(f)
	if len(d.problems) > known {
		d.name(known, indexStep(index))
	}
	if bad != nil {
		return d.recoverAt(pos, mark, bad.in(indexStep(index)))
	}
	return nil
}

func (d *decoder) packedList(f *field) *problem {
	start := len(d.out)
	d.out = protowire.AppendTag(d.out, f.number, protowire.BytesType)
	mark := d.openLength()
	omitted, bad := d.boundedList(f, func(index int) *problem {
		pos, end := d.pos, len(d.out)
		bits, bad := d.scalar(f)
		if bad != nil {
			return d.recoverAt(pos, end, bad.in(indexStep(index)))
		}
		d.out = appendBits(d.out, f.wire, bits)
		return d.weigh(weightOfItem)
	})
	if len(d.out) == mark+1 {
		d.out = d.out[:start]
		return bad
	}
	d.closeLength(mark)
	d.writeOmitted(f, omitted)
	return bad
}

// element reads one value and writes it with its tag.
func (d *decoder) element(f *field) *problem {
	switch f.kind {
	case protoreflect.MessageKind:
		if bad := d.weigh(f.message.weight); bad != nil {
			return bad
		}
		d.out = protowire.AppendTag(d.out, f.number, protowire.BytesType)
		mark := d.openLength()
		most, exact := d.most, d.exact
		d.most, d.exact = f.most, f.exact
		bad := d.message(f.message)
		d.most, d.exact = most, exact
		if bad != nil {
			return bad
		}
		d.closeLength(mark)
		return nil
	case protoreflect.StringKind, protoreflect.BytesKind:
		text, bad := d.textual(f)
		if bad == nil {
			bad = d.weigh(weightOfItem)
		}
		if bad != nil {
			return bad
		}
		d.out = protowire.AppendTag(d.out, f.number, protowire.BytesType)
		d.out = protowire.AppendBytes(d.out, text)
		return nil
	}
	bits, bad := d.scalar(f)
	if bad != nil {
		return bad
	}
	d.out = protowire.AppendTag(d.out, f.number, f.wire)
	d.out = appendBits(d.out, f.wire, bits)
	return nil
}

// openLength reserves one byte for a length, which suffices for most values, and returns its position.
func (d *decoder) openLength() int {
	d.out = append(d.out, 0)
	return len(d.out) - 1
}

// closeLength writes the length of the data after mark. It moves the data if the length needs more than one
// byte.
func (d *decoder) closeLength(mark int) {
	size := len(d.out) - mark - 1
	if size < 0x80 {
		d.out[mark] = byte(size)
		return
	}
	more := protowire.SizeVarint(uint64(size)) - 1
	d.out = append(d.out, make([]byte, more)...)
	copy(d.out[mark+1+more:], d.out[mark+1:])
	protowire.AppendVarint(d.out[:mark], uint64(size))
}

// appendBits writes a scalar without its tag.
func appendBits(dst []byte, wire protowire.Type, bits uint64) []byte {
	switch wire {
	case protowire.Fixed32Type:
		return protowire.AppendFixed32(dst, uint32(bits))
	case protowire.Fixed64Type:
		return protowire.AppendFixed64(dst, bits)
	default:
		return protowire.AppendVarint(dst, bits)
	}
}

// anyValue reads any JSON value as a google.protobuf.Value.
func (d *decoder) anyValue(p *Plan) *problem {
	const null, number, text, boolean, object, array = 0, 1, 2, 3, 4, 5
	switch c := d.peek(); c {
	case '{':
		return d.element(p.fields[object])
	case '[':
		return d.element(p.fields[array])
	case '"':
		return d.element(p.fields[text])
	case 't', 'f':
		return d.element(p.fields[boolean])
	case 'n':
		d.out = protowire.AppendTag(d.out, p.fields[null].number, protowire.VarintType)
		d.out = protowire.AppendVarint(d.out, 0)
		return d.null()
	default:
		if d.exact {
			return d.element(p.fields[text])
		}
		return d.element(p.fields[number])
	}
}

// skip reads any JSON value and writes nothing.
func (d *decoder) skip() *problem {
	mark, around := len(d.out), d.most
	d.most = 0
	bad := d.anyValue(jsonPlan())
	d.out, d.most = d.out[:mark], around
	return bad
}

// jsonPlan returns the plan of any JSON value.
var jsonPlan = sync.OnceValue(func() *Plan { return For((&structpb.Value{}).ProtoReflect().Descriptor()) })

// null reads the word null.
func (d *decoder) null() *problem { return d.literal("null") }

func (d *decoder) literal(word string) *problem {
	if !bytes.HasPrefix(d.in[d.pos:], []byte(word)) {
		return d.syntax("a value is expected")
	}
	d.pos += len(word)
	return nil
}
