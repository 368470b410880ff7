package operation

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Certificates are renewed without a restart: the edge's own certificate, and the certificates that
// the edge and the services present to each other.
func TestRenewedCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	d := launch.Deployed(t, "ROTALOOM_LOG_LEVEL=warn")
	dir := filepath.Dir(d.CAFile)
	edge, err := url.Parse(d.BaseURL)
	require.NoError(t, err)
	before := readCertificate(t, d.CAFile, edge.Host)

	renewed, err := filepath.Glob(filepath.Join(dir, "*-key.pem"))
	require.NoError(t, err)
	for _, key := range renewed {
		if filepath.Base(key) != "ca-key.pem" {
			require.NoError(t, os.Remove(key))
		}
	}
	_, errs, code := launch.Run(t, launch.Build(t, "services/standalone/cmd/rotaloom"), nil, "certs", dir)
	require.Zero(t, code, errs)

	launch.Await(t, 2*time.Minute, "the edge shows its new certificate", func() bool {
		return !readCertificate(t, d.CAFile, edge.Host).Equal(before)
	})
	// A restarted service makes every caller connect again, with the certificates of both sides.
	d.Services["platform"].Stop(t)
	d.Start("platform")
	api := scenario.API{Target: launch.Login(t, d.Client, d.Ready)}
	launch.Await(t, time.Minute, "the edge reaches the service", func() bool {
		_, err := api.Call(t.Context(), http.MethodGet, "/v1/platform/limits", nil, nil)
		return err == nil
	})
}

// readCertificate returns the certificate that a server presents, and verifies it against the
// authority in a file.
func readCertificate(t *testing.T, caFile, address string) *x509.Certificate {
	t.Helper()
	ca, err := os.ReadFile(caFile)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(ca))
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	defer func() { assert.NoError(t, conn.Close()) }()
	return conn.ConnectionState().PeerCertificates[0]
}
