package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plant is a context that can be kept.
var plant = Context{URL: "https://rota.example.org", ClientID: "planning", ClientSecret: "s3cret", Username: "jane", Password: "horse"}

func TestContextsAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config", "rotaloom", "contexts.yaml")
	contexts := Open(path)
	_, found, err := contexts.Get("")
	require.NoError(t, err)
	require.False(t, found, "there are none yet")

	other := Context{URL: "https://other.example.org:8443", ClientID: "a", ClientSecret: "b"}
	require.NoError(t, contexts.Add("plant", plant))
	require.NoError(t, contexts.Add("other", other))
	got, found, err := contexts.Get("")
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, other, got, "the last one is the current one")
	got, _, err = contexts.Get("plant")
	require.NoError(t, err)
	require.Equal(t, plant, got)

	require.NoError(t, contexts.Use("plant"))
	listed, err := contexts.List()
	require.NoError(t, err)
	require.Equal(t, []Listed{
		{Name: "other", URL: other.URL, ClientID: "a"},
		{Name: "plant", Current: true, URL: plant.URL, Username: "jane", ClientID: "planning"},
	}, listed)

	require.NoError(t, contexts.Remove("plant"))
	_, found, err = contexts.Get("")
	require.NoError(t, err)
	require.False(t, found, "the current one is gone")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(text), plant.ClientSecret)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// A program that died may have left a file that others may read.
func TestSecretsAreTheOwnersAfterACrash(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "contexts.yaml")
	require.NoError(t, os.WriteFile(path+".part", []byte("contexts: {"), 0o600))
	require.NoError(t, os.Chmod(path+".part", 0o644)) //nolint:gosec // The test proves that this mode does not last.
	require.NoError(t, Open(path).Add("plant", plant))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestContextsThatAreRefused(t *testing.T) {
	t.Parallel()
	with := func(change func(c *Context)) Context {
		c := plant
		change(&c)
		return c
	}
	for name, c := range map[string]struct {
		name string
		of   Context
	}{
		"no name":                 {"", plant},
		"a name with a blank":     {"a b", plant},
		"a long name":             {strings.Repeat("a", 101), plant},
		"no encryption":           {"a", with(func(c *Context) { c.URL = "http://rota.example.org" })},
		"no host":                 {"a", with(func(c *Context) { c.URL = "https:///x" })},
		"a path":                  {"a", with(func(c *Context) { c.URL += "/v1" })},
		"secrets in the URL":      {"a", with(func(c *Context) { c.URL = "https://a:b@rota.example.org" })},
		"no client":               {"a", with(func(c *Context) { c.ClientID = "" })},
		"no secret":               {"a", with(func(c *Context) { c.ClientSecret = "" })},
		"a user without password": {"a", with(func(c *Context) { c.Password = "" })},
		"a password of nobody":    {"a", with(func(c *Context) { c.Username = "" })},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "contexts.yaml")
			require.Error(t, Open(path).Add(c.name, c.of))
			assert.NoFileExists(t, path)
		})
	}
}

func TestAFileThatIsNoneIsNotOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "contexts.yaml")
	require.NoError(t, os.WriteFile(path, []byte("- a list"), 0o600))
	require.ErrorContains(t, Open(path).Add("plant", plant), path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "- a list", string(text))
}
