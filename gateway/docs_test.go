package gateway

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

func TestDocsAreServedToAnybodyUnlessTurnedOff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path string
		docs               bool
		status             int
		holds              string
	}{
		{"the description", http.MethodGet, "/openapi.json", true, http.StatusOK, `"openapi": "3.1.1"`},
		{"the page", http.MethodGet, "/docs", true, http.StatusOK, "swagger-ui-bundle.js"},
		{"the root", http.MethodGet, "/", true, http.StatusOK, "swagger-ui-bundle.js"},
		{"another method", http.MethodPost, "/docs", true, http.StatusMethodNotAllowed, fault.CodeMethodNotAllowed},
		{"the root without pages", http.MethodGet, "/", false, http.StatusNotFound, fault.CodeNotFound},
		{"turned off", http.MethodGet, "/docs", false, http.StatusNotFound, fault.CodeNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address, client := listenWith(t, Config{Docs: test.docs}, all(&recorder{}), (*Server).Serve)
			r, err := http.NewRequestWithContext(context.Background(), test.method, "https://"+address+test.path, nil)
			require.NoError(t, err)
			response, err := client.Do(r)
			require.NoError(t, err)
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.Equal(t, test.status, response.StatusCode)
			require.Contains(t, string(body), test.holds)
		})
	}
}
