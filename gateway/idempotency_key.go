package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// headerKey is the Idempotency-Key of draft-ietf-httpapi-idempotency-key-header.
const headerKey = "Idempotency-Key"

// maxKey bounds the characters of a key.
const maxKey = 255

// takesKey reports whether a key counts for the route: it does for whatever
// writes and holds no secrets. Elsewhere a key is ignored.
func (r *route) takesKey() bool {
	switch r.policy.Throttle {
	case optionsv1.Throttle_THROTTLE_WRITE, optionsv1.Throttle_THROTTLE_BULK_WRITE:
	default:
		return false
	}
	return !r.policy.Public && !r.policy.OAuthErrors && !r.policy.Confidential && r.method != http.MethodGet
}

// idempotencyKey returns the key of a request, or "" when there is none. The
// field is a string of RFC 9651, in quotation marks. Many clients leave these
// out, so a bare text without spaces is the same key.
func idempotencyKey(h http.Header) (string, *fault.Error) {
	values := h[headerKey]
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
		return value, printable(value) && !strings.ContainsAny(value, ` ",;\`)
	}
	inner, quoted = strings.CutSuffix(inner, `"`)
	if !quoted || !printable(inner) {
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

// fingerprint tells requests with one key apart. It is made with the key, which
// is not kept, so that nobody who reads the fingerprint can find the request by
// trying.
func fingerprint(r *request, key string) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	for _, part := range []string{r.Method, r.path, r.URL.RawQuery} {
		mac.Write([]byte(part))
		mac.Write([]byte{0})
	}
	if r.body != nil {
		mac.Write(r.body.text)
	}
	return mac.Sum(nil)
}
