package natsconn_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// waitTimeout bounds the waits of the tests.
const waitTimeout = 20 * time.Second

// greeting is a server as a client sees it that connects: it says which version it is.
// Real servers of other versions are met in tests/versions.
func greeting(t *testing.T, address, version string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprintf(conn, "INFO {\"server_id\":\"X\",\"version\":%q,\"max_payload\":1048576,\"proto\":1,\"headers\":true}\r\n", version)
			lines := bufio.NewScanner(conn)
			for lines.Scan() {
				if strings.HasPrefix(lines.Text(), "PING") {
					fmt.Fprint(conn, "PONG\r\n")
				}
			}
			conn.Close()
		}
	}()
	return "nats://" + listener.Addr().String()
}

// closeConn closes a connection and waits until its last handler has run: the handlers
// write to the log of a test, which may not be written after the test has ended.
func closeConn(conn *nats.Conn) {
	closed := make(chan struct{})
	conn.SetClosedHandler(func(*nats.Conn) { close(closed) })
	conn.Close()
	<-closed
}

func TestServersThatAreTooOldAreRefused(t *testing.T) {
	t.Parallel()
	for version, refused := range map[string]bool{
		"2.9.10": true, "2.9.25": true, "1.4.1": true, "unheard of": true,
		natsconn.MinServerVersion: false, "2.10.0-beta.1": false, "2.11.0": false, "v2.15.2": false, "3.0": false,
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			url := greeting(t, "127.0.0.1:0", version)
			conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret(url)}, "test", pgtest.Log(t))
			if refused {
				require.ErrorContains(t, err, "is version "+version+", and Rotaloom needs "+natsconn.MinServerVersion+" or newer")
				require.NotContains(t, err.Error(), "\n")
				return
			}
			require.NoError(t, err)
			closeConn(conn)
		})
	}
}

// A server that is not there yet may turn out to be too old when it comes.
func TestAServerThatComesLaterIsLookedAtToo(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	require.NoError(t, free.Close())
	conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret("nats://" + address)}, "test", pgtest.Log(t))
	require.NoError(t, err)
	defer closeConn(conn)
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	watched := make(chan error, 1)
	go func() { watched <- natsconn.Watch(ctx, conn) }()
	greeting(t, address, "2.9.10")
	require.ErrorContains(t, <-watched, "is version 2.9.10")
}

func TestWatchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	conn := natstest.New(t).Conn()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, natsconn.Watch(ctx, conn))
}
