package attack

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("paths of another tenant", tenantPaths) }

// tenantPaths shows that every log-in fails under a path that names another tenant than the host
// name does, with any credentials.
func tenantPaths(t *testing.T, w *fixture) {
	name := strings.ToLower(scenario.Unique("paths"))
	other := w.tenant(t, name)
	login := func(client *http.Client, values map[string]string, called string) (int, string) {
		form := url.Values{"grant_type": {"password"}}
		for _, field := range []string{"username", "password", "client_id", "client_secret"} {
			form.Set(field, values[field])
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.BaseURL+"/authn/oauth2/"+called+"/access_token", strings.NewReader(form.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := client.Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(body)
	}
	ours := w.Target(t).Values
	for _, c := range []struct {
		what   string
		client *http.Client
		values map[string]string
		called string
		status int
	}{
		{"the default tenant by its name", w.Client, ours, "default", http.StatusOK},
		{"another one by its name", other.Client, other.Values, name, http.StatusOK},
		{"another one by its name in capitals", other.Client, other.Values, strings.ToUpper(name), http.StatusOK},
		{"the default tenant under another's host", other.Client, ours, "default", http.StatusBadRequest},
		{"another's credentials under the default tenant's path", other.Client, other.Values, "default", http.StatusBadRequest},
		{"another one under the default tenant's host", w.Client, other.Values, name, http.StatusBadRequest},
		{"ours by another's name", w.Client, ours, name, http.StatusBadRequest},
		{"nobody's name", w.Client, ours, "nobody", http.StatusBadRequest},
		{"nobody's id", w.Client, ours, "0", http.StatusBadRequest},
	} {
		status, body := login(c.client, c.values, c.called)
		assert.Equal(t, c.status, status, "%s: %s", c.what, body)
		if c.status != http.StatusOK {
			assert.NotContains(t, body, "access_token", c.what)
		}
	}
}
