package gateway

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// raw is how an answer is written that is no JSON: the items of a field, one after
// another, are its body.
type raw struct {
	field       protowire.Number
	contentType string
}

// rawOf returns how answers of a type are written that are no JSON, or nil.
func rawOf(desc protoreflect.MessageDescriptor) (*raw, error) {
	opts, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	if opts.GetRawField() == "" {
		return nil, nil
	}
	field := desc.Fields().ByName(protoreflect.Name(opts.GetRawField()))
	if field == nil || !field.IsList() || field.Kind() != protoreflect.BytesKind || opts.GetContentType() == "" {
		return nil, fmt.Errorf("%s: raw_field %q needs repeated bytes and a content_type", desc.FullName(), opts.GetRawField())
	}
	return &raw{field.Number(), opts.GetContentType()}, nil
}

// write writes what the fields of an answer, or of a part of it, say.
func (r *raw) write(w io.Writer, fields []byte) error {
	for len(fields) > 0 {
		number, kind, n := protowire.ConsumeTag(fields)
		if n < 0 {
			return protowire.ParseError(n)
		}
		fields = fields[n:]
		size := protowire.ConsumeFieldValue(number, kind, fields)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if number == r.field && kind == protowire.BytesType {
			piece, _ := protowire.ConsumeBytes(fields)
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		fields = fields[size:]
	}
	return nil
}

// takeRawPart writes a part of an answer that is no JSON. Nothing of it is kept, so
// the whole is not bounded as an answer is.
func (c *serviceCall) takeRawPart(fields []byte) error {
	if c.w.status == 0 {
		c.w.Header().Set("Content-Type", c.r.route.raw.contentType)
	}
	return c.r.route.raw.write(c.w, fields)
}
