package transcode

import (
	"encoding/base64"
	"maps"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
)

// scalar reads a number, a boolean or an enum value, either directly or as text, and returns its bits.
func (d *decoder) scalar(f *field) (uint64, *problem) {
	switch c := d.peek(); c {
	case '"':
		text, bad := d.text()
		if bad != nil {
			return 0, bad
		}
		return f.fromText(text)
	case 't', 'f':
		return d.boolean(f)
	case 'n':
		if bad := d.null(); bad != nil {
			return 0, bad
		}
		return 0, problemf(fault.CodeValue, "is null")
	case '{', '[':
		return 0, unexpectedKind(c)
	}
	number, bad := d.number()
	if bad != nil {
		return 0, bad
	}
	if f.kind == protoreflect.BoolKind {
		return 0, problemf(fault.CodeValue, "is a number, but true or false is expected")
	}
	return f.fromNumber(number)
}

func unexpectedKind(c byte) *problem {
	if c == '{' {
		return problemf(fault.CodeStructure, "is an object, but a single value is expected")
	}
	return problemf(fault.CodeStructure, "is a list, but a single value is expected")
}

func (d *decoder) boolean(f *field) (uint64, *problem) {
	word, bits := "false", uint64(0)
	if d.peek() == 't' {
		word, bits = "true", 1
	}
	if bad := d.literal(word); bad != nil {
		return 0, bad
	}
	if f.kind != protoreflect.BoolKind {
		return 0, problemf(fault.CodeValue, "is %s, but %s is expected", word, f.expectedValue())
	}
	return bits, nil
}

// textual reads a text for a field of text or bytes. It accepts a number and returns its digits. The
// result is valid until the next text is read.
func (d *decoder) textual(f *field) ([]byte, *problem) {
	switch c := d.peek(); c {
	case '"':
		text, bad := d.text()
		if bad != nil || f.kind == protoreflect.StringKind {
			return text, bad
		}
		return fromBase64(text)
	case 't', 'f', 'n':
		word := map[byte]string{'t': "true", 'f': "false", 'n': "null"}[c]
		if bad := d.literal(word); bad != nil {
			return nil, bad
		}
		return nil, problemf(fault.CodeValue, "is %s, but a text is expected", word)
	case '{', '[':
		return nil, unexpectedKind(c)
	}
	number, bad := d.number()
	if bad == nil && f.kind == protoreflect.BytesKind {
		return nil, problemf(fault.CodeValue, "is a number, but text in base64 is expected")
	}
	return number, bad
}

// fromBase64 decodes both alphabets, with and without padding.
func fromBase64(text []byte) ([]byte, *problem) {
	s := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(string(text), "="))
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, problemf(fault.CodeValue, "is not base64 text")
	}
	return b, nil
}

// fromText returns the bits of the value that a text represents.
func (f *field) fromText(text []byte) (uint64, *problem) {
	switch f.kind {
	case protoreflect.BoolKind:
		switch string(text) {
		case "true":
			return 1, nil
		case "false":
			return 0, nil
		}
	case protoreflect.EnumKind:
		if number, ok := f.enum.byName[string(text)]; ok {
			return uint64(int64(number)), nil
		}
		if number, ok := f.enum.folded[strings.ToLower(string(text))]; ok {
			return uint64(int64(number)), nil
		}
	}
	if f.kind != protoreflect.BoolKind && isNumber(text) {
		return f.fromNumber(text)
	}
	bad := problemf(fault.CodeValue, "is %q, but %s is expected", shortenBytes(text), f.expectedValue())
	if f.enum != nil {
		bad.hint = suggest.Hint(string(text), maps.Keys(f.enum.byName))
	}
	return 0, bad
}

// isNumber reports whether the whole text is a number. Unlike in JSON, leading zeros are allowed.
func isNumber(text []byte) bool {
	d := decoder{in: text}
	if d.peek() == '-' {
		d.pos++
	}
	for d.peek() == '0' && d.pos+1 < len(text) && text[d.pos+1]-'0' <= 9 {
		d.pos++
	}
	if d.peek() == '-' {
		return false
	}
	_, bad := d.number()
	return bad == nil && d.pos == len(text)
}

// fromNumber returns the bits of a number in the field's type. For an integer type it drops the fraction.
func (f *field) fromNumber(number []byte) (uint64, *problem) {
	switch f.kind {
	case protoreflect.DoubleKind:
		if v, err := strconv.ParseFloat(string(number), 64); err == nil {
			return math.Float64bits(v), nil
		}
		return 0, outOfRange(number)
	case protoreflect.FloatKind:
		if v, err := strconv.ParseFloat(string(number), 32); err == nil {
			return uint64(math.Float32bits(float32(v))), nil
		}
		return 0, outOfRange(number)
	}
	negative, magnitude, ok := jsontext.Integer(number)
	if !ok || !f.holds(negative, magnitude) {
		return 0, outOfRange(number)
	}
	bits := magnitude
	if negative {
		bits = -bits
	}
	switch f.kind {
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return protowire.EncodeZigZag(int64(bits)), nil
	}
	return bits, nil
}

func outOfRange(number []byte) *problem {
	return problemf(fault.CodeValue, "is %s, which is out of range", shortenBytes(number))
}

// holds reports whether the value fits the field's integer type.
func (f *field) holds(negative bool, magnitude uint64) bool {
	most, least := uint64(math.MaxInt64), uint64(1)<<63
	switch f.kind {
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind, protoreflect.EnumKind:
		most, least = math.MaxInt32, 1<<31
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		most, least = math.MaxUint32, 0
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		most, least = math.MaxUint64, 0
	}
	if negative {
		return magnitude <= least
	}
	return magnitude <= most
}

// expectedValue describes valid values of the field, for error messages.
func (f *field) expectedValue() string {
	switch f.kind {
	case protoreflect.BoolKind:
		return "true or false"
	case protoreflect.EnumKind:
		return "one of its names"
	default:
		return "a number"
	}
}
