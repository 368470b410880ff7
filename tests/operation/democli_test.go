package operation

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// A remote server gets the demonstration through its API, also when the command is repeated.
func TestDemonstrationIsMadeByTheAPI(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	for range 2 {
		require.Contains(t, o.run("demo", "--state-dir", server.StateDir), "pattern assignments")
	}
	api := scenario.API{Target: server.Target(t)}
	var list []struct{ Name any }
	_, err := api.Call(t.Context(), http.MethodGet, "/v1/scheduling/schedule_pattern_templates", nil, &list)
	require.NoError(t, err)
	require.Len(t, list, 11)
	for resource, count := range map[string]int{"opportunities": 5, "candidates": 40, "applications": 40} {
		t.Run(resource, func(t *testing.T) {
			var list []struct{ ID string }
			_, err := api.Call(t.Context(), http.MethodGet, "/v1/recruiting/"+resource, nil, &list)
			require.NoError(t, err)
			require.Len(t, list, count)
		})
	}

	c := company{server, api}
	for name, check := range map[string]func(*testing.T){
		"persons": c.checkEverybody, "log-ins": c.checkLogins, "time off": c.checkTimeOff, "payroll": c.checkPayroll, "messages": c.checkMessages,
	} {
		t.Run(name, check)
	}

	var made struct{ ClientSecret string }
	o.read(&made, "client", "create", "payroll", "--access-profile", "Administrator", "--no-password", "--state-dir", server.StateDir)
	o.run("context", "add", "payroll", "--url", server.BaseURL, "--ca-file", server.CAFile, "--client-id", "payroll", "--client-secret", made.ClientSecret)
	_, errs, code := o.try("demo", "--context", "payroll")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "--username")
}
