package attack

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("properties that come twice", duplicateProperties) }

// duplicateProperties shows that a body with two equal properties is refused. A proxy that checks
// bodies may read the first of them while the server would read the second.
func duplicateProperties(t *testing.T, w *fixture) {
	number := scenario.Unique("twice")
	for name, c := range map[string]struct{ path, body string }{
		"at the top":       {"/v1/auth/access_profiles", `{"name": "` + number + `", "permissions": [], "permissions": ["*"]}`},
		"in other letters": {"/v1/auth/access_profiles", `{"name": "` + number + `", "permissions": [], "permis\u0073ions": ["*"]}`},
		"below the top": {"/v1/commons/persons", `{"personInformation": {"person": {"personNumber": "` + number + `", "firstName": "A", "lastName": "B", "hireDate": "2021-05-03"},
			"accessAssignment": {"accessProfileName": "Employee", "accessProfileName": "Super"}}}`},
		"an object twice": {"/v1/commons/persons", `{"personInformation": {"person": {"personNumber": "` + number + `", "firstName": "A", "lastName": "B", "hireDate": "2021-05-03"}},
			"personInformation": {"accessAssignment": {"accessProfileName": "Super"}}}`},
		"in an item of a list": {"/v1/commons/persons/multi_create", `[{"personInformation": {"person": {"personNumber": "a` + number + `", "personNumber": "` + number + `"}}}]`},
	} {
		got, err := w.send(t.Context(), w.admin.Token, http.MethodPost, c.path, []byte(c.body))
		require.NoError(t, err)
		assert.Equal(t, http.StatusBadRequest, got.status, "%s: %s", name, got.body)
		assert.Contains(t, string(got.body), "WFP-90010", name)
	}
	for _, path := range []string{"/v1/auth/access_profiles/" + number, "/v1/commons/persons?person_number=" + number} {
		got, err := w.send(t.Context(), w.admin.Token, http.MethodGet, path, nil)
		require.NoError(t, err)
		assert.NotEqual(t, http.StatusInternalServerError, got.status)
		assert.NotContains(t, string(got.body), `"`+number+`"`, "nothing is written of a refused body")
	}
}
