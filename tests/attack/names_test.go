package attack

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func init() { attack("names of the caller's choice", chosenNames) }

// chosenNames shows that a caller cannot make the server's documents show another host name, which
// a cache could keep for other callers.
func chosenNames(t *testing.T, w *fixture) {
	const discovery = "/api/authentication/.well-known/openid-configuration"
	for host, status := range map[string]int{"evil.example": http.StatusBadRequest, "192.0.2.7": http.StatusBadRequest, "": http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.BaseURL+discovery, nil)
		require.NoError(t, err)
		r.Host = host
		r.Header.Set("X-Forwarded-Host", "evil.example")
		response, err := w.Client.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, status, response.StatusCode, "%q", host)
	}
}
