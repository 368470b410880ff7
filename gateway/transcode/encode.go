package transcode

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
)

var (
	errMalformed = errors.New("transcode: malformed wire bytes")
	errDepth     = errors.New("transcode: values nest too deeply")
	errFailure   = errors.New("transcode: a failure field among the items of a list")
	// errUnordered reports that one pass cannot write the fields, because of their order. It never
	// leaves the package.
	errUnordered = errors.New("transcode: fields out of order")
)

// expansion is the usual number of JSON bytes for each wire byte.
const expansion = 4

// AppendJSON appends the JSON of a message, given by its wire bytes. It fails if the bytes are malformed, nest
// too deeply, or contain an Any of an unknown type; the appended bytes are then useless.
func (p *Plan) AppendJSON(dst, wire []byte) ([]byte, error) {
	return p.start(slices.Grow(dst, expansion*len(wire)+2), wire, nil)
}

// Failure returns the wire bytes of the failure that replaces the JSON of a message, given by its wire bytes, or nil
// if the message has none.
func (p *Plan) Failure(wire []byte) []byte {
	if p.failure == nil {
		return nil
	}
	return merge(p.appendValues(nil, p.failure, wire))
}

// ExtendFailure returns the wire bytes of a message, with further fields in its failure. The type of the message must
// have failures.
func (p *Plan) ExtendFailure(wire, fields []byte) []byte {
	// Repeated values of a message are one message with the fields of all of them.
	wire = protowire.AppendTag(slices.Clip(wire), p.failure.number, protowire.BytesType)
	return protowire.AppendBytes(wire, fields)
}

func (p *Plan) start(dst, wire []byte, out io.Writer) ([]byte, error) {
	m := takeMemo(len(wire))
	defer m.give()
	return p.appendJSON(dst, wire, position{memo: m, out: out})
}

// position describes the context of a value.
type position struct {
	depth  int
	inItem bool      // whether the value is inside a list item
	memo   *memo     // or nil
	out    io.Writer // receives parts between the items of lists, or nil
}

func (at position) deeper() position {
	at.depth++
	return at
}

func (p *Plan) appendJSON(dst, wire []byte, at position) ([]byte, error) {
	if at.depth > maxDepth {
		return dst, errDepth
	}
	switch p.form {
	case formBare:
		return p.appendBare(dst, wire, at)
	case formAny:
		return appendAny(dst, wire, at)
	case formValue:
		return p.appendValue(dst, wire, at)
	case formForeign:
		return dst, fmt.Errorf("transcode: %s is not supported", p.name)
	}
	if failure := p.Failure(wire); failure != nil {
		return p.failure.message.appendJSON(dst, failure, at.deeper())
	}
	if at.out != nil && !p.isOrdered(wire) {
		at.out = nil // Written parts cannot be corrected.
	}
	start := len(dst)
	dst, err := p.appendOrdered(dst, wire, at)
	if errors.Is(err, errUnordered) {
		return p.appendUnordered(dst[:start], wire, at)
	}
	return dst, err
}

// appendOrdered writes an object in one pass. It relies on the order that all encoders use: fields in the order
// of their numbers, and the items of a list in one run. It returns errUnordered for other orders.
func (p *Plan) appendOrdered(dst, wire []byte, at position) ([]byte, error) {
	var (
		open *field    // the list with an open bracket
		last = -1      // index of the last field
		seen uint64    // oneofs that already have a member
		v    fieldData // the current value
		err  error
	)
	dst = append(dst, '{')
	for i := 0; i < len(wire); {
		var f *field
		if f, i = p.next(wire, i, &v); i < 0 {
			return dst, errMalformed
		}
		switch {
		case f == nil || f == p.empties:
			continue
		case f.index <= last && f != open || seen&f.oneofBit != 0:
			return dst, errUnordered
		case f.empty(&v):
			continue
		case f == open:
			dst = append(dst, ',')
		default:
			last, seen = f.index, seen|f.oneofBit
			if open != nil {
				dst, open = append(dst, ']'), nil
			}
			if f.entry != nil {
				if i, dst, err = f.appendMapRun(dst, v.bytes, wire, i, at); err != nil {
					return dst, err
				}
				continue
			}
			dst = appendKey(dst, f)
			if f.list {
				dst, open = append(dst, '['), f
			}
		}
		if dst, err = f.appendData(dst, &v, at); err != nil {
			return dst, err
		}
	}
	if open != nil {
		dst = append(dst, ']')
	}
	if p.empties != nil {
		if dst, err = p.appendEmpties(dst, wire); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendKey writes the name of a field, with a comma before it unless it is the first of its object.
func appendKey(dst []byte, f *field) []byte {
	if dst[len(dst)-1] == '{' {
		return append(dst, f.key[1:]...)
	}
	return append(dst, f.key...)
}

// appendData writes one value. For a packed list it writes the items without brackets.
func (f *field) appendData(dst []byte, v *fieldData, at position) ([]byte, error) {
	switch f.kind {
	case protoreflect.StringKind:
		return jsontext.AppendString(dst, v.bytes), nil
	case protoreflect.MessageKind:
		if f.list {
			return f.appendItem(dst, v.bytes, at)
		}
		if f.asList && len(v.bytes) == 0 {
			return append(dst, "[]"...), nil
		}
		return f.message.appendJSON(dst, v.bytes, at.deeper())
	case protoreflect.BytesKind:
		return jsontext.AppendBase64(dst, v.bytes), nil
	}
	if v.wire == protowire.BytesType {
		return f.appendPacked(dst, v.bytes)
	}
	return f.appendScalar(dst, v.bits), nil
}

func (f *field) appendPacked(dst, packed []byte) ([]byte, error) {
	item := fieldData{wire: f.wire}
	for i := 0; i < len(packed); {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i = item.read(packed, i); i < 0 {
			return dst, errMalformed
		}
		dst = f.appendScalar(dst, item.bits)
	}
	return dst, nil
}

// appendBare writes the JSON of the single field that replaces the message, or of the failure that replaces it.
// List items may be mixed with other fields.
func (p *Plan) appendBare(dst, wire []byte, at position) ([]byte, error) {
	if failure := p.Failure(wire); failure != nil {
		return p.failure.message.appendJSON(dst, failure, at.deeper())
	}
	if p.bare.entry != nil {
		var few [fewEntries][]byte
		return p.bare.appendMap(dst, p.appendValues(few[:0], p.bare, wire), at)
	}
	dst, err := p.appendItems(append(dst, '['), wire, at)
	return append(dst, ']'), err
}

// isBareList reports whether the JSON of the message is an array (unless it has a failure).
func (p *Plan) isBareList() bool { return p.form == formBare && p.bare.entry == nil }

// appendItems appends the items of the list that replaces the message, after the open bracket. It fails if the
// message has a failure.
func (p *Plan) appendItems(dst, wire []byte, at position) ([]byte, error) {
	var v fieldData
	for i := 0; i < len(wire); {
		var f *field
		if f, i = p.next(wire, i, &v); i < 0 {
			return dst, errMalformed
		}
		if f != nil && f == p.failure {
			return dst, errFailure
		}
		if f != p.bare || f.empty(&v) {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = f.appendData(dst, &v, at); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
