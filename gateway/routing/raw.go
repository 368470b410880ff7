package routing

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/lines"
	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/gateway/wire"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Raw writes the response of an operation whose service produces the HTTP body itself: the body is the
// concatenation of the items of one bytes field.
type Raw struct {
	field       protowire.Number
	contentType string
	// others are the alternative content types, and named is the field that selects one of them.
	others []string
	named  protowire.Number
	// file is the field with the name of the file, or nil.
	file protoreflect.FieldDescriptor
}

// active are the media types that browsers run scripts of.
var active = []string{"text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml", "text/javascript", "application/javascript"}

// parseRaw returns the Raw of a response type, or nil if its responses are ordinary JSON.
func parseRaw(desc protoreflect.MessageDescriptor) (*Raw, error) {
	opts, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	if opts.GetRawField() == "" {
		return nil, nil
	}
	field := desc.Fields().ByName(protoreflect.Name(opts.GetRawField()))
	if field == nil || !field.IsList() || field.Kind() != protoreflect.BytesKind || opts.GetContentType() == "" {
		return nil, fmt.Errorf("%s: raw_field %q needs repeated bytes and a content_type", desc.FullName(), opts.GetRawField())
	}
	raw := &Raw{field: field.Number(), contentType: opts.GetContentType(), others: opts.GetOtherContentTypes()}
	for _, contentType := range append([]string{raw.contentType}, raw.others...) {
		if kind, _, _ := strings.Cut(contentType, ";"); slices.Contains(active, strings.TrimSpace(strings.ToLower(kind))) {
			return nil, fmt.Errorf("%s: a browser could run a body of type %s", desc.FullName(), contentType)
		}
	}
	if named := desc.Fields().ByName("file_name"); isText(named) {
		raw.file = named
	}
	if len(raw.others) > 0 {
		named := desc.Fields().ByName("content_type")
		if named == nil || named.IsList() || named.Kind() != protoreflect.StringKind {
			return nil, fmt.Errorf("%s: other_content_types need a text field content_type", desc.FullName())
		}
		raw.named = named.Number()
	}
	return raw, nil
}

// ContentType returns the content type that the fields of a response, or of its first part, select. It must be
// a type of the contract.
func (r *Raw) ContentType(fields []byte) (string, error) {
	contentType := r.contentType
	err := wire.Each(fields, func(number protowire.Number, kind protowire.Type, value []byte) error {
		if number != r.named || kind != protowire.BytesType {
			return nil
		}
		text, _ := protowire.ConsumeString(value)
		if text == "" {
			return nil
		}
		if !slices.Contains(r.others, text) {
			return fmt.Errorf("the contract does not declare the content type %q", text)
		}
		contentType = text
		return nil
	})
	return contentType, err
}

// FileName returns the name of the file in the fields of a response, or of its first part; "" if the service names
// none.
func (r *Raw) FileName(fields []byte) string {
	if r.file == nil {
		return ""
	}
	return string(wire.LastText(fields, r.file))
}

// Write writes the body bytes in the fields of a response or of a part of it.
func (r *Raw) Write(w io.Writer, fields []byte) error {
	return wire.Each(fields, func(number protowire.Number, kind protowire.Type, value []byte) error {
		if number != r.field || kind != protowire.BytesType {
			return nil
		}
		chunk, _ := protowire.ConsumeBytes(value)
		_, err := w.Write(chunk)
		return err
	})
}

// checkOutput rejects a contract that declares parts or lines for a method whose responses do not have that form.
func (r *Route) checkOutput() (err error) {
	if r.Raw, err = parseRaw(r.Policy.Output); err != nil || r.Raw != nil && !r.Policy.Lines {
		return err
	}
	if r.Policy.Lines && (r.Raw != nil || !lines.Has(r.Policy.Output) || r.Policy.Writes()) {
		return fmt.Errorf("responses of type %s cannot be lines: only reads of lists can", r.Policy.Output.FullName())
	}
	if r.Policy.Parts && !transcode.For(r.Policy.Output).Joins() {
		return fmt.Errorf("responses of type %s cannot come in parts", r.Policy.Output.FullName())
	}
	return nil
}
