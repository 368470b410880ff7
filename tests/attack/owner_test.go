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

// ownSecret shows that callers who give their own client a new secret are not locked out. The
// response has the new secret, their token stays valid, and only log-ins with the old secret fail.
// The fuzz leaves its own client alone for this reason.
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
