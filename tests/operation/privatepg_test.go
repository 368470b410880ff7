package operation

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// privateServer returns the process of the PostgreSQL server of a state folder, or 0.
func privateServer(stateDir string) (pid int) {
	text, err := os.ReadFile(filepath.Join(stateDir, "postgresql", "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	_, _ = fmt.Sscan(string(text), &pid) // A file that is not yet complete has no number.
	return pid
}

// The private PostgreSQL is killed ten times in a row while requests run. The program stays up,
// responds with 503 and Retry-After in the meantime, and with 200 as soon as the database is back.
func TestThePrivatePostgreSQLIsKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	target := server.Target(t)
	get := func() (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target.BaseURL+"/v1/scheduling/shift_templates", nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+target.Token)
		resp, err := target.Client.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return resp, err
	}
	var unavailable, others atomic.Int64
	ended := make(chan struct{})
	var callers sync.WaitGroup
	for range 2 {
		callers.Go(func() {
			ticker := time.NewTicker(20 * time.Millisecond)
			defer ticker.Stop()
			for {
				select {
				case <-ended:
					return
				case <-ticker.C:
				}
				resp, err := get()
				if !assert.NoError(t, err, "the server stays") {
					return
				}
				switch resp.StatusCode {
				case http.StatusOK:
				case http.StatusServiceUnavailable:
					unavailable.Add(1)
					assert.NotEmpty(t, resp.Header.Get("Retry-After"))
				default:
					others.Add(1)
					t.Logf("status %d", resp.StatusCode)
				}
			}
		})
	}
	for kills := range 10 {
		killed := privateServer(server.StateDir)
		require.NotZero(t, killed)
		require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
		before := unavailable.Load()
		launch.Await(t, time.Minute, "requests get 503", func() bool { return unavailable.Load() > before })
		launch.Await(t, 2*time.Minute, fmt.Sprintf("requests succeed after kill %d", kills+1), func() bool {
			pid := privateServer(server.StateDir)
			resp, err := get()
			return err == nil && resp.StatusCode == http.StatusOK && pid != 0 && pid != killed
		})
	}
	close(ended)
	callers.Wait()
	require.Zero(t, others.Load(), "200 or 503, and nothing else")
}
