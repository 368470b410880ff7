package attack

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() { attack("forged tokens", forgedTokens) }

// forgedTokens shows that a token is refused unless it is exactly as it was signed.
func forgedTokens(t *testing.T, w *fixture) {
	_, employee := w.person(t, "Employee")
	parts := strings.Split(employee.Token, ".")
	require.Len(t, parts, 3)
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	raised := base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(claims), `"tenant":1`, `"tenant":2`, 1)))
	plain := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"at+jwt"}`))
	for name, token := range map[string]string{
		"other claims":    parts[0] + "." + raised + "." + parts[2] + "A",
		"no signature":    parts[0] + "." + parts[1] + ".",
		"algorithm none":  plain + "." + parts[1] + ".",
		"another's":       parts[0] + "." + parts[1] + "." + strings.Split(w.admin.Token, ".")[2],
		"no token at all": "x",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := w.send(t.Context(), token, http.MethodGet, "/v1/commons/persons/1", nil)
			require.NoError(t, err)
			assert.Equal(t, http.StatusUnauthorized, got.status, "%s", got.body)
		})
	}
}
