package attack

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/scenario"
)

func init() { attack("If-Match", ifMatches) }

// ifMatches shows that the response to an If-Match reveals nothing about rows that the caller may
// not see, and that no value of an If-Match changes an object in another version.
func ifMatches(t *testing.T, w *fixture) {
	profile := scenario.Unique("OwnTags")
	w.create(t, "/v1/auth/access_profiles", `{"name": "`+profile+`", "permissions": ["*"], "rowScope": "OWN", "ownRecordActions": ["*"]}`, nil)
	_, user := w.entries(t, profile)
	theirs, _ := w.entries(t, "Employee")

	const unknown = "4000000000"
	t.Run("of hidden rows", func(t *testing.T) {
		for path, hidden := range map[string]int64{
			"/v1/scheduling/schedule/shifts/": theirs.shift, "/v1/scheduling/employee_schedule_patterns/": theirs.pattern,
			"/v1/leave/leave_cases/notes/": theirs.leaveNote, "/v1/commons/persons/": theirs.employee,
		} {
			for _, value := range []string{`"1"`, `"999999999"`, `"1", "2"`, `W/"1"`, "*"} {
				seen := w.sendIfMatch(t, user.Token, http.MethodDelete, path+fmt.Sprint(hidden), value)
				none := w.sendIfMatch(t, user.Token, http.MethodDelete, path+unknown, value)
				assert.GreaterOrEqual(t, none.status, http.StatusBadRequest, "%s", path)
				assert.Equal(t, none.status, seen.status, "%s %s: %s", path, value, seen.body)
				assert.Equal(t, strings.ReplaceAll(string(none.body), unknown, fmt.Sprint(hidden)), string(seen.body), "%s %s", path, value)
			}
		}
	})
	t.Run("of hostile values", func(t *testing.T) {
		shift := fmt.Sprintf("/v1/scheduling/schedule/shifts/%d", theirs.shift)
		for _, value := range []string{
			`"`, `""`, `"-1"`, `"0"`, `"1e0"`, `"١"`, `"1"; "1"`, `1`, `W/1`, `w/"1"`, `"1",*`, `*,"1"`, `**`, `"1""1"`, ",", " ",
			`"9223372036854775808"`, `"18446744073709551617"`, `"1' OR '1'='1"`, `{1}`, `"{1,2,3}"`, "\"1\t\"", "null",
			strings.Repeat(`"7",`, 17), strings.Repeat(`"7",`, 10_000), `"` + strings.Repeat("1", 30_000) + `"`, strings.Repeat(",", 30_000),
		} {
			got := w.sendIfMatch(t, w.admin.Token, http.MethodDelete, shift, value)
			assert.Contains(t, []int{http.StatusBadRequest, http.StatusPreconditionFailed, http.StatusRequestHeaderFieldsTooLarge}, got.status, "%.80q: %s", value, got.body)
		}
		got := w.sendIfMatch(t, w.admin.Token, http.MethodDelete, shift, `"1"`)
		assert.Equal(t, http.StatusNoContent, got.status, "the shift is there, as it was: %s", got.body)
	})
}

// sendIfMatch sends a request without a body, with an If-Match header and with gRPC metadata of the
// same name, which the server must ignore.
func (w *fixture) sendIfMatch(t *testing.T, token, method, path, value string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, w.BaseURL+path, http.NoBody)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("If-Match", value)
	r.Header.Set("Grpc-Metadata-Rotaloom-If-Match", "1")
	r.Header.Set("Rotaloom-If-Match", "1")
	response, err := w.Client.Do(r)
	require.NoError(t, err)
	got, err := readReply(response)
	require.NoError(t, err)
	return got
}
