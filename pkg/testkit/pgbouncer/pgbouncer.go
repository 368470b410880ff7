// Package pgbouncer starts a real PgBouncer in front of the server of a test.
package pgbouncer

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
)

// sessions is the number of sessions that all connections to a database share. It is small, so that
// a connection rarely gets the same session twice.
const sessions = 6

// startTimeout bounds the wait until the pooler listens.
const startTimeout = 10 * time.Second

// Pooler is a running PgBouncer in transaction mode.
type Pooler struct {
	port     int
	upstream *url.URL
}

// Start starts a PgBouncer in front of the server of the URL, for all its databases, and ends it
// with the test. It accepts every client, with the role of the URL.
func Start(t testing.TB, server obs.Secret) *Pooler {
	t.Helper()
	program, err := find()
	require.NoError(t, err)
	upstream, err := url.Parse(server.Reveal())
	require.NoError(t, err)
	p := &Pooler{port: freePort(t), upstream: upstream}
	dir, err := os.MkdirTemp("", "rotaloom-pgbouncer-*")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	uid, gid := owner(t)
	require.NoError(t, os.Chown(dir, uid, gid))
	file := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, []byte(p.settings(t)), 0o644))

	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	defer log.Close()
	cmd := exec.Command(program, file)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root.
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // It ends at once, and its connections with it.
		_ = cmd.Wait()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("%s:\n%s", program, said)
		}
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", p.address())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, startTimeout, 10*time.Millisecond, "PgBouncer does not listen")
	return p
}

// URL returns the URL of a database through the pooler.
func (p *Pooler) URL(direct obs.Secret) obs.Secret {
	u, err := url.Parse(direct.Reveal())
	if err != nil {
		return "" // Connecting with it reports the invalid URL.
	}
	through := url.URL{Scheme: "postgres", User: url.User(p.role()), Host: p.address(), Path: u.Path}
	return obs.Secret(through.String())
}

// Config returns the configuration of the same database through the pooler.
func (p *Pooler) Config(direct pg.Config) pg.Config {
	through := direct
	through.URL, through.DirectURL = p.URL(direct.URL), direct.URL
	return through
}

func (p *Pooler) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

func (p *Pooler) role() string {
	if name := p.upstream.User.Username(); name != "" {
		return name
	}
	return p.upstream.Query().Get("user")
}

// settings returns the configuration of a pooler whose connections get another session for each
// transaction: the sessions are used in turn.
func (p *Pooler) settings(t testing.TB) string {
	t.Helper()
	host, port := p.upstream.Query().Get("host"), p.upstream.Query().Get("port")
	if host == "" {
		host, port = p.upstream.Hostname(), p.upstream.Port()
	}
	if port == "" {
		port = "5432"
	}
	login := "user=" + p.role()
	if password, ok := p.upstream.User.Password(); ok {
		login += " password=" + password
	}
	return fmt.Sprintf(`[databases]
* = host=%s port=%s %s

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 1000
server_round_robin = 1
`, host, port, login, p.port, sessions)
}

// find returns the path of the program, which Debian installs in a folder that is only on root's
// PATH.
func find() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(debian); err == nil {
		return debian, nil
	}
	return "", fmt.Errorf("there is no pgbouncer on this machine: make pgbouncer installs it")
}

// owner returns the user of the pooler: for root, the user of the server, who may enter the folder
// of its socket.
func owner(t testing.TB) (uid, gid int) {
	t.Helper()
	if os.Geteuid() != 0 {
		return os.Geteuid(), os.Getegid()
	}
	for _, name := range strings.Fields("postgres nobody") {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err = strconv.Atoi(u.Uid)
		require.NoError(t, err)
		gid, err = strconv.Atoi(u.Gid)
		require.NoError(t, err)
		return uid, gid
	}
	t.Fatal("PgBouncer does not run as root, and this machine has neither a user postgres nor a user nobody")
	return 0, 0
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
