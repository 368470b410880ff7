package operation

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// stopWithin is the time that containers get before they are killed.
const stopWithin = 10 * time.Second

// stop asks the server to end, and requires that it ends in time.
func stop(t *testing.T, server *launch.Server) {
	t.Helper()
	began := time.Now()
	require.NoError(t, server.Process.Process.Signal(syscall.SIGTERM))
	select {
	case <-server.Exited():
		t.Logf("stopped within %s", time.Since(began))
	case <-time.After(stopWithin):
		t.Fatalf("still there after %s", stopWithin)
	}
	require.NoFileExists(t, filepath.Join(server.StateDir, "ready.json"))
}

func TestStopsWhenIdle(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	require.True(t, launch.LoginWorks(t, server.Client, server.Ready), "ready.json appears when the server responds")
	stop(t, server)
	require.Zero(t, server.ExitCode(), server.Output())
}

// An operator who presses Ctrl-C while the demonstration is created gets no warnings about requests
// that this cuts off.
func TestStopsQuietlyWhileTheDemonstrationIsMade(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"Creating the demonstration", "  employment terms\n", "  persons\n"} {
		t.Run(strings.TrimSpace(step), func(t *testing.T) {
			t.Parallel()
			starting := launch.Start(t, launch.Build(t, program), nil, "serve", "--demo", "--listen", "127.0.0.1:0",
				"--admin-address", "", "--state-dir", t.TempDir(), "--log-format", "text", "--log-level", "warn")
			launch.Await(t, 2*time.Minute, step, func() bool { return starting.Wrote(step) })
			require.NoError(t, starting.Process.Signal(syscall.SIGINT))
			select {
			case <-starting.Exited():
			case <-time.After(stopWithin):
				t.Fatalf("still there after %s", stopWithin)
			}
			require.Zero(t, starting.ExitCode())
			require.NotContains(t, starting.Output(), "level=")
		})
	}
}

// Running requests are served, new ones are refused, and the next start resumes an unfinished
// propagation.
func TestStopsWhileThereIsWork(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	api := scenario.API{Target: server.Target(t)}
	crew, assigned := working(t, api, 500)

	var callers sync.WaitGroup
	stopped := make(chan struct{})
	for range 4 {
		callers.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
				}
				_, err := scenario.ReadShifts(t.Context(), api, crew.Persons[:50], day, day)
				if err != nil {
					assert.NoError(t, refusedWhileStopping(err))
					return
				}
			}
		})
	}
	applied, err := crew.Recreate(t.Context(), api, assigned.ID, late, day)
	require.NoError(t, err)
	stop(t, server)
	close(stopped)
	callers.Wait()
	require.Zero(t, server.ExitCode(), server.Output())

	again := launch.StandaloneIn(t, server.StateDir, shortTimeouts)
	api = scenario.API{Target: again.Target(t)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	p, err := scenario.Finish(ctx, api, applied.Propagation)
	require.NoError(t, err)
	require.EqualValues(t, 500, p.EmployeesDone)
	shifts, err := scenario.ReadShifts(t.Context(), api, crew.Persons[:1], day, day)
	require.NoError(t, err)
	require.Len(t, shifts, 1)
	require.Equal(t, day+"T14:00:00", shifts[0].StartDateTime)
}

// refusedWhileStopping returns nil if the server no longer accepted a request, and otherwise the
// error.
func refusedWhileStopping(err error) error {
	text := err.Error()
	for _, fine := range []string{"connection refused", "returned 503", "EOF", "connection reset", "GOAWAY", "server closed", "closed network connection"} {
		if strings.Contains(text, fine) {
			return nil
		}
	}
	return err
}

// A caller that does not send the rest of a request does not delay the stop.
func TestStopsWhileARequestHangs(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	target := server.Target(t)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(server.BaseURL, "https://"), tlsConfig(server))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /v1/scheduling/schedule/multi_read HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", target.Token)
	require.NoError(t, err)
	// A second request over another connection is served, so the server accepted the first one.
	require.True(t, launch.LoginWorks(t, server.Client, server.Ready))
	stop(t, server)
}

func tlsConfig(server *launch.Server) *tls.Config {
	return server.Client.Transport.(*http.Transport).TLSClientConfig.Clone()
}
