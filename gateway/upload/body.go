package upload

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/gateway/transcode"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

const formType = "multipart/form-data"

// Body is a body that carries a file. It is parsed after it was read and before the request takes a slot.
type Body struct {
	*routing.Upload
	boundary    string // of a form; "" if the body is the file itself
	contentType string // of the file, if the body is the file itself
	name        string // likewise

	// Fields are the wire bytes of all fields but the file, and Content is the file, a part of the body.
	Fields, Content []byte
}

// NewBody returns the body of a request to a route with an upload, before it was read.
func NewBody(u *routing.Upload) *Body { return &Body{Upload: u} }

// Limit returns the size of the largest body in bytes.
func (b *Body) Limit() int64 { return b.Max + Overhead }

// CheckType checks the content type of the request.
func (b *Body) CheckType(h http.Header) *fault.Error {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	switch {
	case err == nil && kind == formType && Boundary(params) != "":
		b.boundary = Boundary(params)
		return nil
	case err == nil && slices.Contains(b.ContentTypes, kind):
		b.contentType = kind
		_, params, err = mime.ParseMediaType(h.Get("Content-Disposition"))
		if err == nil {
			b.name = params["filename"]
		}
		return nil
	}
	accepted := append([]string{formType + " with a boundary"}, b.ContentTypes...)
	return fault.New(fault.CodeMediaType, http.StatusUnsupportedMediaType, "The body must be "+strings.Join(accepted, ", or ")+".")
}

// TooLarge returns the error of a file that is too large.
func (b *Body) TooLarge() *fault.Error {
	return fault.TooLarge(b.Code, fmt.Sprintf("The file is larger than %d bytes. Send a smaller one.", b.Max)).WithMembers(b.File.JSONName())
}

// Parse reads the fields and the file of a body.
func (b *Body) Parse(body []byte) *fault.Error {
	file := &Part{FileName: b.name, ContentType: b.contentType, Content: body}
	if b.boundary != "" {
		parts, err := Parse(body, b.boundary)
		if err != nil {
			return formFault(err)
		}
		var bad *fault.Error
		if file, bad = b.readParts(parts); bad != nil {
			return bad
		}
	}
	switch {
	case file == nil || len(file.Content) == 0:
		return fault.Invalid(fault.CodeInput, fmt.Sprintf("The file is missing or empty. Send it as the part %q of the form.", b.File.JSONName())).
			WithMembers(b.File.JSONName())
	case int64(len(file.Content)) > b.Max:
		return b.TooLarge()
	}
	b.Fields = b.AppendFile(b.Fields, FileName(file.FileName), MediaType(file.ContentType))
	b.Content = file.Content
	return nil
}

func formFault(err error) *fault.Error {
	code := fault.CodeValue
	if errors.Is(err, ErrIncomplete) {
		code = fault.CodeBadRequest
	}
	text := err.Error()
	return fault.Invalid(code, strings.ToUpper(text[:1])+text[1:]+". Send it again as RFC 7578 describes.")
}

// readParts reads the text fields of a form, and returns its file, or nil.
func (b *Body) readParts(parts []Part) (file *Part, bad *fault.Error) {
	seen := map[string]bool{}
	for _, part := range parts {
		if seen[part.Name] {
			return nil, fault.Invalid(fault.CodeValue, fmt.Sprintf("The part %.80q occurs more than once. Send it once, and each file by its own request.", part.Name)).
				WithMembers(strings.ToValidUTF8(part.Name, ""))
		}
		seen[part.Name] = true
		if part.Name == b.File.JSONName() {
			file = &part
			continue
		}
		if part.FileName != "" {
			return nil, transcode.UnknownProperty(part.Name)
		}
		var err error
		if b.Fields, err = b.AppendText(b.Fields, part.Name, string(part.Content)); err != nil {
			return nil, fault.FromError(err)
		}
	}
	return file, nil
}

// Decode sets the fields and the file of a request. The file is not copied.
func (b *Body) Decode(m proto.Message) {
	m.ProtoReflect().SetUnknown(b.Fields)
	m.ProtoReflect().Set(b.File, protoreflect.ValueOfBytes(b.Content))
}
