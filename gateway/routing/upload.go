package routing

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/transcode"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// maxUpload is the largest file that a contract may accept, in bytes. A call between services carries 8 MiB.
const maxUpload = 7 << 20

// Upload describes the file of a request.
type Upload struct {
	// Max is the size of the largest file in bytes, and Code the error code of a larger one.
	Max  int64
	Code string
	// ContentTypes are the media types of requests whose body is the file itself.
	ContentTypes []string
	// File is the field of the file.
	File protoreflect.FieldDescriptor

	plan              *transcode.Plan
	name, contentType protoreflect.FieldDescriptor
}

// parseUpload returns the Upload of a request type, or nil if its requests are ordinary JSON.
func parseUpload(input protoreflect.MessageDescriptor, body string) (*Upload, error) {
	for i := range input.Fields().Len() {
		field := input.Fields().Get(i)
		options, _ := proto.GetExtension(field.Options(), optionsv1.E_Field).(*optionsv1.Field)
		opts := options.GetUpload()
		if opts == nil {
			continue
		}
		u := &Upload{
			Max: opts.GetMax(), Code: opts.GetCode(), ContentTypes: opts.GetContentTypes(), File: field,
			plan: transcode.For(input), name: input.Fields().ByName("file_name"), contentType: input.Fields().ByName("content_type"),
		}
		switch {
		case body != "*":
			return nil, fmt.Errorf("%s: a message with an upload is the whole body", field.FullName())
		case field.Kind() != protoreflect.BytesKind || field.IsList():
			return nil, fmt.Errorf("%s: an upload needs bytes", field.FullName())
		case u.Max < 1 || u.Max > maxUpload || u.Code == "":
			return nil, fmt.Errorf("%s: an upload needs a code, and a max up to %d", field.FullName(), maxUpload)
		case !isText(u.name) || !isText(u.contentType):
			return nil, fmt.Errorf("%s: an upload needs the text fields file_name and content_type", input.FullName())
		}
		return u, nil
	}
	return nil, nil
}

func isText(field protoreflect.FieldDescriptor) bool {
	return field != nil && field.Kind() == protoreflect.StringKind && !field.IsList()
}

// AppendText appends the wire bytes of a text field of a form. The error is a *fault.Error.
func (u *Upload) AppendText(dst []byte, name, text string) ([]byte, error) {
	for _, own := range []protoreflect.FieldDescriptor{u.File, u.name, u.contentType} {
		if name == own.JSONName() || name == string(own.Name()) {
			return dst, transcode.UnknownProperty(name)
		}
	}
	return u.plan.AppendTextField(dst, name, text)
}

// AppendFile appends the wire bytes of the name and the media type of the file.
func (u *Upload) AppendFile(dst []byte, name, mediaType string) []byte {
	dst = protowire.AppendTag(dst, u.name.Number(), protowire.BytesType)
	dst = protowire.AppendString(dst, name)
	dst = protowire.AppendTag(dst, u.contentType.Number(), protowire.BytesType)
	return protowire.AppendString(dst, mediaType)
}
