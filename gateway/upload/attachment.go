package upload

import (
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/gateway/routing"
)

// SetAttachment sets the content type that the first fields of a response name. It also declares the body an
// attachment, so that a browser stores it and renders nothing of it. path is the path of the request.
func SetAttachment(h http.Header, raw *routing.Raw, fields []byte, path string) error {
	contentType, err := raw.ContentType(fields)
	if err != nil {
		return err
	}
	h.Set("Content-Type", contentType)
	if name := raw.FileName(fields); name != "" {
		h.Set("Content-Disposition", Disposition(name))
		return nil
	}
	kind, _, _ := strings.Cut(contentType, ";")
	_, extension, _ := strings.Cut(kind, "/")
	h.Set("Content-Disposition", `attachment; filename="`+nameFor(path)+"."+extension+`"`)
	return nil
}

// nameFor returns a file name for a path: the segments after the API version, without characters that file
// names should not contain.
func nameFor(path string) string {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	if len(segments) > 1 {
		segments = segments[1:] // The version of the API.
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, strings.Join(segments, "-"))
}
