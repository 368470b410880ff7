package transcode

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"
)

// appendAny writes only the packed message. An Any without a type is written as an empty object.
func appendAny(dst, wire []byte, at position) ([]byte, error) {
	const urlField, valueField = 1, 2
	var url, value []byte
	for i := 0; i < len(wire); {
		number, t, n := protowire.ConsumeTag(wire[i:])
		if n < 0 {
			return dst, errMalformed
		}
		i += n
		if t != protowire.BytesType || number > valueField {
			if i = skip(wire, i, protowire.EncodeTag(number, t)); i < 0 {
				return dst, errMalformed
			}
			continue
		}
		v := fieldData{wire: t}
		if i = v.read(wire, i); i < 0 {
			return dst, errMalformed
		}
		if number == urlField {
			url = v.bytes
		} else {
			value = v.bytes
		}
	}
	if len(url) == 0 {
		return append(dst, "{}"...), nil
	}
	name := (&anypb.Any{TypeUrl: string(url)}).MessageName()
	desc, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
	if err != nil {
		return dst, fmt.Errorf("transcode: type of Any %q: %w", url, err)
	}
	message, ok := desc.(protoreflect.MessageDescriptor)
	if !ok {
		return dst, fmt.Errorf("transcode: type of Any %q is not a message", url)
	}
	return For(message).appendJSON(dst, value, at.deeper())
}

// appendValue writes a google.protobuf.Value; it is null if no field is set.
func (p *Plan) appendValue(dst, wire []byte, at position) ([]byte, error) {
	if f, v, alone := p.single(wire); alone && f.kind != protoreflect.EnumKind {
		return f.appendData(dst, &v, at)
	}
	found, err := p.collect(wire)
	if err != nil {
		return dst, err
	}
	for i, occurrences := range found {
		if len(occurrences) == 0 {
			continue
		}
		f, v := p.fields[i], occurrences[len(occurrences)-1]
		if f.kind == protoreflect.EnumKind {
			break // null
		}
		if f.kind == protoreflect.MessageKind {
			v.bytes = merge(values(occurrences))
		}
		return f.appendData(dst, &v, at)
	}
	return append(dst, "null"...), nil
}

// single returns the field of a message that has exactly one, which is how encoders write a message that
// consists of a oneof.
func (p *Plan) single(wire []byte) (f *field, v fieldData, alone bool) {
	if len(wire) == 0 {
		return nil, v, false
	}
	f, end := p.next(wire, 0, &v)
	return f, v, f != nil && end == len(wire)
}
