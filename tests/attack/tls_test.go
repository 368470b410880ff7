package attack

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func init() { attack("old encryption", oldEncryption) }

// oldEncryption shows that the server refuses clients that offer only old versions of TLS, cipher
// suites with CBC, RC4 or 3DES, or suites without forward secrecy.
func oldEncryption(t *testing.T, w *fixture) {
	config := w.Client.Transport.(*http.Transport).TLSClientConfig
	offer := func(version uint16, suites ...uint16) error {
		c := config.Clone()
		c.MinVersion, c.MaxVersion, c.CipherSuites = tls.VersionTLS10, version, suites
		conn, err := tls.Dial("tcp", strings.TrimPrefix(w.BaseURL, "https://"), c)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}
	for _, version := range []uint16{tls.VersionTLS10, tls.VersionTLS11} {
		assert.Error(t, offer(version), tls.VersionName(version))
	}
	good := 0
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		if !slices.Contains(suite.SupportedVersions, tls.VersionTLS12) {
			continue
		}
		err := offer(tls.VersionTLS12, suite.ID)
		if weak := !strings.HasPrefix(suite.Name, "TLS_ECDHE_") || strings.Contains(suite.Name, "_CBC_") || strings.Contains(suite.Name, "RC4"); weak {
			assert.Error(t, err, suite.Name)
		} else if err == nil {
			good++
		}
	}
	assert.Positive(t, good, "TLS 1.2 with good suites is spoken")
}
