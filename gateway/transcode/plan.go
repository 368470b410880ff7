// Package transcode turns protobuf wire bytes into JSON and JSON into wire
// bytes without building messages in between. What has to be known of a
// message type is compiled once into a Plan.
//
// The JSON differs from that of protojson where the HTTP API asks for it:
//   - 64-bit integers are numbers;
//   - google.protobuf.Any is the bare JSON of the packed message;
//   - a message with the option bare_array is the array of that field, and a
//     message with the option failure is the JSON of that field when it is
//     present;
//   - a reader is lenient: numbers as text and text as numbers, one value
//     where a list is expected, fractions cut where an integer is expected,
//     enum names in any case, null as absent.
//
// Absent fields are left out. Not a number and the infinities, which JSON
// cannot express, are written as the texts that protojson uses.
package transcode

import (
	"math"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// maxDepth bounds how deeply values nest, in JSON and on the wire, so that no
// input can exhaust the stack.
const maxDepth = 64

// Plan holds what has to be known of one message type. It never changes after
// it was compiled and may be used by many goroutines.
type Plan struct {
	name    protoreflect.FullName
	form    form
	fields  []*field
	byTag   []*field          // by wire tag; short enough for real messages
	byRest  map[uint64]*field // by wire tag, the tags beyond byTag
	byName  map[string]*field // by JSON name and by proto name
	bare    *field            // the field that is the whole JSON, or nil
	failure *field            // the field that is the whole JSON if present, or nil
	parts   bool              // whether it can be written in two parts
	ignored map[string]int    // JSON names of properties that are skipped, with a position behind those of fields
	weight  int               // what one takes in memory, in bytes
}

// form distinguishes message types whose JSON is not an object of their fields.
type form uint8

const (
	formObject  form = iota
	formBare         // the JSON is that of the field bare
	formAny          // the JSON is that of the packed message
	formValue        // the JSON is that of the one field that is set
	formForeign      // a well-known type that the contracts do not use
)

// field is what has to be known of one field.
type field struct {
	name     string
	key      []byte // `,"name":`
	number   protowire.Number
	index    int // position in Plan.fields
	kind     protoreflect.Kind
	wire     protowire.Type // of one element
	mask     uint64         // the bits of a varint that count
	list     bool
	packed   bool
	exact    bool   // whether numbers are carried as text, of any JSON
	implicit bool   // whether zero means absent
	most     int64  // of a list, or of each list in a message, items that may pass; 0 without a limit
	oneof    int    // 1 + position of the oneof that it is a member of, or 0
	oneofBit uint64 // stands for the oneof; 64 oneofs later for another one too
	enum     *enum
	message  *Plan  // of messages and of map entries
	entry    *entry // of maps
}

// entry holds the two fields of a map's entries.
type entry struct{ key, value *field }

var plans sync.Map // protoreflect.MessageDescriptor -> *Plan

// For returns the plan of a message type. It compiles it when it is the first
// to ask; the plans that it keeps are as many as there are message types.
func For(desc protoreflect.MessageDescriptor) *Plan {
	if p, ok := plans.Load(desc); ok {
		return p.(*Plan)
	}
	c := compiler{}
	p := c.plan(desc)
	c.linkMaps()
	for d, compiled := range c {
		plans.LoadOrStore(d, compiled)
	}
	return p
}

// compiler holds the plans that are being compiled, so that types that contain
// themselves come to an end.
type compiler map[protoreflect.MessageDescriptor]*Plan

func (c compiler) plan(desc protoreflect.MessageDescriptor) *Plan {
	if p, ok := c[desc]; ok {
		return p
	}
	p := &Plan{name: desc.FullName(), form: formOf(desc), byName: map[string]*field{}, weight: weightOf(desc)}
	c[desc] = p
	if p.form == formForeign || p.form == formAny {
		return p
	}
	caps := capsOf(desc)
	for i := range desc.Fields().Len() {
		f := c.field(desc.Fields().Get(i))
		f.most = caps[f.number]
		p.fields = append(p.fields, f)
	}
	slices.SortFunc(p.fields, func(a, b *field) int { return int(a.number - b.number) })
	for i, f := range p.fields {
		f.index = i
		p.index(f)
	}
	p.indexNames(desc)
	p.bareFields(desc)
	p.parts = p.hasParts()
	return p
}

func formOf(desc protoreflect.MessageDescriptor) form {
	switch desc.FullName() {
	case "google.protobuf.Any":
		return formAny
	case "google.protobuf.Value":
		return formValue
	case "google.protobuf.Struct", "google.protobuf.ListValue":
		return formBare
	case "google.protobuf.Empty":
		return formObject
	}
	if desc.ParentFile().Package() == "google.protobuf" && !desc.IsMapEntry() {
		return formForeign
	}
	return formObject
}

func (c compiler) field(fd protoreflect.FieldDescriptor) *field {
	f := &field{
		name:     fd.JSONName(),
		key:      append(appendString([]byte{','}, []byte(fd.JSONName())), ':'),
		number:   fd.Number(),
		kind:     fd.Kind(),
		wire:     wireType(fd.Kind()),
		mask:     mask(fd.Kind()),
		list:     fd.IsList(),
		packed:   fd.IsPacked(),
		implicit: fd.Cardinality() != protoreflect.Repeated && !fd.HasPresence(),
	}
	if opts, ok := proto.GetExtension(fd.Options(), optionsv1.E_Field).(*optionsv1.Field); ok {
		f.exact = opts.GetExactNumber()
	}
	if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
		f.oneof = o.Index() + 1
		f.oneofBit = 1 << (o.Index() % 64)
	}
	if fd.Enum() != nil {
		f.enum = newEnum(fd.Enum())
	}
	if fd.Message() != nil {
		f.message = c.plan(fd.Message())
	}
	if fd.IsMap() {
		f.entry = &entry{}
	}
	return f
}

// linkMaps fills the entries of maps, whose types are compiled by now.
func (c compiler) linkMaps() {
	for _, p := range c {
		for _, f := range p.fields {
			if f.entry != nil {
				f.entry.key, f.entry.value = f.message.fields[0], f.message.fields[1]
			}
		}
	}
}

// index makes f found by the tags that its values may come with. A list of
// scalars may come packed and unpacked.
func (p *Plan) index(f *field) {
	const small = 2048
	put := func(t protowire.Type) {
		tag := protowire.EncodeTag(f.number, t)
		if tag >= small {
			if p.byRest == nil {
				p.byRest = map[uint64]*field{}
			}
			p.byRest[tag] = f
			return
		}
		if missing := int(tag) + 1 - len(p.byTag); missing > 0 {
			p.byTag = append(p.byTag, make([]*field, missing)...)
		}
		p.byTag[tag] = f
	}
	put(f.wire)
	if f.list && f.wire != protowire.BytesType && f.wire != protowire.StartGroupType {
		put(protowire.BytesType)
	}
}

// indexNames makes fields found by name. A JSON name goes before the alias or
// the proto name of another field.
func (p *Plan) indexNames(desc protoreflect.MessageDescriptor) {
	for _, f := range p.fields {
		p.byName[string(desc.Fields().ByNumber(f.number).Name())] = f
	}
	for _, f := range p.fields {
		if alias := aliasOf(desc.Fields().ByNumber(f.number)); alias != "" {
			p.byName[alias] = f
		}
	}
	for _, f := range p.fields {
		p.byName[f.name] = f
	}
}

// aliasOf is the other name by which requests may give a field, or empty.
func aliasOf(desc protoreflect.FieldDescriptor) string {
	option, _ := proto.GetExtension(desc.Options(), optionsv1.E_Field).(*optionsv1.Field)
	return option.GetAlias()
}

// bareFields finds the fields that stand for the whole message, and what is
// skipped in it.
func (p *Plan) bareFields(desc protoreflect.MessageDescriptor) {
	if p.form == formBare {
		p.bare = p.fields[0]
		return
	}
	opts, ok := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	if !ok {
		return
	}
	for _, name := range opts.GetIgnored() {
		if p.ignored == nil {
			p.ignored = map[string]int{}
		}
		p.ignored[name] = len(p.fields) + len(p.ignored)
	}
	if fd := desc.Fields().ByName(protoreflect.Name(opts.GetBareArray())); fd != nil {
		p.form = formBare
		p.bare = p.lookup(protowire.EncodeTag(fd.Number(), wireType(fd.Kind())))
	}
	if fd := desc.Fields().ByName(protoreflect.Name(opts.GetFailure())); fd != nil {
		p.failure = p.lookup(protowire.EncodeTag(fd.Number(), wireType(fd.Kind())))
	}
}

// lookup finds the field that a wire tag belongs to, or nil.
func (p *Plan) lookup(tag uint64) *field {
	if tag < uint64(len(p.byTag)) {
		return p.byTag[tag]
	}
	return p.byRest[tag]
}

func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	default:
		return protowire.VarintType
	}
}

// mask returns the bits that count of a scalar: 32-bit kinds ignore the rest.
func mask(k protoreflect.Kind) uint64 {
	switch k {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind, protoreflect.EnumKind:
		return math.MaxUint32
	default:
		return math.MaxUint64
	}
}

// enum holds the names of an enum type.
type enum struct {
	names  map[int32][]byte // JSON text by number
	byName map[string]int32
	folded map[string]int32 // by name in lower case
}

func newEnum(desc protoreflect.EnumDescriptor) *enum {
	e := &enum{names: map[int32][]byte{}, byName: map[string]int32{}, folded: map[string]int32{}}
	for i := range desc.Values().Len() {
		v := desc.Values().Get(i)
		name, number := string(v.Name()), int32(v.Number())
		if _, ok := e.names[number]; !ok {
			e.names[number] = appendString(nil, []byte(name))
		}
		e.byName[name] = number
		if folded := strings.ToLower(name); e.folded[folded] == 0 {
			e.folded[folded] = number
		}
	}
	return e
}
