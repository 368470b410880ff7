package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
)

// certified is a server whose certificate lies in files.
type certified struct {
	dir   string
	files certs.TLSFiles
	roots *x509.CertPool
	clock *clock.Fake
	https string
	plain string
}

func serveCertified(t *testing.T, cfg Config) *certified {
	t.Helper()
	c := &certified{dir: t.TempDir(), roots: x509.NewCertPool(), clock: clock.NewFake(time.Now())}
	c.issue(t)
	pem, err := os.ReadFile(c.files.CA)
	require.NoError(t, err)
	require.True(t, c.roots.AppendCertsFromPEM(pem))
	certificates, err := certs.Load(c.files, discard(), c.clock)
	require.NoError(t, err)
	edge, err := newTrusting(cfg, all(&recorder{}), discard())
	require.NoError(t, err)
	https, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.https, c.plain = https.Addr().String(), plain.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewServer(edge, certificates.HTTPSConfig(), time.Minute).Run(ctx, https, plain) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	return c
}

func (c *certified) issue(t *testing.T) {
	t.Helper()
	ca, err := certs.OpenLocalCA(c.dir, time.Now())
	require.NoError(t, err)
	c.files, err = ca.Issue("localhost")
	require.NoError(t, err)
}

// client returns a client with connections of its own that follows no redirect.
func (c *certified) client(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.roots, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport: transport, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func get(t *testing.T, client *http.Client, url string, headers ...string) (reply, *tls.ConnectionState) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(io.Discard, resp.Body) // Only then is the connection used again.
	require.NoError(t, err)
	return reply{status: resp.StatusCode, header: resp.Header}, resp.TLS
}

func TestCertificateIsReplacedWithoutARestart(t *testing.T) {
	t.Parallel()
	c := serveCertified(t, Config{})
	old := c.client(t)
	_, first := get(t, old, "https://"+c.https+"/v1/nothing")

	require.NoError(t, os.Remove(c.files.Cert))
	c.issue(t)
	c.clock.Advance(time.Minute)
	re, second := get(t, c.client(t), "https://"+c.https+"/v1/nothing")
	assert.Equal(t, 404, re.status)
	assert.NotEqual(t, first.PeerCertificates[0].SerialNumber, second.PeerCertificates[0].SerialNumber)
	_, again := get(t, old, "https://"+c.https+"/v1/nothing")
	assert.Equal(t, first.PeerCertificates[0].SerialNumber, again.PeerCertificates[0].SerialNumber, "connections stay")
}

func TestPlainHTTPIsNeverRedirected(t *testing.T) {
	t.Parallel()
	c := serveCertified(t, Config{})
	for _, address := range []string{c.https, c.plain} {
		t.Run(address, func(t *testing.T) {
			re, _ := get(t, c.client(t), "http://"+address+"/v1/nothing", "X-Forwarded-Proto", "https")
			assert.Equal(t, 403, re.status)
			assert.Empty(t, re.header.Get("Location"))
		})
	}
}

func TestATrustedProxyMaySpeakPlainHTTP(t *testing.T) {
	t.Parallel()
	c := serveCertified(t, Config{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	client := c.client(t)
	re, _ := get(t, client, "http://"+c.plain+"/v1/nothing", "X-Forwarded-Proto", "https")
	assert.Equal(t, 404, re.status)
	assert.Equal(t, "max-age=31536000", re.header.Get("Strict-Transport-Security"))
	for i, headers := range [][]string{nil, {"X-Forwarded-Proto", "http"}, {"Forwarded", "proto=https"}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			re, _ = get(t, client, "http://"+c.plain+"/v1/nothing", headers...)
			assert.Equal(t, 403, re.status, "%q", headers)
		})
	}
	re, _ = get(t, client, "http://"+c.https+"/v1/nothing", "X-Forwarded-Proto", "https")
	assert.Equal(t, 403, re.status, "the HTTPS port speaks HTTPS to every caller")
}
