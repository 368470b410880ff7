package routing

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Raw is how a response is written that is no JSON: the items of a field, one after
// another, are its body.
type Raw struct {
	field       protowire.Number
	ContentType string
}

// rawOf returns how answers of a type are written that are no JSON, or nil.
func rawOf(desc protoreflect.MessageDescriptor) (*Raw, error) {
	opts, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	if opts.GetRawField() == "" {
		return nil, nil
	}
	field := desc.Fields().ByName(protoreflect.Name(opts.GetRawField()))
	if field == nil || !field.IsList() || field.Kind() != protoreflect.BytesKind || opts.GetContentType() == "" {
		return nil, fmt.Errorf("%s: raw_field %q needs repeated bytes and a content_type", desc.FullName(), opts.GetRawField())
	}
	return &Raw{field.Number(), opts.GetContentType()}, nil
}

// Write writes what the fields of an answer, or of a part of it, say.
func (r *Raw) Write(w io.Writer, fields []byte) error {
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

// checkParts refuses a contract that gives parts to a method whose answers
// cannot be joined.
func (r *Route) checkParts() (err error) {
	if r.Raw, err = rawOf(r.Policy.Output); err != nil || r.Raw != nil {
		return err
	}
	if r.Policy.Parts && !transcode.For(r.Policy.Output).Joins() {
		return fmt.Errorf("answers of type %s cannot come in parts", r.Policy.Output.FullName())
	}
	return nil
}
