package operation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

func TestClientsAreKeptByTheAPI(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	place := []string{"--state-dir", server.StateDir}
	run := func(args ...string) string {
		t.Helper()
		return o.run(append(args, place...)...)
	}
	out := run("client", "create", "payroll", "--access-profile", "Administrator", "--no-password")
	require.Regexp(t, `^client_id: payroll\nclient_secret: \S{30,}\n$`, out)
	secret := strings.TrimSpace(out[strings.LastIndex(out, ": ")+2:])
	require.Regexp(t, `(?m)^payroll +enabled +client_credentials +Administrator *$`, run("client", "list"))

	// A client logs in for its own work, in a context without a user.
	add := func(secret string) (errs string, code int) {
		t.Helper()
		_, errs, code = o.try("context", "add", "payroll", "--url", server.BaseURL, "--ca-file", server.CAFile, "--client-id", "payroll", "--client-secret", secret)
		return errs, code
	}
	errs, code := add(secret)
	require.Zero(t, code, errs)
	var clients []struct{ ClientID, ClientSecret string }
	o.read(&clients, "client", "list", "--context", "payroll")
	require.Len(t, clients, 2)
	require.Empty(t, clients[1].ClientSecret)

	rotated := run("client", "rotate-secret", "payroll")
	require.NotContains(t, rotated, secret)
	_, code = add(secret)
	require.Equal(t, 1, code, "the old secret is void")
	require.Contains(t, run("client", "delete", "payroll"), "payroll is deleted")
	_, errs, code = o.try(append([]string{"client", "delete", "payroll"}, place...)...)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "returned 404")
}
