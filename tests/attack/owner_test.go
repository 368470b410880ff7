package attack

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("the secret of one's own client", ownSecret) }

// ownSecret shows that whoever gives the client that they are logged in by a new secret
// is not locked out: the response has the new one, their token goes on, and only log-ins
// with the secret of before fail. The fuzz leaves its own client alone because of that.
func ownSecret(t *testing.T, w *fixture) {
	var made, changed struct {
		ClientID string `json:"clientId"`
		Secret   string `json:"clientSecret"`
	}
	_, err := w.admin.Call(t.Context(), http.MethodPost, "/v1/auth/clients", scenario.Object{"clientId": scenario.Unique("own")}, &made)
	require.NoError(t, err)
	ready := w.Ready
	ready.Credentials.ClientID, ready.Credentials.ClientSecret = made.ClientID, made.Secret
	owner := scenario.API{Target: launch.Login(t, w.Client, ready)}

	_, err = owner.Call(t.Context(), http.MethodPost, "/v1/auth/clients/"+made.ClientID+"/rotate_secret", scenario.Object{}, &changed)
	require.NoError(t, err)
	assert.ErrorContains(t, launch.TryLogin(t, w.Client, ready), "invalid_client", "the secret of before")
	got, err := w.send(t.Context(), owner.Token, http.MethodGet, "/v1/auth/clients/"+made.ClientID, nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, got.status, "%s", got.body)
	ready.Credentials.ClientSecret = changed.Secret
	assert.NoError(t, launch.TryLogin(t, w.Client, ready), "the new secret")
}
