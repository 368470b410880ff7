package attack

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

func init() { attack("administrators", removedAdministrators) }

// removedAdministrators shows that callers who may write persons can neither delete nor lock out an
// administrator, and that the audit log names the administrator who does so with permission.
func removedAdministrators(t *testing.T, w *fixture) {
	boss, super := w.person(t, "Super")
	_, clerk := w.person(t, "Integration")
	victim, employee := w.person(t, "Employee")
	today := time.Now().UTC().Format(time.DateOnly)
	path := fmt.Sprintf("/v1/commons/persons/%d", boss)
	for name, c := range map[string]struct{ method, path, body string }{
		"delete":       {http.MethodDelete, path, ""},
		"multi_delete": {http.MethodPost, "/v1/commons/persons/multi_delete", fmt.Sprintf(`[{"personIdentity":{"personKey":%d}}]`, boss)},
		"terminate":    {http.MethodPut, path, `{"personInformation":{"employmentStatusList":[{"employmentStatusName":"Terminated","effectiveDate":"` + today + `"}]}}`},
		"inactivate":   {http.MethodPut, path, `{"personInformation":{"userAccountStatusList":[{"userAccountStatusName":"Inactive","effectiveDate":"` + today + `"}]}}`},
		"multi_update": {http.MethodPost, "/v1/commons/persons/multi_update", fmt.Sprintf(`[{"personIdentity":{"personKey":%d},"personInformation":{"userAccountStatusList":[{"userAccountStatusName":"Inactive","effectiveDate":"2027-01-01"}]}}]`, boss)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := w.send(t.Context(), clerk.Token, c.method, c.path, []byte(c.body))
			require.NoError(t, err)
			assert.Contains(t, []int{http.StatusForbidden, http.StatusBadRequest}, got.status, "%s", got.body)
			assert.Contains(t, string(got.body), "WFP-90012")
		})
	}
	got, err := w.send(t.Context(), super.Token, http.MethodGet, path, nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, got.status, "the administrator is still in: %s", got.body)

	got, err = w.send(t.Context(), super.Token, http.MethodPut, fmt.Sprintf("/v1/commons/persons/%d", victim),
		[]byte(`{"personInformation":{"userAccountStatusList":[{"userAccountStatusName":"Inactive","effectiveDate":"2021-05-03"}]}}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	launch.Await(t, time.Minute, "the employee is out", func() bool {
		got, err := w.send(t.Context(), employee.Token, http.MethodGet, fmt.Sprintf("/v1/commons/persons/%d", victim), nil)
		return err == nil && got.status == http.StatusUnauthorized
	})
	got, err = w.send(t.Context(), w.admin.Token, http.MethodPost, "/v1/platform/audit_events/multi_read",
		[]byte(`{"where":{"operation":"rotaloom.auth.v1.UserService/LockOutUsers","service":"auth"},"count":100}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	assert.Contains(t, string(got.body), fmt.Sprintf(`"%d"`, victim), "%s", got.body)
	assert.Regexp(t, `"userName":"super`, string(got.body))
}
