package certs_test

import (
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var discardLogger = slog.New(slog.DiscardHandler)

func openCA(t *testing.T, dir string, now time.Time) *certs.LocalCA {
	t.Helper()
	ca, err := certs.OpenLocalCA(dir, now)
	require.NoError(t, err)
	return ca
}

func issue(t *testing.T, ca *certs.LocalCA, name string, further ...string) certs.TLSFiles {
	t.Helper()
	files, err := ca.Issue(name, further...)
	require.NoError(t, err)
	return files
}

func load(t *testing.T, files certs.TLSFiles, clk clock.Clock) *certs.Certificates {
	t.Helper()
	loaded, err := certs.Load(files, discardLogger, clk)
	require.NoError(t, err)
	return loaded
}

// handshake connects a client to a server, and returns how it went for each.
func handshake(t *testing.T, server, client *tls.Config, serverName string) (serverErr, clientErr error) {
	t.Helper()
	a, b := net.Pipe()
	client = client.Clone()
	client.ServerName = serverName
	done := make(chan error, 1)
	go func() {
		conn := tls.Server(a, server)
		err := conn.Handshake()
		if err == nil {
			_, err = conn.Write([]byte("x"))
		}
		done <- err
		_ = a.Close()
	}()
	conn := tls.Client(b, client)
	if clientErr = conn.Handshake(); clientErr == nil {
		// With TLS 1.3 a client learns only here that it is not welcome.
		_, clientErr = conn.Read(make([]byte, 1))
	}
	_ = b.Close()
	return <-done, clientErr
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ca := openCA(t, t.TempDir(), now)
	server := load(t, issue(t, ca, "commons", "commons.example", "10.1.2.3"), clock.System{}).ServerConfig()
	client := load(t, issue(t, ca, "edge"), clock.System{}).ClientConfig()
	stranger := load(t, issue(t, openCA(t, t.TempDir(), now), "edge"), clock.System{}).ClientConfig()
	nobody := client.Clone()
	nobody.Certificates = nil
	old := client.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12

	for _, name := range []string{"commons", "localhost", "127.0.0.1", "commons.example", "10.1.2.3"} {
		t.Run(name, func(t *testing.T) {
			serverErr, clientErr := handshake(t, server, client, name)
			require.NoError(t, serverErr, name)
			require.NoError(t, clientErr, name)
		})
	}
	for name, c := range map[string]struct {
		client *tls.Config
		server string
	}{
		"another server name":   {client, "scheduling"},
		"another authority":     {stranger, "commons"},
		"no client certificate": {nobody, "commons"},
		"an old TLS version":    {old, "commons"},
	} {
		t.Run(name, func(t *testing.T) {
			_, clientErr := handshake(t, server, c.client, c.server)
			require.Error(t, clientErr, name)
		})
	}
}

func TestAnybodyMayConnectToHTTPS(t *testing.T) {
	t.Parallel()
	certs := load(t, issue(t, openCA(t, t.TempDir(), time.Now()), "rotaloom"), clock.System{})
	client := certs.ClientConfig()
	client.Certificates = nil
	serverErr, clientErr := handshake(t, certs.HTTPSConfig(), client, "localhost")
	require.NoError(t, serverErr)
	require.NoError(t, clientErr)
}

func TestChangedCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	clk := clock.NewFake(now)
	files := issue(t, openCA(t, dir, now), "commons")
	held := load(t, files, clk)
	serial := func() string { return held.ClientConfig().Certificates[0].Leaf.SerialNumber.String() }
	first := serial()

	// After almost a year the certificate is renewed.
	issue(t, openCA(t, dir, now.Add(360*24*time.Hour)), "commons")
	assert.Equal(t, first, serial(), "the files are not looked at all the time")
	clk.Advance(time.Minute)
	second := serial()
	assert.NotEqual(t, first, second)

	// A broken file does not bring anything down.
	require.NoError(t, os.WriteFile(files.Cert, []byte("broken"), 0o600))
	clk.Advance(time.Minute)
	assert.Equal(t, second, serial())
	require.NoError(t, os.Remove(files.Cert))
	clk.Advance(time.Minute)
	assert.Equal(t, second, serial())
	_, err := certs.Load(files, discardLogger, clk)
	assert.Error(t, err, "but nothing starts with one")
}

func TestLocalCAKeepsValidCertificates(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "pki"), time.Now()
	files := issue(t, openCA(t, dir, now), "commons")
	read := func(path string) string {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(content)
	}
	cert, authority := read(files.Cert), read(files.CA)
	issue(t, openCA(t, dir, now.Add(time.Hour)), "commons")
	assert.Equal(t, cert, read(files.Cert))
	issue(t, openCA(t, dir, now), "commons", "other.example")
	assert.NotEqual(t, cert, read(files.Cert), "a further name needs another one")
	assert.Equal(t, authority, read(files.CA))

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 4, "nothing else is left behind")
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), entry.Name())
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	for _, bad := range []string{"ca", "../x", "a/b", ""} {
		t.Run(bad, func(t *testing.T) {
			_, err := openCA(t, dir, now).Issue(bad)
			assert.Error(t, err, bad)
		})
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "ca-key.pem")))
	_, err = certs.OpenLocalCA(dir, now)
	assert.Error(t, err, "an authority that others trust is not replaced")
}
