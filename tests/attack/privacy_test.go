package attack

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() {
	attack("webhooks by callers who do not see all employees", webhooksOfOneGroup)
	attack("e-mail addresses that are more than that", injectedAddresses)
}

// webhooksOfOneGroup shows that the permission to write webhooks is not enough: a webhook receives
// messages about all employees, and its URL is often a secret.
func webhooksOfOneGroup(t *testing.T, w *fixture) {
	const url = "https://hooks.example.com/confidential"
	var made struct{ ID int64 }
	_, err := w.admin.Call(t.Context(), http.MethodPost, "/v1/platform/webhooks", scenario.Object{"name": scenario.Unique("desk"), "url": url}, &made)
	require.NoError(t, err)
	for _, scope := range []string{"GROUP", "OWN"} {
		profile := scenario.Unique("Hooks")
		_, err := w.admin.Call(t.Context(), http.MethodPost, "/v1/auth/access_profiles", scenario.Object{
			"name": profile, "permissions": []string{"platform.webhook.read", "platform.webhook.write"}, "rowScope": scope,
		}, nil)
		require.NoError(t, err)
		_, api := w.person(t, profile)
		one := fmt.Sprintf("/v1/platform/webhooks/%d", made.ID)
		mine := scenario.Object{"name": scenario.Unique("mine"), "url": "https://mine.example.com/hook"}
		for _, request := range []struct {
			method, path string
			body         scenario.Object
		}{
			{http.MethodGet, "/v1/platform/webhooks", nil},
			{http.MethodGet, one, nil},
			{http.MethodGet, "/v1/platform/webhooks/999999937", nil},
			{http.MethodPost, "/v1/platform/webhooks", mine},
			{http.MethodPut, one, mine},
			{http.MethodPost, one + "/rotate_secret", scenario.Object{}},
			{http.MethodDelete, one, nil},
		} {
			var body []byte
			if request.body != nil {
				body = encode(request.body)
			}
			got, err := w.send(t.Context(), api.Token, request.method, request.path, body)
			require.NoError(t, err)
			assert.Equal(t, http.StatusForbidden, got.status, "%s %s as %s: %s", request.method, request.path, scope, got.body)
			assert.Contains(t, string(got.body), "WRL-60707")
			assert.NotContains(t, string(got.body), "confidential")
		}
	}
	got, err := w.send(t.Context(), w.admin.Token, http.MethodGet, fmt.Sprintf("/v1/platform/webhooks/%d", made.ID), nil)
	require.NoError(t, err)
	assert.Contains(t, string(got.body), url, "nothing was changed")
}

// injectedAddresses stores e-mail addresses that would add headers or recipients, or that
// look like others.
func injectedAddresses(t *testing.T, w *fixture) {
	for name, address := range map[string]string{
		"another header":        "ada@example.com\r\nBcc: eve@example.com",
		"a line feed":           "ada@example.com\nBcc: eve@example.com",
		"two recipients":        "ada@example.com, eve@example.com",
		"a name":                "Ada <ada@example.com>",
		"no domain":             "ada",
		"an empty domain":       "ada@",
		"a literal address":     "ada@[127.0.0.1]",
		"a null":                "ada\x00@example.com",
		"an invisible letter":   "ada\u200b@example.com",
		"a change of direction": "ada\u202e@example.com",
		"a long one":            strings.Repeat("a", 250) + "@example.com",
	} {
		t.Run(name, func(t *testing.T) {
			number := scenario.Unique("mail")
			got, err := w.send(t.Context(), w.admin.Token, http.MethodPost, "/v1/commons/persons", encode(scenario.Object{
				"personInformation": scenario.Object{
					"person":         scenario.Object{"personNumber": number, "firstName": "Ada", "lastName": "Mail", "hireDate": "2021-05-03"},
					"emailAddresses": []scenario.Object{{"contactTypeName": "Work", "address": address}},
				},
			}))
			require.NoError(t, err)
			assert.Equal(t, http.StatusBadRequest, got.status, "%s", got.body)
			assert.Contains(t, string(got.body), "errorCode")
			got, err = w.send(t.Context(), w.admin.Token, http.MethodPost, "/v1/commons/generic_notifications", encode(scenario.Object{
				"name": scenario.Unique("Notice"), "emailRecipients": address,
			}))
			require.NoError(t, err)
			if name != "two recipients" { // this property holds a list
				assert.Equal(t, http.StatusBadRequest, got.status, "%s", got.body)
			}
		})
	}
}
