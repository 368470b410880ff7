// Package idempotencykey reads the Idempotency-Key of requests, and computes fingerprints of such requests.
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

// maxKey is the longest key, in characters.
const maxKey = 255

// Parse returns the key of a request, or "" if it has none. The field is a quoted string of RFC 9651. Many
// clients omit the quotation marks, so Parse reads a bare text without spaces as the same key.
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

// Fingerprint distinguishes requests that use the same key. It is an HMAC with the key, which is not stored, so
// that a reader of the fingerprint cannot guess the request.
//
// The condition is included only if there is one: keys stay valid across the update to the release that added
// it.
func Fingerprint(key, method, path, query, condition string, body ...[]byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, part := range []string{method, path, query} {
		mac.Write([]byte(part))
		mac.Write([]byte{0})
	}
	if condition != "" {
		mac.Write([]byte("If-Match: " + condition))
		mac.Write([]byte{0})
	}
	for _, part := range body {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
