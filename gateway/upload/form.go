// Package upload reads the bodies of requests that carry a file: multipart/form-data (RFC 7578), or the file alone.
package upload

import (
	"bufio"
	"bytes"
	"errors"
	"mime"
	"net/textproto"
	"strings"
)

const (
	// maxParts is the largest number of parts of a form.
	maxParts = 100
	// maxPartHeader is the largest header of a part, in bytes.
	maxPartHeader = 8 << 10
	// Overhead is the size of a form beside its file, in bytes.
	Overhead = 64 << 10
)

// Part is a part of a form.
type Part struct {
	Name string
	// FileName is the name that the client gave, or "". It is not safe to use; see [FileName].
	FileName    string
	ContentType string // as sent, or ""
	Content     []byte // a part of the body, not a copy
}

// Errors of [Parse].
var (
	// ErrIncomplete means that the form has no end.
	ErrIncomplete = errors.New("the form is incomplete: its last boundary is missing")
	// ErrMalformed means that the body is not a form.
	ErrMalformed = errors.New("the body is not a valid multipart/form-data form")
	// ErrParts means that the form has too many parts.
	ErrParts = errors.New("the form has too many parts")
)

// Boundary returns the boundary in the parameters of a content type, or "" if it has none that is valid.
func Boundary(params map[string]string) string {
	const most = 70 // RFC 2046, section 5.1.1.
	boundary := params["boundary"]
	if len(boundary) > most || strings.HasSuffix(boundary, " ") || strings.ContainsAny(boundary, "\r\n") {
		return ""
	}
	return boundary
}

// Parse returns the parts of a form. Their contents share the memory of the body, so that a file is not copied.
func Parse(body []byte, boundary string) ([]Part, error) {
	delimiter := []byte("\r\n--" + boundary)
	rest, found := bytes.CutPrefix(body, delimiter[2:])
	if !found {
		if _, rest, found = cutDelimiter(body, delimiter); !found {
			return nil, ErrMalformed
		}
	}
	var parts []Part
	for !bytes.HasPrefix(rest, []byte("--")) {
		if len(parts) == maxParts {
			return nil, ErrParts
		}
		padding, after, found := bytes.Cut(rest, []byte("\r\n"))
		if !found {
			return nil, ErrIncomplete
		}
		if len(bytes.Trim(padding, " \t")) > 0 {
			return nil, ErrMalformed
		}
		part, content, err := parseHeader(after)
		if err != nil {
			return nil, err
		}
		if part.Content, rest, found = cutDelimiter(content, delimiter); !found {
			return nil, ErrIncomplete
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// cutDelimiter cuts at the first delimiter that is a whole line. A file may have the same bytes with others behind.
func cutDelimiter(text, delimiter []byte) (before, after []byte, found bool) {
	for from := 0; ; {
		i := bytes.Index(text[from:], delimiter)
		if i < 0 {
			return nil, nil, false
		}
		after := text[from+i+len(delimiter):]
		padding, _, line := bytes.Cut(after[:min(len(after), maxPartHeader)], []byte("\r\n"))
		if bytes.HasPrefix(after, []byte("--")) || line && len(bytes.Trim(padding, " \t")) == 0 {
			return text[:from+i], after, true
		}
		from += i + len(delimiter)
	}
}

// parseHeader reads the header of a part, and returns the bytes behind it.
func parseHeader(text []byte) (part Part, content []byte, err error) {
	end := bytes.Index(text[:min(len(text), maxPartHeader)], []byte("\r\n\r\n"))
	if end < 0 {
		if len(text) < maxPartHeader {
			return part, nil, ErrIncomplete
		}
		return part, nil, ErrMalformed
	}
	end += len("\r\n\r\n")
	header, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(text[:end]))).ReadMIMEHeader()
	if err != nil {
		return part, nil, ErrMalformed
	}
	kind, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil || kind != "form-data" || params["name"] == "" {
		return part, nil, ErrMalformed
	}
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "", "7bit", "8bit", "binary":
	default: // RFC 7578, section 4.7: clients do not use others over HTTP.
		return part, nil, ErrMalformed
	}
	return Part{Name: params["name"], FileName: params["filename"], ContentType: header.Get("Content-Type")}, text[end:], nil
}
