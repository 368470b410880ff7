package transcode

import (
	"net/url"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// maxFormFields is the largest number of fields of a form, including unknown ones.
const maxFormFields = 100

// AppendForm appends the wire bytes of the flat message that an application/x-www-form-urlencoded body
// represents. Following RFC 6749, a field without a value counts as absent, unknown fields are ignored, and a
// repeated field is refused. The error is a *fault.Error with status 400 and the OAuth error invalid_request.
func (p *Plan) AppendForm(dst, form []byte) ([]byte, error) {
	out, bad := p.appendForm(dst, string(form))
	if bad != nil {
		return dst, bad.fault().WithOAuth("invalid_request")
	}
	return out, nil
}

func (p *Plan) appendForm(dst []byte, form string) ([]byte, *problem) {
	seen := make(map[*field]bool, len(p.fields))
	for n := 0; form != ""; n++ {
		if n == maxFormFields {
			return dst, problemf(fault.CodeValue, "has more than %d fields", maxFormFields)
		}
		var pair string
		pair, form, _ = strings.Cut(form, "&")
		escapedName, escapedValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(escapedName)
		if err != nil {
			return dst, problemf(fault.CodeValue, "has a field name with an invalid percent escape")
		}
		f := p.byName[name]
		if f == nil {
			continue
		}
		value, err := url.QueryUnescape(escapedValue)
		if err != nil {
			return dst, problemf(fault.CodeValue, "has an invalid percent escape").in(f.name)
		}
		if seen[f] {
			return dst, problemf(fault.CodeValue, "occurs more than once").in(f.name)
		}
		seen[f] = true
		var bad *problem
		if dst, bad = f.appendText(dst, value); bad != nil {
			return dst, bad.in(f.name)
		}
	}
	return dst, nil
}

// appendText writes a field from its text. It writes nothing for an empty text.
func (f *field) appendText(dst []byte, text string) ([]byte, *problem) {
	switch {
	case f.list || f.entry != nil || f.kind == protoreflect.MessageKind:
		return dst, problemf(fault.CodeStructure, "cannot be sent in a form")
	case text == "":
		return dst, nil
	}
	if bad := checkText(text); bad != nil {
		return dst, bad
	}
	value := []byte(text)
	switch f.kind {
	case protoreflect.BytesKind:
		var bad *problem
		if value, bad = fromBase64(value); bad != nil {
			return dst, bad
		}
		fallthrough
	case protoreflect.StringKind:
		dst = protowire.AppendTag(dst, f.number, protowire.BytesType)
		return protowire.AppendBytes(dst, value), nil
	}
	bits, bad := f.fromText(value)
	if bad != nil {
		return dst, bad
	}
	dst = protowire.AppendTag(dst, f.number, f.wire)
	return appendBits(dst, f.wire, bits), nil
}

// AppendTextField appends the wire bytes of a field from its text, and refuses a name that the message does not
// have. The error is a *fault.Error.
func (p *Plan) AppendTextField(dst []byte, name, text string) ([]byte, error) {
	f := p.byName[name]
	if f == nil {
		return dst, UnknownProperty(name)
	}
	out, bad := f.appendText(dst, text)
	if bad != nil {
		return dst, bad.in(f.name).fault()
	}
	return out, nil
}

// UnknownProperty returns the error of a property that does not exist.
func UnknownProperty(name string) *fault.Error {
	return problemf(fault.CodeUnknownProperty, "is not a known property").in(shortenBytes([]byte(name))).fault()
}
