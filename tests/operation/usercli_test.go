package operation

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// An administrator who has lost the password gets another one from the operator.
func TestOperatorsResetPasswords(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	place := func(args ...string) []string { return append(args, "--state-dir", server.StateDir) }
	var users []struct{ Username, AccessProfile string }
	o.read(&users, place("user", "list", "1")...)
	require.Len(t, users, 1)
	require.Equal(t, server.Credentials.Username, users[0].Username)
	require.Regexp(t, `(?m)^1 +`+users[0].Username+` +Administrator +may log in$`, o.run(place("user", "list", "1")...))

	before := server.Target(t)
	var reset struct{ Password string }
	o.read(&reset, place("user", "reset-password", "1", strings.ToUpper(users[0].Username))...)
	require.Error(t, launch.TryLogin(t, server.Client, server.Ready), "the old password is void")
	status := func(token string) int { return callStatus(t, server, token) }
	launch.Await(t, quickly, "the tokens of before end", func() bool { return status(before.Token) == 401 })
	server.Credentials.Password = reset.Password
	require.Equal(t, 200, status(server.Target(t).Token))

	for name, args := range map[string][]string{
		"an unknown name":        {"user", "reset-password", "1", "nobody"},
		"a tenant that is not":   {"user", "list", "77"},
		"a user of no tenant":    {"user", "reset-password", "77", users[0].Username},
		"a folder with no state": {"user", "list", "1", "--state-dir", t.TempDir()},
	} {
		t.Run(name, func(t *testing.T) {
			if args[len(args)-2] != "--state-dir" {
				args = place(args...)
			}
			_, errs, code := o.try(args...)
			assert.Equal(t, 1, code)
			assert.Contains(t, errs, "there is no")
		})
	}
}

// callStatus returns the status of a request with a token.
func callStatus(t *testing.T, server *launch.Server, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.BaseURL+"/v1/auth/clients", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := server.Client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}
