package operation

import (
	"fmt"
	"os"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// An engineer uses the same binary to call a remote server.
func TestContextsLeadToServers(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	who := server.Credentials
	_, errs, code := o.try("propagation", "list")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "rotaloom context add")

	add := []string{
		"context", "add", "plant", "--url", server.BaseURL, "--ca-file", server.CAFile,
		"--client-id", who.ClientID, "--client-secret", who.ClientSecret, "--username", who.Username, "--password",
	}
	_, errs, code = o.try(append(add, "wrong")...)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "log in to "+server.BaseURL)
	require.NotContains(t, errs, who.ClientSecret)
	require.NoFileExists(t, o.contexts, "a context that does not work is not kept")
	require.Contains(t, o.run(append(add, who.Password)...), "plant points to "+server.BaseURL)
	info, err := os.Stat(o.contexts)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	listed := o.run("context", "list")
	require.Regexp(t, `\* +plant +`+server.BaseURL, listed)
	require.NotContains(t, listed, who.Password)
	var found []struct{}
	o.read(&found, "propagation", "list")
	require.Empty(t, found)

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an unknown name":           {[]string{"propagation", "list", "--context", "nowhere"}, "there is no context"},
		"use of an unknown context": {[]string{"context", "use", "nowhere"}, "there is no context"},
		"without encryption":        {[]string{"context", "add", "x", "--url", "http://127.0.0.1", "--client-id", "a", "--client-secret", "b"}, "https://host"},
		"a user without password":   {[]string{"context", "add", "x", "--url", "https://127.0.0.1", "--client-id", "a", "--client-secret", "b", "--username", "c"}, "user name and the password"},
		"a folder without server":   {[]string{"propagation", "list", "--state-dir", t.TempDir()}, "no server runs with the state folder"},
		"an unknown propagation":    {[]string{"propagation", "show", "12345"}, "returned 404"},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs, code := o.try(c.args...)
			assert.Equal(t, 1, code)
			assert.Contains(t, errs, c.want)
		})
	}
	o.run("context", "remove", "plant")
	_, _, code = o.try("propagation", "list")
	require.Equal(t, 1, code)
}

func TestPropagationsAreFollowed(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	api := scenario.API{Target: server.Target(t)}
	crew, err := scenario.NewCrew(t.Context(), api, 30, "2026-01-01")
	require.NoError(t, err)
	shifts := map[string]scenario.Object{"D": scenario.Shift("D", "08:00", "16:30", false)}
	assigned, err := crew.Assign(t.Context(), api, scenario.Pattern("DD-", shifts), "2026-03-02", "", 0)
	require.NoError(t, err)
	id := path.Base(assigned.Propagation)

	place := []string{"--state-dir", server.StateDir}
	followed := o.run(append([]string{"propagation", "follow", id}, place...)...)
	require.Regexp(t, `FINISHED 30/30 employees\n$`, followed)
	require.Regexp(t, `(?m)^`+id+` +FINISHED +PATTERN .* 30/30 `, o.run(append([]string{"propagation", "list"}, place...)...))
	require.Regexp(t, `(?m)^employees +30/30$`, o.run(append([]string{"propagation", "show", id}, place...)...))
	var shown struct {
		ID    int64
		State string
	}
	o.read(&shown, append([]string{"propagation", "show", id}, place...)...)
	require.Equal(t, id, fmt.Sprint(shown.ID))
	require.Equal(t, "FINISHED", shown.State)
	_, errs, code := o.try(append([]string{"propagation", "replay", id}, place...)...)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "no failed propagation")
	_, errs, code = o.try(append([]string{"propagation", "list", "--state", "DONE"}, place...)...)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "returned 400")
}
