// Package transcode converts protobuf wire bytes to JSON, and JSON to wire bytes, without building messages. It
// compiles each message type once into a Plan.
//
// The JSON differs from protojson where the HTTP API requires it:
//   - 64-bit integers are numbers;
//   - google.protobuf.Any is the bare JSON of the packed message;
//   - a message with the option bare_array is the array of that field, and a
//     message with the option failure is the JSON of that field when it is
//     present;
//   - the decoder is lenient: it accepts numbers as text and text as numbers, one value instead of a list,
//     fractions for integers (truncated), enum names in any case, and null for an absent value.
//
// Absent fields are omitted. NaN and the infinities, which JSON cannot express, are written as the texts of
// protojson.
package transcode

import (
	"math"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// maxDepth bounds the nesting of values, in JSON and on the wire, so that no input can exhaust the stack.
const maxDepth = 64

// Plan describes one message type for transcoding. It is immutable after compilation and safe for concurrent
// use.
type Plan struct {
	name    protoreflect.FullName
	form    form
	fields  []*field
	byTag   []*field          // by wire tag; short enough for real messages
	byRest  map[uint64]*field // by wire tag, the tags beyond byTag
	byName  map[string]*field // by JSON name and by proto name
	bare    *field            // the field whose JSON replaces the message's, or nil
	failure *field            // the field whose JSON replaces the message's if it is set, or nil
	empties *field            // the numbers of empty lists that are written as [], or nil
	parts   bool              // whether messages can be written in two parts
	ignored map[string]int    // JSON names of skipped properties, with positions after those of the fields
	weight  int               // memory of an empty message, in bytes
}

// form is the JSON form of a message type.
type form uint8

const (
	formObject  form = iota
	formBare         // the JSON of the field bare
	formAny          // the JSON of the packed message
	formValue        // the JSON of the field that is set
	formForeign      // a well-known type that the contracts do not use
)

// field describes one field.
type field struct {
	name     string
	key      []byte // `,"name":`
	number   protowire.Number
	index    int // position in Plan.fields
	kind     protoreflect.Kind
	wire     protowire.Type // of one element
	mask     uint64         // the significant bits of a varint
	list     bool
	packed   bool
	exact    bool   // whether numbers in any JSON are carried as text
	implicit bool   // whether zero means absent
	asList   bool   // whether an empty message is written as []
	most     int64  // limit for the items of the list, or of each list in the message; 0 without a limit
	oneof    int    // 1 + index of the field's oneof, or 0
	oneofBit uint64 // bit of the oneof; oneofs share bits beyond 64
	enum     *enum
	message  *Plan  // of messages and of map entries
	entry    *entry // of maps
}

// entry contains the two fields of a map entry.
type entry struct{ key, value *field }

var plans sync.Map // protoreflect.MessageDescriptor -> *Plan

// For returns the plan of a message type, and compiles it on first use. The cache has one plan for each message
// type.
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

// compiler contains the plans in compilation, so that recursive types terminate.
type compiler map[protoreflect.MessageDescriptor]*Plan

func (c compiler) plan(desc protoreflect.MessageDescriptor) *Plan {
	if p, ok := c[desc]; ok {
		return p
	}
	p := &Plan{name: desc.FullName(), form: messageForm(desc), byName: map[string]*field{}, weight: messageWeight(desc)}
	c[desc] = p
	if p.form == formForeign || p.form == formAny {
		return p
	}
	caps := itemCaps(desc)
	for i := range desc.Fields().Len() {
		f := c.compileField(desc.Fields().Get(i))
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

func messageForm(desc protoreflect.MessageDescriptor) form {
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

func (c compiler) compileField(fd protoreflect.FieldDescriptor) *field {
	f := &field{
		name:     fd.JSONName(),
		key:      append(jsontext.AppendString([]byte{','}, fd.JSONName()), ':'),
		number:   fd.Number(),
		kind:     fd.Kind(),
		wire:     wireType(fd.Kind()),
		mask:     mask(fd.Kind()),
		list:     fd.IsList(),
		packed:   fd.IsPacked(),
		implicit: fd.Cardinality() != protoreflect.Repeated && !fd.HasPresence(),
	}
	if opts, ok := proto.GetExtension(fd.Options(), optionsv1.E_Field).(*optionsv1.Field); ok {
		f.exact, f.asList = opts.GetExactNumber(), opts.GetEmptyAsList()
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

// linkMaps sets the entry fields of maps, after their types are compiled.
func (c compiler) linkMaps() {
	for _, p := range c {
		for _, f := range p.fields {
			if f.entry != nil {
				f.entry.key, f.entry.value = f.message.fields[0], f.message.fields[1]
			}
		}
	}
}

// index makes f available under the tags of its values. The values of a scalar list may be packed or unpacked.
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

// indexNames makes the fields available by name. A JSON name takes precedence over an alias or proto name of
// another field.
func (p *Plan) indexNames(desc protoreflect.MessageDescriptor) {
	for _, f := range p.fields {
		p.byName[string(desc.Fields().ByNumber(f.number).Name())] = f
	}
	for _, f := range p.fields {
		if alias := fieldAlias(desc.Fields().ByNumber(f.number)); alias != "" {
			p.byName[alias] = f
		}
	}
	for _, f := range p.fields {
		p.byName[f.name] = f
	}
}

// fieldAlias returns the alias of a field in requests, or "".
func fieldAlias(desc protoreflect.FieldDescriptor) string {
	option, _ := proto.GetExtension(desc.Options(), optionsv1.E_Field).(*optionsv1.Field)
	return option.GetAlias()
}

// bareFields sets the fields whose JSON replaces the message's, and the skipped properties.
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
	if fd := desc.Fields().ByName(protoreflect.Name(opts.GetEmptyLists())); fd != nil {
		p.empties = p.lookup(protowire.EncodeTag(fd.Number(), wireType(fd.Kind())))
		delete(p.byName, string(fd.Name()))
		delete(p.byName, fd.JSONName())
	}
	if fd := desc.Fields().ByName(protoreflect.Name(opts.GetFailure())); fd != nil {
		p.failure = p.lookup(protowire.EncodeTag(fd.Number(), wireType(fd.Kind())))
	}
}

// lookup returns the field of a wire tag, or nil.
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

// mask returns the significant bits of a scalar: 32-bit kinds ignore the upper ones.
func mask(k protoreflect.Kind) uint64 {
	switch k {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind, protoreflect.EnumKind:
		return math.MaxUint32
	default:
		return math.MaxUint64
	}
}

// enum contains the names of an enum type.
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
			e.names[number] = jsontext.AppendString(nil, name)
		}
		e.byName[name] = number
		if folded := strings.ToLower(name); e.folded[folded] == 0 {
			e.folded[folded] = number
		}
	}
	return e
}
