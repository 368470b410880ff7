package auth_test

import (
	"bufio"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

// providerDir is where the OpenID provider of the tests is built. It goes with
// the process.
var providerDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oidc-provider-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	providerDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

var buildProvider = sync.OnceValues(func() (string, error) {
	path := filepath.Join(providerDir, "oidc-provider")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir = "../../tools/oidc-provider"
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	build.Stderr = os.Stderr
	return path, build.Run()
})

// openID is a running OpenID provider.
type openID struct {
	t      testing.TB
	issuer string
	stop   func()
}

func startProvider(t testing.TB, listen string) *openID {
	t.Helper()
	path, err := buildProvider()
	require.NoError(t, err)
	process := exec.Command(path, "-listen", listen)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	stop := sync.OnceFunc(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	t.Cleanup(stop)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return &openID{t: t, issuer: strings.TrimSpace(line), stop: stop}
}

// issueToken logs a user in at the provider.
func (o *openID) issueToken(user, audience string, more ...string) string {
	o.t.Helper()
	form := url.Values{
		"grant_type": {"password"}, "client_id": {"web"}, "username": {user}, "password": {"secret-of-" + user}, "audience": {audience},
	}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	resp, err := http.PostForm(o.issuer+"/token", form)
	require.NoError(o.t, err)
	defer resp.Body.Close()
	var response struct {
		AccessToken string `json:"access_token"`
	}
	require.NoError(o.t, json.NewDecoder(resp.Body).Decode(&response))
	require.Equal(o.t, http.StatusOK, resp.StatusCode)
	return response.AccessToken
}

func (o *openID) rotate() {
	o.t.Helper()
	resp, err := http.Post(o.issuer+"/rotate", "", nil)
	require.NoError(o.t, err)
	require.NoError(o.t, resp.Body.Close())
}

// key is the provider's public key.
func (o *openID) key() (*rsa.PublicKey, string) {
	o.t.Helper()
	resp, err := http.Get(o.issuer + "/keys")
	require.NoError(o.t, err)
	defer resp.Body.Close()
	var set jose.JSONWebKeySet
	require.NoError(o.t, json.NewDecoder(resp.Body).Decode(&set))
	return set.Keys[0].Key.(*rsa.PublicKey), set.Keys[0].KeyID
}

// keysPause is how soon keys are fetched again.
const keysPause = 6 * time.Second
