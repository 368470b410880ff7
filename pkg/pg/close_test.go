package pg_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

// silentProxy passes connections on to PostgreSQL until it falls silent. From then on it still
// reads, but passes nothing on.
type silentProxy struct {
	silent atomic.Bool
	server string // the socket
}

// startSilentProxy returns a proxy and the folder of its socket.
func startSilentProxy(t *testing.T, server string) (*silentProxy, string) {
	t.Helper()
	dir := t.TempDir()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, filepath.Base(server)))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, listener.Close()) })
	p := &silentProxy{server: server}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.pass(t.Context(), client)
		}
	}()
	return p, dir
}

func (p *silentProxy) pass(ctx context.Context, client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(ctx, "unix", p.server)
	if err != nil {
		client.Close()
		return
	}
	end := context.AfterFunc(ctx, func() { client.Close(); server.Close() })
	defer end()
	go func() { _, _ = io.Copy(muted{client, p}, server) }()
	_, _ = io.Copy(muted{server, p}, client)
}

// muted writes nothing more once the proxy is silent.
type muted struct {
	to io.Writer
	by *silentProxy
}

func (m muted) Write(b []byte) (int, error) {
	if m.by.silent.Load() {
		return len(b), nil
	}
	return m.to.Write(b)
}

// A database that no longer answers does not keep a program from ending.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	u, err := url.Parse(cfg.URL.Reveal())
	require.NoError(t, err)
	query := u.Query()
	proxy, dir := startSilentProxy(t, filepath.Join(query.Get("host"), ".s.PGSQL."+query.Get("port")))
	query.Set("host", dir)
	u.RawQuery = query.Encode()
	cfg.URL = obs.Secret(u.String())
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)

	ctx := tenant.With(t.Context(), 1)
	var one int
	require.NoError(t, pool.QueryRow(ctx, "SELECT 1").Scan(&one))
	proxy.silent.Store(true)
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, pool.QueryRow(soon, "SELECT 1").Scan(&one), context.DeadlineExceeded)

	began := time.Now()
	pool.Close()
	assert.Less(t, time.Since(began), 10*time.Second)
}
