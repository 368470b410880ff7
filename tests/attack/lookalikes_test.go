package attack

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("names that look like others", lookalikeNames) }

// disguises write a name in a way that people cannot, or hardly, tell from it.
var disguises = map[string]func(string) string{
	"a space behind":     func(s string) string { return s + " " },
	"a no-break space":   func(s string) string { return "\u00a0" + s },
	"a zero-width space": func(s string) string { return s[:2] + "\u200b" + s[2:] },
	"a joiner":           func(s string) string { return s + "\u200d" },
	"a byte order mark":  func(s string) string { return "\ufeff" + s },
	"an override":        func(s string) string { return "\u202d" + s },
	"another form":       func(s string) string { return strings.ReplaceAll(s, "ë", "e\u0308") },
	"capital letters":    strings.ToUpper,
}

// imitation replaces a letter of a Latin name by a Cyrillic one.
func imitation(name string) string { return strings.Replace(name, "o", "\u043e", 1) }

// lookalikeNames shows that a disguised name does not create a second object, and finds the
// existing one in every operation. A name with letters of two scripts is refused.
func lookalikeNames(t *testing.T, w *fixture) {
	number := scenario.Unique("zoë-o")
	person := func(number string) scenario.Object {
		return scenario.Object{"personInformation": scenario.Object{
			"person": scenario.Object{"personNumber": number, "firstName": "Zoë", "lastName": "One", "hireDate": "2021-05-03"},
		}}
	}
	create := func(t *testing.T, path string, body any) (status int, answer string) {
		t.Helper()
		_, made, err := w.admin.Bytes(t.Context(), http.MethodPost, path, body)
		var refused *scenario.Refused
		if errors.As(err, &refused) {
			return refused.Status, refused.Error()
		}
		require.NoError(t, err)
		return http.StatusOK, string(made)
	}
	status, answer := create(t, "/v1/commons/persons", person(number))
	require.Equal(t, http.StatusOK, status, answer)
	assert.Contains(t, answer, number, "a legal name comes back as it was")
	for name, disguise := range disguises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := disguise(number)
			status, answer := create(t, "/v1/commons/persons", person(other))
			assert.Equal(t, http.StatusBadRequest, status, answer)
			assert.Contains(t, answer, "WCO-101247")
			status, answer = create(t, "/v1/commons/persons/multi_read", scenario.Object{"where": scenario.Object{"employees": scenario.Object{"key": "personnumber", "values": []string{other}}}})
			assert.Equal(t, http.StatusOK, status)
			assert.Contains(t, answer, number)
			at := fmt.Sprintf("2026-03-0%dT08:%02d:00", 1+len(name)%9, 10+len(name))
			status, answer = create(t, "/v1/timekeeping/punches/import", scenario.Object{"punches": []any{scenario.Object{"employee": scenario.Object{"qualifier": other}, "punchDtm": at}}})
			assert.Equal(t, http.StatusOK, status, answer)
			assert.Contains(t, answer, number, "the punch belongs to the person")
			status, answer = create(t, "/v1/payroll/earnings_import", scenario.Object{"earnings": []any{scenario.Object{
				"refId": uuid.NewString(), "companyCode": "ACME1", "empNo": other, "code": "REG", "chargeDate": "2024-02-05", "hours": "1", "source": "WFM",
			}}})
			assert.Equal(t, http.StatusOK, status, answer)
			assert.Contains(t, answer, `"success_count":1`)
			status, answer = create(t, "/v1/scheduling/schedule/multi_read", scenario.Object{"where": scenario.Object{"employees": scenario.Object{
				"employeeRefs": scenario.Object{"qualifiers": []string{other}}, "startDate": "2026-03-01", "endDate": "2026-03-02",
			}}})
			assert.Equal(t, http.StatusOK, status, answer)
			_, err := w.admin.Call(t.Context(), http.MethodGet, "/v1/timekeeping/timecard?start_date=2026-03-02&end_date=2026-03-03&person_number="+url.QueryEscape(other), nil, nil)
			assert.NoError(t, err)
		})
	}
	t.Run("an imitation", func(t *testing.T) {
		t.Parallel()
		for path, body := range map[string]any{
			"/v1/commons/persons":            person(imitation(number)),
			"/v1/auth/access_profiles":       scenario.Object{"name": imitation("Director"), "permissions": []string{"commons.person.read"}},
			"/v1/scheduling/shift_templates": scenario.Object{"name": imitation("Noon")},
		} {
			status, answer := create(t, path, body)
			assert.Equal(t, http.StatusBadRequest, status, path)
			assert.Contains(t, answer, "WRL-00427", path)
		}
	})
	t.Run("profiles", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"scheduler", "Scheduler\u200b", "SCHEDULER ", "\u00a0Scheduler"} {
			status, answer := create(t, "/v1/auth/access_profiles", scenario.Object{"name": name, "permissions": []string{"commons.person.read"}})
			assert.Equal(t, http.StatusConflict, status, "%q: %s", name, answer)
		}
	})
}
