// Package idempotencykey reads the Idempotency-Key of requests, and distinguishes the
// requests that come with one.
package idempotencykey

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Header is the Idempotency-Key of draft-ietf-httpapi-idempotency-key-header.
const Header = "Idempotency-Key"

// maxKey bounds the characters of a key.
const maxKey = 255

// Parse returns the key of a request, or "" when there is none. The
// field is a string of RFC 9651, in quotation marks. Many clients leave these
// out, so a bare text without spaces is the same key.
func Parse(h http.Header) (string, *fault.Error) {
	values := h[Header]
	if len(values) == 0 {
		return "", nil
	}
	key, ok := "", false
	if len(values) == 1 {
		key, ok = keyText(strings.Trim(values[0], " "))
	}
	if !ok || key == "" || len(key) > maxKey {
		return "", fault.Invalid(fault.CodeKey, "The Idempotency-Key must be one text of 1 to 255 printable ASCII characters, for example a random UUID.")
	}
	return key, nil
}

func keyText(value string) (string, bool) {
	inner, quoted := strings.CutPrefix(value, `"`)
	if !quoted {
		return value, headers.Printable(value) && !strings.ContainsAny(value, ` ",;\`)
	}
	inner, quoted = strings.CutSuffix(inner, `"`)
	if !quoted || !headers.Printable(inner) {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c == '"' {
			return "", false
		}
		if c == '\\' {
			i++
			if i == len(inner) || inner[i] != '"' && inner[i] != '\\' {
				return "", false
			}
			c = inner[i]
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// Fingerprint distinguishes requests with one key. It is made with the key, which
// is not kept, so that nobody who reads the fingerprint can find the request by
// trying.
//
// A condition is written only when there is one, so that a key outlives the update to the
// release that began to distinguish requests by it.
func Fingerprint(key, method, path, query, condition string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, part := range []string{method, path, query} {
		mac.Write([]byte(part))
		mac.Write([]byte{0})
	}
	if condition != "" {
		mac.Write([]byte("If-Match: " + condition))
		mac.Write([]byte{0})
	}
	mac.Write(body)
	return mac.Sum(nil)
}
