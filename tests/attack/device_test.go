package attack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("stolen time clock", stolenClock) }

// clockOf is a time clock, with an employee of its group.
type clockOf struct {
	id           int64
	token, badge string
}

// addClock creates a time clock with a group, an employee and credentials, and logs it in.
func (w *fixture) addClock(t *testing.T, name string) clockOf {
	t.Helper()
	var device struct {
		ID int64 `json:"id"`
	}
	var issued struct {
		ClientID     string `json:"clientId"`
		ClientSecret string `json:"clientSecret"`
	}
	out := clockOf{badge: "badge-" + name}
	w.create(t, "/v1/udm/device_groups", fmt.Sprintf(`{"name": %q}`, name), nil)
	w.create(t, "/v1/udm/devices", fmt.Sprintf(`{"name": %q, "deviceGroup": {"qualifier": %q}}`, name, name), &device)
	w.create(t, "/v1/commons/persons", fmt.Sprintf(`{"personInformation": {"person": {"personNumber": %q, "firstName": "Ada", "lastName": "Clock", "hireDate": "2021-05-03"},
		"badgeAssignments": [{"badgeNumber": %q, "effectiveDate": "2021-05-03"}]}, "jobAssignment": {"jobAssignmentDetails": {"deviceGroupName": %q}}}`, name, out.badge, name), nil)
	out.id = device.ID
	w.create(t, fmt.Sprintf("/v1/udm/devices/%d/credentials", out.id), "{}", &issued)
	response, err := w.Client.PostForm(w.BaseURL+"/api/authentication/access_token", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {issued.ClientID}, "client_secret": {issued.ClientSecret},
	})
	require.NoError(t, err)
	defer response.Body.Close()
	var token struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(t, json.NewDecoder(response.Body).Decode(&token))
	require.NotEmpty(t, token.AccessToken)
	out.token = token.AccessToken
	return out
}

// punch sends a punch of a badge to a time clock.
func (w *fixture) punch(t *testing.T, token string, id, sequence int64, badge string) reply {
	t.Helper()
	got, err := w.send(t.Context(), token, http.MethodPost, fmt.Sprintf("/v1/udm/devices/%d/punches", id), fmt.Appendf(nil,
		`{"clock": "2026-01-01T08:00:00Z", "punches": [{"sequence": %d, "time": "2026-01-01T07:00:00Z", "badgeNumber": %q}]}`, sequence, badge))
	require.NoError(t, err)
	return got
}

// ofEveryCaller lists the operations that every valid token may call.
var ofEveryCaller = []string{
	"GET /v1/platform/limits", "POST /v1/commons/persons/apply_read", "GET /v1/commons/persons/current_user_info",
	"GET /v1/commons/persons/current_user_delegations", "DELETE /v1/commons/persons/current_user_delegations/{id}",
}

// stolenClock shows that the token of a time clock is worth no more than the clock: it sends no punches for
// employees of another group, and calls no operation of another clock, nor any other operation.
func stolenClock(t *testing.T, w *fixture) {
	mine, other := w.addClock(t, scenario.Unique("mine")), w.addClock(t, scenario.Unique("other"))
	require.Equal(t, http.StatusOK, w.punch(t, mine.token, mine.id, 1, mine.badge).status)

	t.Run("employees of another group", func(t *testing.T) {
		hidden, unknown := w.punch(t, mine.token, mine.id, 2, other.badge), w.punch(t, mine.token, mine.id, 2, "nobody")
		assert.Equal(t, http.StatusBadRequest, hidden.status, "%s", hidden.body)
		assert.Equal(t, strings.ReplaceAll(string(unknown.body), "nobody", other.badge), string(hidden.body), "a badge of another group is unknown")
		list, err := w.send(t.Context(), mine.token, http.MethodGet, fmt.Sprintf("/v1/udm/devices/%d/employees", mine.id), nil)
		require.NoError(t, err)
		assert.Contains(t, string(list.body), mine.badge)
		assert.NotContains(t, string(list.body), other.badge)
	})
	t.Run("another clock", func(t *testing.T) {
		for _, badge := range []string{mine.badge, other.badge} {
			assert.Equal(t, http.StatusForbidden, w.punch(t, mine.token, other.id, 3, badge).status)
		}
		existing, missing := w.punch(t, mine.token, other.id, 3, other.badge), w.punch(t, mine.token, 4_000_000_000, 3, other.badge)
		assert.Equal(t, string(missing.body), string(existing.body), "a clock does not find out which other clocks exist")
	})
	t.Run("other operations", func(t *testing.T) {
		formType, form := contract.Form(nil, "a.pdf", []byte(contract.PDF))
		for _, o := range operations(t) {
			if o.Public {
				continue
			}
			id := "4000000000"
			if strings.Contains(o.Route, " /v1/recruiting/") {
				id = missingGUID // Its objects have GUIDs.
			}
			method, path := fill(o.Route, id)
			// An operation takes an object, an array or a file; the edge refuses others before the permission is checked.
			var statuses []int
			for body, contentType := range map[string]string{"{}": "application/json", "[]": "application/json", string(form): formType} {
				got, err := w.sendAs(t.Context(), mine.token, method, path, contentType, []byte(body))
				require.NoError(t, err)
				assert.NotContains(t, string(got.body), mine.badge, o.Route)
				statuses = append(statuses, got.status)
			}
			if !slices.Contains(ofEveryCaller, o.Route) {
				assert.Contains(t, statuses, http.StatusForbidden, o.Route)
				assert.GreaterOrEqual(t, slices.Min(statuses), http.StatusBadRequest, o.Route)
			}
		}
	})
}
