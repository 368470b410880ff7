// Package compression compresses responses, and decompresses requests.
package compression

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// minSize is the size of the smallest response that is compressed, in bytes. A smaller one fits into one packet.
const minSize = 1400

// Handler compresses the responses of a handler with zstd or gzip (RFC 9110, section 12.5.3): the coding with the
// higher weight, and zstd if both have the same. It compresses text only, at the fastest levels, because the
// edge's processor time is worth more than the last percents. Encoders use 128 KB windows.
func Handler(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(minSize), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.ZstdCompressionLevel(int(zstd.SpeedFastest)),
		gzhttp.ContentTypeFilter(isText), gzhttp.SetContentType(false),
	)
	if err != nil {
		panic(fmt.Sprintf("compression: the options are wrong: %v", err)) // They are constants.
	}
	return wrap(next)
}

// Forbid keeps a response as it is. Secrets must not be compressed next to text that the client chose: the size
// would tell how similar they are (BREACH).
func Forbid(h http.Header) { h.Set(gzhttp.HeaderNoCompression, "1") }

// isText reports whether a response is of a type that compression makes smaller. The files that clients upload
// are compressed already.
func isText(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	switch kind = strings.ToLower(strings.TrimSpace(kind)); kind {
	case "application/json", "application/x-ndjson", "application/yaml", "image/svg+xml", "text/javascript":
		return true
	}
	return strings.HasPrefix(kind, "text/")
}

// Accepted is the value of Accept-Encoding in the response to a request whose coding is not accepted.
const Accepted = "gzip"

// IsAccepted reports whether bodies with the Content-Encoding can be read: none, identity or gzip.
func IsAccepted(contentEncoding string) bool {
	return !IsEncoded(contentEncoding) || isGzip(contentEncoding)
}

// IsEncoded reports whether a Content-Encoding names a coding.
func IsEncoded(contentEncoding string) bool {
	return contentEncoding != "" && !strings.EqualFold(contentEncoding, "identity")
}

func isGzip(contentEncoding string) bool {
	return strings.EqualFold(contentEncoding, "gzip") || strings.EqualFold(contentEncoding, "x-gzip")
}

// NewReader returns a reader of the content of a body in gzip. It reads nothing before its first Read. It does not
// limit the content, so limit it.
func NewReader(body io.Reader) io.Reader { return &reader{body: body} }

type reader struct {
	body io.Reader
	gzip *gzip.Reader
}

// Read reads content. A body in another form is an error.
func (r *reader) Read(p []byte) (int, error) {
	if r.gzip == nil {
		opened, err := gzip.NewReader(r.body)
		if err != nil {
			if err == io.EOF { //nolint:errorlint // An empty body has no header of gzip.
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("a body in gzip: %w", err)
		}
		r.gzip = opened
	}
	return r.gzip.Read(p)
}

// IsMalformed reports whether an error of a reader says that the body is not gzip, or has a wrong checksum.
func IsMalformed(err error) bool {
	return errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}
